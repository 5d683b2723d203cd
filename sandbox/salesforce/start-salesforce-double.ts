import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import { type Call, notFound, SalesforceRefusal } from './call.js';
import { recordRoutes } from './record-routes.js';
import { queryRoutes } from './soql.js';
import { serveDouble, type RunningDouble, type ServeOptions } from '../serve/serve-double.js';
import { statePage } from '../serve/live-page.js';
import { type SalesforceOptions, SalesforceOrg } from './salesforce-org.js';
import { anything, type RequestRule } from '../serve/request-rules.js';
import type { FaultEffect, NamedFaults } from '../serve/faults.js';

export interface SalesforceDouble extends RunningDouble {
  /** The state behind the API. Tests use it to seed, convert, merge and inspect records, and to end sessions. */
  readonly org: SalesforceOrg;
}

/**
 * Starts a Salesforce org on loopback, held in memory. It is login host and instance at the same time. The README of
 * this folder lists its rules.
 */
export async function startSalesforceDouble(options: SalesforceOptions & ServeOptions = {}): Promise<SalesforceDouble> {
  const org = new SalesforceOrg(options);
  let instanceUrl = options.instanceUrl ?? '';
  const running = await serveDouble(
    {
      answer: (request) => answerRequest(org, request, instanceUrl),
      state: () => stateOf(org),
      page: () => pageOf(org),
      namedFaults: salesforceFaults,
      rules,
      files: org.privateKey === undefined ? {} : { '/_double/private-key.pem': org.privateKey },
    },
    options,
  );
  instanceUrl ||= running.url;
  return { ...running, org };
}

const auth = ['authorization'];
const saving = [...auth, 'sforce-auto-assign', 'sforce-duplicate-rule-header'];
const records = [{ attributes: { type: anything }, '*': anything }] as const;
/** Bodies of records may have any key, because the org itself refuses unknown and read-only fields. */
const rules: readonly RequestRule[] = [
  {
    method: 'POST',
    path: /^\/services\/oauth2\/token$/,
    headers: auth,
    form: ['grant_type', 'assertion', 'client_id', 'client_secret'],
  },
  { method: 'GET', path: /\/query(?:All)?$/, headers: auth, query: ['q'] },
  { method: 'GET', path: /^\/services\/data\//, headers: auth },
  { method: 'POST', path: /\/composite\/sobjects$/, headers: saving, json: { allOrNone: anything, records } },
  { method: 'PATCH', path: /\/composite\/sobjects(\/|$)/, headers: saving, json: { allOrNone: anything, records } },
  { method: 'DELETE', path: /\/composite\/sobjects$/, headers: auth, query: ['ids', 'allOrNone'] },
];

/** Returns the live records by object, without empty fields. */
function stateOf({ org }: SalesforceOrg): Record<string, Record<string, unknown>[]> {
  return Object.fromEntries(
    org.types.map((type) => [
      type.name,
      org
        .all(type)
        .map(({ values }) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))),
    ]),
  );
}

function pageOf(org: SalesforceOrg): string {
  const tables = Object.entries(stateOf(org))
    .filter(([title, rows]) => rows.length > 0 || title === 'Lead')
    .map(([title, rows]) => ({ title, rows }));
  const note = `Client id ${org.clientId}, user ${org.username}, key at /_double/private-key.pem (valid for this run only).`;
  return statePage({ title: 'Salesforce: stand-in', note, barColor: '#0b5cab', tables });
}

/**
 * Salesforce's documented failures, by name. The request has no effect, except with `badGatewayAfter`, which is
 * answered after the effect.
 */
export const salesforceFaults: NamedFaults = {
  sessionExpired: refusal(401, 'INVALID_SESSION_ID', 'Session expired or invalid'),
  dailyLimit: refusal(403, 'REQUEST_LIMIT_EXCEEDED', 'TotalRequests Limit exceeded.'),
  concurrentLimit: refusal(
    403,
    'REQUEST_LIMIT_EXCEEDED',
    'ConcurrentRequests (Concurrent API Requests) Limit exceeded.',
  ),
  apiDisabled: refusal(403, 'API_DISABLED_FOR_ORG', 'API is disabled for this User'),
  unavailable: refusal(503, 'SERVER_UNAVAILABLE', 'Server is unavailable'),
  serverError: refusal(500, 'UNKNOWN_EXCEPTION', 'An unexpected error occurred.'),
  lockedRow: refusal(400, 'UNABLE_TO_LOCK_ROW', 'unable to obtain exclusive access to this record or 1 records'),
  badGateway: { kind: 'answer', answer: { status: 502, text: '<html>502 Bad Gateway</html>' } },
  badGatewayAfter: { kind: 'answerAfter', answer: { status: 502, text: '<html>502 Bad Gateway</html>' } },
  unroutable: { kind: 'answer', answer: { status: 420, text: '<html>420</html>' } },
  retiredVersion: refusal(410, 'UNSUPPORTED_API_VERSION', 'This API version is no longer supported.'),
  maintenance: { kind: 'answer', answer: { status: 503, text: '<html>We are down for maintenance.</html>' } },
};

function refusal(status: number, errorCode: string, message: string): FaultEffect {
  return { kind: 'answer', answer: { status, json: [{ message, errorCode }] } };
}

