import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import { definitionRoutes } from './definition-routes.js';
import { associationRoutes } from './association-routes.js';
import { batchRoutes } from './batch-routes.js';
import { type Call, HubSpotRefusal, invalidInput, notFound } from './call.js';
import { marketingEventRoutes } from './marketing-event-routes.js';
import { serveDouble, type RunningDouble, type ServeOptions } from '../serve/serve-double.js';
import { Account, type HubSpotOptions, overLimit } from './account.js';
import { statePage, type StateTable } from '../serve/live-page.js';
import { systemValues } from './portal.js';
import type { FaultEffect, NamedFaults } from '../serve/faults.js';

export interface HubSpotDouble extends RunningDouble {
  /**
   * The account behind the API. Tests use it to seed records, merge contacts, use up limits, and inspect the result.
   */
  readonly account: Account;
}

/**
 * Starts a HubSpot on loopback that holds everything in memory: CRM objects, properties, associations, marketing
 * events, with HubSpot's limits and refusals. The README of this folder lists its rules.
 */
export async function startHubSpotDouble(options: HubSpotOptions & ServeOptions = {}): Promise<HubSpotDouble> {
  const account = new Account(options);
  const running = await serveDouble(
    {
      answer: (request) => answerCall(account, request),
      state: () => accountState(account),
      page: () => accountPage(account),
      namedFaults: hubSpotFaults,
    },
    options,
  );
  return { ...running, account };
}

/** Describes the account as rows: for `GET /_double/state`, and for the page. */
function accountState(account: Account): Record<string, Readonly<Record<string, unknown>>[]> {
  const events = account.marketingEvents.all();
  return {
    ...Object.fromEntries(
      account.types.map((type) => [
        type.name,
        account.portal
          .all(type)
          .map((record) => ({ id: record.id, ...Object.fromEntries(record.values), ...systemValues(record) })),
      ]),
    ),
    associations: account.associations.all().map((association) => ({ ...association })),
    marketingEvents: events.map(({ id, externalAccountId, externalEventId, fields }) => ({
      id,
      externalAccountId,
      externalEventId,
      ...fields,
    })),
    lists: [...account.lists.values()].map(({ listId, members }) => ({ listId, members: [...members].join(' ') })),
    participations: events.flatMap((event) =>
      account.marketingEvents.participationsOf(event).map(({ contactId, state, occurredAtMs, activities }) => ({
        event: event.externalEventId,
        contactId,
        email: account.portal.byId(account.contacts, contactId)?.values.get('email'),
        state,
        occurredAt: new Date(occurredAtMs).toISOString(),
        activities: activities.length,
      })),
    ),
  };
}

function accountPage(account: Account): string {
  const tables: StateTable[] = Object.entries(accountState(account))
    .filter(([title, rows]) => rows.length > 0 || title === 'contacts')
    .map(([title, rows]) => ({ title, rows: rows.map(withoutItsOwn) }));
  return statePage({
    title: `HubSpot: portal ${account.portalId}`,
    note: 'a stand-in for an account: the current records, newest first',
    barColor: '#b5431f',
    tables,
  });
}

/** Removes properties that HubSpot sets automatically, and the id, which the row already has. */
function withoutItsOwn(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(row).filter(([name]) => name !== 'hs_object_id' && name !== 'createdate'));
}

const CORRELATION_ID = 'ffffffff-0000-4000-8000-000000000000';

/**
 * HubSpot's documented failures, by name. The request has no effect, except with `badGatewayAfter`, which is answered
 * after the effect.
 */
export const hubSpotFaults: NamedFaults = {
  tenSecondLimit: { kind: 'answer', answer: overLimit('TEN_SECONDLY_ROLLING', CORRELATION_ID) },
  dailyLimit: { kind: 'answer', answer: overLimit('DAILY', CORRELATION_ID) },
  retryAfter: {
    kind: 'answer',
    answer: { ...overLimit('TEN_SECONDLY_ROLLING', CORRELATION_ID), headers: { 'Retry-After': '3' } },
  },
  locked: refusal(423, 'LOCKED', 'High volume of requests; wait at least 2 seconds between them.'),
  migration: refusal(477, 'MIGRATION_IN_PROGRESS', 'The account is being moved.', { 'Retry-After': '30' }),
  serverError: refusal(500, 'INTERNAL_ERROR', 'internal error'),
  badGateway: { kind: 'answer', answer: { status: 502, text: '<html>502 Bad Gateway</html>' } },
  badGatewayAfter: { kind: 'answerAfter', answer: { status: 502, text: '<html>502 Bad Gateway</html>' } },
  unavailable: { kind: 'answer', answer: { status: 503, text: 'service temporarily unavailable' } },
  timeout: { kind: 'answer', answer: { status: 504, text: 'processing timeout' } },
  unauthorized: refusal(401, 'EXPIRED_AUTHENTICATION', 'The OAuth token used to make this call expired.'),
};

function refusal(
  status: number,
  category: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): FaultEffect {
  return {
    kind: 'answer',
    answer: {
      status,
      headers: { 'X-HubSpot-Correlation-Id': CORRELATION_ID, ...headers },
      json: { status: 'error', message, correlationId: CORRELATION_ID, category },
    },
  };
}

const ROUTES = [...batchRoutes, ...associationRoutes, ...marketingEventRoutes, ...definitionRoutes];

