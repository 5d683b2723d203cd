import { serveDouble, type RunningDouble, type ServeOptions } from '../serve/serve-double.js';
import { statePage } from '../serve/live-page.js';
import { answerRequest } from './answer-request.js';
import { SalesforceOrg, type SalesforceOptions } from './salesforce-org.js';
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
  { method: 'GET', path: /\/query$/, headers: auth, query: ['q'] },
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