const ROUTES = [...recordRoutes, ...queryRoutes];
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** The stand-in follows the rules of these versions. From 46.0 on, collections support upserts with `created`. */
const OLDEST_VERSION = 46;
const NEWEST_VERSION = 67;
/** Documented: maximum number of bytes of an address and its headers. */
const MAX_ADDRESS_BYTES = 16_384;

/**
 * Answers as Salesforce does. Issues tokens; for other requests, checks the session, then the limit, then the request.
 */
function answerRequest(org: SalesforceOrg, request: DoubleRequest, instanceUrl: string): DoubleAnswer {
  const requestId = `TID:${String(request.number).padStart(12, '0')}`;
  const answer =
    request.path === '/services/oauth2/token' ? tokenAnswer(org, request, instanceUrl) : apiAnswer(org, request);
  const own = { Date: new Date(org.now()).toUTCString(), 'X-SFDC-Request-Id': requestId };
  return { ...answer, headers: { ...own, ...answer.headers } };
}

function tokenAnswer(org: SalesforceOrg, request: DoubleRequest, instanceUrl: string): DoubleAnswer {
  const form = new URLSearchParams(request.body);
  if (
    request.method !== 'POST' ||
    !(request.headers['content-type'] ?? '').includes('application/x-www-form-urlencoded')
  ) {
    return tokenRefused('invalid_request', 'must use HTTP POST with a form');
  }
  const sent = [...form.keys()].toSorted().join(' ');
  const [clientId, clientSecret] = credentialsOf(form, request.headers.authorization);
  let opened: ReturnType<typeof org.sessions.login>;
  if (form.get('grant_type') === JWT_BEARER) {
    // An assertion needs no secret, so a secret sent with it would be exposed for no reason.
    if (sent !== 'assertion grant_type' || clientSecret !== '') return tokenRefused('invalid_request', `has ${sent}`);
    opened = org.sessions.login(form.get('assertion') ?? '', instanceUrl);
  } else if (form.get('grant_type') === 'client_credentials') {
    if (/assertion|password|username/.test(sent)) return tokenRefused('invalid_request', `has ${sent}`);
    opened = org.sessions.loginAsApp(clientId, clientSecret);
  } else return tokenRefused('unsupported_grant_type', 'grant type not supported');
  if ('error' in opened) return tokenRefused(opened.error, opened.description);
  return {
    status: 200,
    json: {
      access_token: opened.token,
      scope: 'api',
      instance_url: instanceUrl,
      id: `${instanceUrl}/id/00D8d0000000001EAA/0058d0000000001AAA`,
      token_type: 'Bearer',
    },
  };
}

/** Reads the client's credentials from the header `Authorization: Basic`, or else from the form. */
function credentialsOf(form: URLSearchParams, authorization = ''): [clientId: string, clientSecret: string] {
  const basic = /^Basic (.+)$/.exec(authorization)?.[1];
  if (basic === undefined) return [form.get('client_id') ?? '', form.get('client_secret') ?? ''];
  const [id = '', secret = ''] = Buffer.from(basic, 'base64').toString('utf8').split(':').map(decodeURIComponent);
  return [id, secret];
}

function tokenRefused(error: string, description: string): DoubleAnswer {
  return { status: 400, json: { error, error_description: description } };
}

function apiAnswer(org: SalesforceOrg, request: DoubleRequest): DoubleAnswer {
  const token = /^(?:Bearer|OAuth) (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  if (token === undefined || !org.sessions.has(token)) {
    return refused(new SalesforceRefusal('INVALID_SESSION_ID', 'Session expired or invalid', [], 401));
  }
  if (!org.takeRequest()) {
    return refused(new SalesforceRefusal('REQUEST_LIMIT_EXCEEDED', 'TotalRequests Limit exceeded.', [], 403));
  }
  const headers = { 'Sforce-Limit-Info': `api-usage=${org.usedRequests()}/${org.dailyRequests}` };
  try {
    const answer = routed(org, request);
    return { ...answer, headers: { ...headers, ...answer.headers } };
  } catch (error) {
    if (!(error instanceof SalesforceRefusal)) throw error;
    return { ...refused(error), headers };
  }
}

function routed(org: SalesforceOrg, request: DoubleRequest): DoubleAnswer {
  const headerBytes = Object.entries(request.headers).reduce(
    (sum, [name, value]) => sum + name.length + value.length + 4,
    0,
  );
  if (request.path.length + request.query.toString().length + headerBytes > MAX_ADDRESS_BYTES) {
    throw new SalesforceRefusal('URI_TOO_LONG', 'the address and its headers are too long', [], 414);
  }
  const [, version, path] = /^\/services\/data\/(v\d+\.0)(\/.*?)\/?$/.exec(request.path) ?? [];
  const number = Number(version?.slice(1));
  if (version === undefined || number < OLDEST_VERSION || number > NEWEST_VERSION) throw notFound();
  const fitting = ROUTES.filter((route) => route.path.test(path!));
  const route = fitting.find(({ method }) => method === request.method);
  if (route === undefined) {
    if (fitting.length === 0) throw notFound();
    throw new SalesforceRefusal('METHOD_NOT_ALLOWED', `HTTP Method '${request.method}' not allowed.`, [], 405);
  }
  const parts = route.path.exec(path!)!.slice(1).map(decodeURIComponent);
  const call: Call = { org, request, version, parts };
  return org.org.asIntegration(() => route.answer(call));
}

function refused(refusal: SalesforceRefusal): DoubleAnswer {
  return { status: refusal.status, json: refusal.body() };
}
