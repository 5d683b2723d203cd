import { ApiError, type ApiErrorFacts, type ApiErrorKind } from '../../pigeonhole/api-error.js';
import { PermitRefusal } from '../../work/requests/permit-refusal.js';
import { judgeRequestFailure } from './create-object.js';

const failed = (kind: ApiErrorKind, facts: Partial<ApiErrorFacts> = {}): ApiError =>
  new ApiError(
    { method: 'GET', path: '/v2/pigeonholes' },
    { kind, problem: 'it failed', mayHaveTakenEffect: false, ...facts },
  );
const quota = { limit: 10, remaining: 0, resetInMs: 5000, resetAtMs: 105_000 };

it.each<[string, ApiError | PermitRefusal, object]>([
  [
    'a refused permit',
    new PermitRefusal({ scope: 'key', reason: 'used-up', waitMs: 77 }),
    { kind: 'wait', why: 'quota', waitMs: 77 },
  ],
  ['code 8000 with a reset', failed('quota', { quota }), { kind: 'wait', why: 'quota', waitMs: 5000 }],
  ['code 8000 without a reset', failed('quota'), { kind: 'wait', why: 'quota', waitMs: 60_000 }],
  ['throttling', failed('throttled', { retryAfterMs: 9000 }), { kind: 'wait', why: 'throttled', waitMs: 9000 }],
  ['a network failure', failed('transient'), { kind: 'wait', why: 'unreachable', waitMs: 2000 }],
  ['the end of the process', failed('aborted'), { kind: 'wait', why: 'stopping' }],
  ['a refused key', failed('credential'), { kind: 'stop', why: 'credential' }],
  ['a refused field', failed('invalid'), { kind: 'stop', why: 'refused' }],
  ['a response that violates the contract', failed('protocol'), { kind: 'stop', why: 'refused' }],
])('%s means %j', (_, error, expected) => {
  expect(judgeRequestFailure(error, 100_000)).toMatchObject(expected);
});