/** Answers as HubSpot does. Checks the token, then the limits, then the scopes, then the request. */
function answerCall(account: Account, request: DoubleRequest): DoubleAnswer {
  const correlationId = correlationIdOf(request);
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  const granted = token === undefined ? undefined : account.tokens.get(token);
  if (granted === undefined) return withHeaders(unauthorized(token), correlationId, {});

  const exceeded = account.limits.take(account.now());
  const limits = account.limits.headers(account.now());
  if (exceeded !== undefined) return withHeaders(overLimit(exceeded, correlationId), correlationId, limits);
  try {
    return withHeaders(routed(account, request, granted), correlationId, limits);
  } catch (error) {
    if (!(error instanceof HubSpotRefusal)) throw error;
    return withHeaders({ status: error.status, json: error.body(correlationId) }, correlationId, limits);
  }

  function unauthorized(sent: string | undefined): DoubleAnswer {
    const refusal =
      sent === undefined
        ? new HubSpotRefusal(
            401,
            'INVALID_AUTHENTICATION',
            'Authentication credentials not found. This API supports OAuth 2.0 authentication and you can find more details at https://developers.hubspot.com/docs/methods/auth/oauth-overview',
          )
        : // HubSpot answers an unknown token with an expiry in 1970.
          new HubSpotRefusal(
            401,
            'EXPIRED_AUTHENTICATION',
            `The OAuth token used to make this call expired ${Math.floor(account.now() / 86_400_000)} day(s) ago.`,
            [],
            { 'expire time': ['1970-01-01T00:00:00Z'] },
          );
    return { status: 401, json: refusal.body(correlationId) };
  }
}

function routed(account: Account, request: DoubleRequest, granted: readonly string[]): DoubleAnswer {
  const asked = apiPath(request.path);
  if (asked === undefined) throw notFound('Unable to find a handler for this version');
  const fitting = ROUTES.filter(({ path }) => path.test(asked.path));
  const route = fitting.find(({ method }) => method === request.method);
  if (route === undefined) {
    if (fitting.length === 0) throw notFound();
    throw new HubSpotRefusal(405, 'VALIDATION_ERROR', 'HTTP 405 Method Not Allowed');
  }
  const parameter = [...request.query.keys()].find((name) => route.query?.includes(name) !== true);
  if (parameter !== undefined) throw invalidInput(`Unknown query parameter: ${parameter}`);
  const call: Call = {
    account,
    request,
    parts: route.path.exec(asked.path)!.slice(1).map(decodeURIComponent),
    version: asked.version,
    appId: appIdOf(account, request),
  };
  const scopes = route.scopes(call);
  if (scopes !== undefined && !scopes.some((scope) => granted.includes(scope))) throw missingScopes(scopes);
  return account.portal.asApp(call.appId, () => route.answer(call));
}

/** Returns the app of the request's token. Each token is a separate app. */
function appIdOf({ tokens }: Account, { headers }: DoubleRequest): string {
  const token = (headers.authorization ?? '').replace(/^Bearer /, '');
  return String([...tokens.keys()].indexOf(token) + 1);
}

function missingScopes(scopes: readonly string[]): HubSpotRefusal {
  return new HubSpotRefusal(
    403,
    'MISSING_SCOPES',
    "This app hasn't been granted all required scopes to make this call. Read more about required scopes here: https://developers.hubspot.com/scopes.",
    [{ message: 'One or more of the following scopes are required.', context: { requiredGranularScopes: scopes } }],
  );
}

/** Returns an id that is different for each request and the same in each run. */
function correlationIdOf(request: Pick<DoubleRequest, 'number'>): string {
  return `00000000-0000-4000-8000-${String(request.number).padStart(12, '0')}`;
}

function withHeaders(
  answer: DoubleAnswer,
  correlationId: string,
  limits: Readonly<Record<string, string>>,
): DoubleAnswer {
  return { ...answer, headers: { ...limits, 'X-HubSpot-Correlation-Id': correlationId, ...answer.headers } };
}

/** A path in the form of the v3 API (associations: v4), and the requested version. */
interface ApiPath {
  readonly path: string;
  /** `v3`, or a date version such as `2026-09`. */
  readonly version: string;
}

/** Documented date versions. Any other date is a 404. */
const DATE_VERSIONS = new Set(['2025-09', '2026-03', '2026-09']);

/** Area of a dated path, and its equivalent in the numbered API: `/crm/objects/2026-03/…` is `/crm/v3/objects/…`. */
const AREAS: readonly (readonly [dated: string, numbered: string])[] = [
  ['/crm/objects/', '/crm/v3/objects'],
  ['/crm/properties/', '/crm/v3/properties'],
  ['/crm/associations/', '/crm/v4/associations'],
  ['/crm/lists/', '/crm/v3/lists'],
  ['/crm-object-schemas/', '/crm/v3'],
  ['/marketing/marketing-events/', '/marketing/v3/marketing-events'],
  ['/account-info/', '/account-info/v3'],
];

/** Returns the numbered path of a request; `undefined` for an unknown date version. */
function apiPath(path: string): ApiPath | undefined {
  for (const [dated, numbered] of AREAS) {
    if (!path.startsWith(dated)) continue;
    const [version = '', ...rest] = path.slice(dated.length).split('/');
    if (/^v\d+$/.test(version)) break;
    if (!DATE_VERSIONS.has(version)) return undefined;
    return { path: [numbered, ...rest].join('/'), version };
  }
  return { path: path.replace(/^\/crm-object-schemas\/v3\//, '/crm/v3/'), version: 'v3' };
}
