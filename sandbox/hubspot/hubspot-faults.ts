import type { FaultEffect } from '../serve/faults.js';
import { overLimit } from './rate-limits.js';

const CORRELATION_ID = 'ffffffff-0000-4000-8000-000000000000';

/** HubSpot's documented ways to fail, by name. Each changes nothing; `badGatewayAfter` alone comes after the effect. */
const FAULTS: Readonly<Record<string, FaultEffect>> = {
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

/** One of HubSpot's documented failures; `undefined` for a name that is none of the README's. */
export function hubSpotFault(name: string): FaultEffect | undefined {
  return FAULTS[name];
}

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
