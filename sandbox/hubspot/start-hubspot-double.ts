import { serveDouble, type RunningDouble, type ServeOptions } from '../serve/serve-double.js';
import { Account, type HubSpotOptions } from './account.js';
import { answerCall } from './answer-call.js';
import { statePage, type StateTable } from '../serve/live-page.js';
import { systemValues } from './portal.js';
import type { FaultEffect, NamedFaults } from '../serve/faults.js';
import { overLimit } from './rate-limits.js';

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
