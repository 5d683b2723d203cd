import type { FaultEffect } from '../serve/faults.js';
import type { DoubleAnswer } from '../serve/double-request.js';

const ANSWERS: Readonly<Record<string, DoubleAnswer>> = {
  unauthorized: { status: 401, json: { message: 'these credentials are not known' } },
  forbidden: { status: 403, json: { message: 'not allowed' } },
  'too-large': { status: 413, json: { message: 'too large' } },
  'too-many': { status: 429, headers: { 'retry-after': '2' }, json: { message: 'too many requests' } },
  'server-error': { status: 500, json: { message: 'unexpected' } },
  'bad-gateway': { status: 502, text: 'bad gateway' },
  unavailable: { status: 503, headers: { 'retry-after': '2' }, text: 'unavailable' },
  timeout: { status: 504, text: 'gateway timeout' },
};

/** The double's faults by name: any of these answers, or the same with `-after` when the statements were stored first. */
export function lrsFault(name: string): FaultEffect | undefined {
  const answer = ANSWERS[name.replace(/-after$/, '')];
  if (answer === undefined) return undefined;
  return { kind: name.endsWith('-after') ? 'answerAfter' : 'answer', answer };
}
