import type { FaultEffect } from '../serve/faults.js';
import { rateLimitExceeded } from './answer-request.js';

/** Canvas's documented ways to fail, by name. Each changes nothing; `badGatewayAfter` alone comes after the effect. */
const FAULTS: Readonly<Record<string, FaultEffect>> = {
  rateLimit: { kind: 'answer', answer: rateLimitExceeded('ffffffff-0000-4000-8000-000000000000') },
  invalidToken: refusal(401, 'Invalid access token.'),
  serverError: refusal(500, 'An error occurred.'),
  badGateway: { kind: 'answer', answer: { status: 502, text: '<html>502 Bad Gateway</html>' } },
  badGatewayAfter: { kind: 'answerAfter', answer: { status: 502, text: '<html>502 Bad Gateway</html>' } },
  unavailable: { kind: 'answer', answer: { status: 503, text: '<html>Canvas is down for maintenance.</html>' } },
};

/** One of Canvas's failures; `undefined` for a name that is none of the README's. */
export function canvasFault(name: string): FaultEffect | undefined {
  return FAULTS[name];
}

function refusal(status: number, message: string): FaultEffect {
  return { kind: 'answer', answer: { status, json: { errors: [{ message }] } } };
}
