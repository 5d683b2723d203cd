import { ApiError, type ApiErrorFacts, type ApiErrorKind, apiErrorKinds } from '../../pigeonhole/api-error.js';
import { type ImportVerdict, judgeImportFailure } from './judge-import-failure.js';
import { PermitRefusal } from '../../work/requests/permit-refusal.js';

const call = { method: 'POST', path: '/v2/pigeonholes/101/registrants/bulk' } as const;
const clock = { now: Date.parse('2026-11-21T10:00:00Z'), random: 1 };
const before = { failures: 0, workspaceWaits: 0 };

function judge(kind: ApiErrorKind, facts: Partial<ApiErrorFacts> = {}, count = 10): ImportVerdict {
  const error = new ApiError(call, { kind, problem: 'x', mayHaveTakenEffect: false, ...facts });
  return judgeImportFailure(error, { count, indexBase: 0 }, before, clock);
}

describe('an import whose request failed', () => {
  const whose: Record<ApiErrorKind, ImportVerdict['affects']> = {
    quota: 'workspace',
    throttled: 'workspace',
    credential: 'workspace',
    transient: 'rows',
    pigeonholeNotFound: 'import',
    sessionNotFound: 'import',
    notFound: 'import',
    invalid: 'rows',
    invalidParameter: 'import',
    malformed: 'import',
    unsupported: 'import',
    registrantsOff: 'import',
    profilesOff: 'import',
    protocol: 'rows',
    aborted: 'rows',
  };
  it.each(apiErrorKinds)('knows whether %s affects the rows, the import or the workspace', (kind) => {
    expect(judge(kind).affects).toBe(whose[kind]);
  });

  it.each<[ApiErrorKind, Partial<ApiErrorFacts>, string]>([
    ['transient', { mayHaveTakenEffect: true }, 'unknown'],
    ['transient', { mayHaveTakenEffect: false }, 'failed'],
    ['protocol', { mayHaveTakenEffect: true }, 'unknown'],
    ['protocol', { mayHaveTakenEffect: true, fieldErrors: [{ field: 'data[1].Name', message: 'x' }] }, 'refused'],
    ['aborted', { mayHaveTakenEffect: true }, 'unheard'],
    ['aborted', { mayHaveTakenEffect: false }, 'failed'],
    ['invalid', { code: 4500 }, 'refused'],
    ['invalid', { code: null, status: 422 }, 'unknown'],
    ['invalid', { code: null, status: 413 }, 'tooMany'],
  ])('after %s with %j, settles its rows as %s', (kind, facts, answer) => {
    expect(judge(kind, facts)).toMatchObject({ affects: 'rows', answer: { kind: answer } });
  });

  it('names the setting to change if registrants are switched off', () => {
    expect(judge('registrantsOff')).toMatchObject({
      cause: 'registrantsOff',
      detail: expect.stringMatching(/dashboard/),
    });
  });

  it('after a refused permit, delays all requests of the key or only this request', () => {
    const refused = (scope: 'key' | 'request') =>
      judgeImportFailure(
        new PermitRefusal({ scope, reason: 'used-up', waitMs: 5000 }),
        { count: 1, indexBase: null },
        before,
        clock,
      );
    expect(refused('key')).toEqual({ affects: 'workspace', reason: 'quota', waitMs: 5000 });
    expect(refused('request')).toEqual({ affects: 'request', waitMs: 5000 });
  });

  it('waits longer after each request without an answer, or as long as the service requests', () => {
    const retry = (failures: number, facts: Partial<ApiErrorFacts> = {}) => {
      const error = new ApiError(call, { kind: 'transient', problem: 'x', mayHaveTakenEffect: true, ...facts });
      const verdict = judgeImportFailure(error, { count: 1, indexBase: null }, { ...before, failures }, clock);
      return verdict.affects === 'rows' ? verdict.retryInMs : undefined;
    };
    expect([retry(0), retry(3), retry(30)]).toEqual([1000, 8000, 300_000]);
    expect(retry(3, { retryAfterMs: 2500 })).toBe(2500);
  });
});
