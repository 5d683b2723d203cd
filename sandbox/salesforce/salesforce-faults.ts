import type { FaultEffect } from '../serve/faults.js';

/** Salesforce's documented ways to fail, by name. Each changes nothing; `badGatewayAfter` alone comes after the effect. */
const FAULTS: Readonly<Record<string, FaultEffect>> = {
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
  maintenance: { kind: 'answer', answer: { status: 503, text: '<html>We are down for maintenance.</html>' } },
};

/** One of Salesforce's documented failures; `undefined` for a name that is none of the README's. */
export function salesforceFault(name: string): FaultEffect | undefined {
  return FAULTS[name];
}

function refusal(status: number, errorCode: string, message: string): FaultEffect {
  return { kind: 'answer', answer: { status, json: [{ message, errorCode }] } };
}
