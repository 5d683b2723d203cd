import { ApiError, type ApiErrorFacts, type ApiErrorKind, apiErrorKinds } from '../../pigeonhole/api-error.js';
import { type ImportVerdict, judgeImportFailure, type Complaints, readComplaints } from './judge-import-failure.js';
import { PermitRefusal } from '../../requests/quota-rules.js';

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

const taken = 'has already been taken';

function read(fields: readonly (readonly [field: string, message: string])[], count = 20, base: 0 | 1 | null = null) {
  return readComplaints(
    fields.map(([field, message]) => ({ field, message })),
    null,
    count,
    base,
  );
}

function places({ named }: Complaints): (readonly [number, string | null | undefined])[] {
  return [...named].map(([index, complaints]) => [index, complaints[0]?.field] as const);
}

describe('a complaint that names its row', () => {
  it.each([
    ['data[12].attendeeCode', 'attendeeCode'],
    ['data.12.attendeeCode', 'attendeeCode'],
    ['12.attendeeCode', 'attendeeCode'],
    ['[12].attendeeCode', 'attendeeCode'],
    ['/data/12/attendeeCode', 'attendeeCode'],
    ['registrants[12].Job title', 'Job title'],
    ['data[12]["Name"]', '"Name"'],
    ['body.data[12].a.b', 'a.b'],
    ['data[12]', null],
  ])('is found in %s', (field, name) => {
    expect(places(read([[field, taken]], 20, 0))).toEqual([[12, name]]);
  });

  it('can contain the row in its message', () => {
    expect(places(read([['attendeeCode', `Row 12: ${taken}`]], 20, 0))).toEqual([[12, 'attendeeCode']]);
  });

  it.each([
    ['the numbers include 0', ['data[0].Name', 'data[3].Name'], 20, 0, [0, 3]],
    ['the numbers include the row count', ['data[3].Name', 'data[20].Name'], 20, 1, [2, 19]],
    ['one row was sent, and its number is 0', ['data[0].Name'], 1, 0, [0]],
    ['one row was sent, and its number is 1', ['data[1].Name'], 1, 1, [0]],
    ['the numbers show neither, so no row is named', ['data[3].Name'], 20, null, []],
    ['a number fits neither, so no row is named', ['data[0].Name', 'data[21].Name'], 20, null, []],
  ] as const)('counts rows from 0 or from 1: %s', (_, fields, count, base, expected) => {
    const complaints = read(
      fields.map((field) => [field, 'is wrong'] as const),
      count,
    );
    expect(complaints.indexBase).toBe(base);
    expect([...complaints.named.keys()]).toEqual(expected);
  });

  it('leaves two candidates if it may count from 0 or from 1', () => {
    expect(read([['data[3].Name', 'is wrong']])).toMatchObject({ candidates: [2, 3], indexBase: null });
    expect(read([['data[21].Name', 'is wrong']])).toMatchObject({ candidates: [], indexBase: null });
  });

  it('does not exist if a profile field is called by a number beyond the rows', () => {
    expect(read([['2024', 'is too long']], 20, 0).named.size).toBe(0);
  });
});

describe('the meaning of a complaint about a code', () => {
  it.each([
    ['attendeeCode', taken, 'duplicate'],
    ['attendeeCode', 'must be unique', 'duplicate'],
    ['attendeeCode', 'already exists', 'duplicate'],
    ['attendee_code', 'Duplicate entry', 'duplicate'],
    ['attendeeCode', 'ist bereits vergeben', 'duplicate'],
    ['attendeeCode', 'is required', 'value'],
    ['attendeeCode', 'must have at most 255 characters', 'value'],
    ['attendeeCode', 'rejeté', 'unclear'],
    ['Name', 'already exists', 'value'],
    ['Notes', 'is wrong', 'value'],
    ['data', 'holds attendee codes that have already been taken', 'duplicate'],
  ])('in %s: "%s" means %s', (field, message, meaning) => {
    expect(read([[field, message]]).nameless[0]).toMatchObject({ meaning });
  });
});

describe('a complaint about the number of rows', () => {
  it.each([
    ['data', 'must hold at most 1000 registrants', true],
    ['data', 'too many items', true],
    ['body', 'exceeds the limit', true],
    ['data', 'holds codes that exist, at most once each', false],
    ['data', 'is invalid', false],
    ['Name', 'must have at most 255 characters', false],
  ])('is recognized in %s: "%s": %s', (field, message, tooMany) => {
    expect(read([[field, message]]).tooMany).toBe(tooMany);
  });

  it('is recognized in the message of a response without errors, as is a duplicate', () => {
    expect(readComplaints([], 'too many registrants', 5, null)).toMatchObject({ tooMany: true });
    expect(readComplaints([], 'Duplicate attendee code', 5, null).nameless).toMatchObject([{ meaning: 'duplicate' }]);
    expect(readComplaints([], 'Invalid format or value', 5, null).nameless).toEqual([]);
  });
});
