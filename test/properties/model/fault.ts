import { ApiError, type ApiErrorFacts, type Call } from '../../../pigeonhole/api-error.js';

/** Failures of a request. */
export const faults = [
  'transient',
  'throttled',
  'quota',
  'credential',
  'cursor refused',
  'cursor not found',
  'pigeonhole not found',
  'session not found',
  'not found, without a code',
] as const;

export type Fault = (typeof faults)[number];

/** Faults in an answer that looks like any other. */
export const glitches = ['empty', 'short', 'filters ignored'] as const;

export type Glitch = (typeof glitches)[number];

export function isGlitch(text: Fault | Glitch): text is Glitch {
  return (glitches as readonly string[]).includes(text);
}

const facts: Readonly<Record<Fault, Pick<ApiErrorFacts, 'kind' | 'code' | 'status' | 'retryAfterMs'>>> = {
  transient: { kind: 'transient', code: 5000, status: 500 },
  throttled: { kind: 'throttled', status: 503 },
  quota: { kind: 'quota', code: 8000, status: 429, retryAfterMs: 1000 },
  credential: { kind: 'credential', code: 4501, status: 401 },
  'cursor refused': { kind: 'invalidParameter', code: 6000, status: 400 },
  'cursor not found': { kind: 'notFound', code: 4502, status: 404 },
  'pigeonhole not found': { kind: 'pigeonholeNotFound', code: 4504, status: 404 },
  'session not found': { kind: 'sessionNotFound', code: 4509, status: 404 },
  // The answer of a proxy during a deployment. Source: docs/service-contract.md, "Errors".
  'not found, without a code': { kind: 'transient', status: 404 },
};

/** Returns the error that the client creates for such an answer. */
export function errorOf(fault: Fault, call: Call): ApiError {
  return new ApiError(call, {
    problem: `the model injected ${fault}`,
    ...facts[fault],
    mayHaveTakenEffect: false,
  });
}

export function abortedError(call: Call): ApiError {
  return new ApiError(call, { kind: 'aborted', problem: 'the caller stopped it', mayHaveTakenEffect: false });
}

export function repeatedCursorError(call: Call): ApiError {
  const problem = 'the service returned a cursor that leads back to pages which this walk has already read';
  return new ApiError(call, { kind: 'protocol', problem, mayHaveTakenEffect: false });
}
