import type { WritePolicy } from '../mapping/expression-schema.js';
import { decideFields, keepNameWhole, decideMemberStatus } from './decide-fields.js';
import type { FieldValue } from './operation.js';

const hourMs = 3_600_000;

/** Returns the write for a field with the value `now`, in a record last modified at hour 10. */
function written(
  policy: WritePolicy,
  value: FieldValue,
  now: unknown,
  times: { happened?: number; ours?: number } = {},
) {
  const present = { values: new Map([['rating', now]]), lastModifiedAtMs: 10 * hourMs };
  const writtenAtMs = times.ours === undefined ? null : times.ours * hourMs;
  const fields = decideFields([{ field: 'Rating', value, policy }], present, {
    happenedAtMs: (times.happened ?? 0) * hourMs,
    writtenAtMs,
    isOurs: times.ours !== undefined,
  });
  return fields.get('Rating');
}

describe('a field of a record that exists', () => {
  it.each<[string, ReturnType<typeof written>, FieldValue | undefined]>([
    ['is overwritten by always', written('always', 'Hot', 'Cold'), 'Hot'],
    ['is cleared by always', written('always', null, 'Cold'), null],
    ['is not written if it is already there', written('always', 'Hot', 'Hot'), undefined],
    ['is written again where it may be ours', written('always', 'Hot', 'Hot', { ours: 10 }), 'Hot'],
    ['is left by if-empty where something stands', written('if-empty', 'Hot', 'Cold'), undefined],
    ['is filled by if-empty', written('if-empty', 'Hot', null), 'Hot'],
    ['is filled by if-empty where an empty text stands', written('if-empty', 'Hot', ''), 'Hot'],
    ['is not cleared by if-empty', written('if-empty', null, 'Cold'), undefined],
    ['is filled by if-newer, however old', written('if-newer', 'Hot', null), 'Hot'],
    ['is left by if-newer for what happened before', written('if-newer', 'Hot', 'Cold', { happened: 9 }), undefined],
    ['is overwritten by if-newer for what happened after', written('if-newer', 'Hot', 'Cold', { happened: 11 }), 'Hot'],
    [
      'is corrected by if-newer where nobody else has changed it since',
      written('if-newer', 'Hot', 'Cold', { ours: 10 }),
      'Hot',
    ],
    ['is left by if-newer if a user changed it', written('if-newer', 'Hot', 'Cold', { ours: 9 }), undefined],
    ['is not cleared by if-newer', written('if-newer', null, 'Cold', { happened: 11 }), undefined],
  ])('%s', (_, found, expected) => {
    expect(found).toEqual(expected);
  });
});

describe('a record that is created', () => {
  it('is given all that has a value, whatever the policy', () => {
    const policies = ['always', 'if-empty', 'if-newer'] as const;
    const writes = policies.map((policy) => ({ field: policy, value: 1, policy }));
    const times = { happenedAtMs: 0, writtenAtMs: null, isOurs: false };
    expect(decideFields([...writes, { field: 'none', value: null, policy: 'always' }], null, times)).toEqual(
      new Map(policies.map((policy) => [policy, 1])),
    );
  });
});

describe('a name in two fields', () => {
  const isEmpty = (text: string): boolean => text === '';
  /** First and last name of a record that had `now`, after an item that says `first` and `last`. */
  function named(now: readonly [string, string], [first, last]: readonly [string?, string?], policy: WritePolicy) {
    const writes = [
      ...(first === undefined ? [] : [{ field: 'FirstName', value: first, policy }]),
      ...(last === undefined ? [] : [{ field: 'LastName', value: last, policy }]),
    ];
    const values = new Map([
      ['firstname', now[0]],
      ['lastname', now[1]],
    ]);
    const times = { happenedAtMs: 0, writtenAtMs: null, isOurs: false };
    const decided = decideFields(writes, now.every(isEmpty) ? null : { values, lastModifiedAtMs: 1 }, times);
    keepNameWhole(decided, writes, (field) => values.get(field) ?? '');
    return [decided.get('FirstName') ?? now[0], decided.get('LastName') ?? now[1]].join(' ').trim();
  }

  it.each<[string, readonly [string, string], readonly [string?, string?], WritePolicy, string]>([
    ['is written whole to a new record', ['', ''], ['Ada', 'Lovelace'], 'if-empty', 'Ada Lovelace'],
    ['of one word is the last name of a new record', ['', ''], [undefined, 'Ada'], 'if-empty', 'Ada'],
    ['stays where the record has another', ['A.', 'King'], ['Ada', 'Lovelace'], 'if-empty', 'A. King'],
    ['is completed where the last name is the same', ['', 'LOVELACE'], ['Ada', 'Lovelace'], 'if-empty', 'Ada LOVELACE'],
    ['is not mixed with another last name', ['', 'King'], ['Ada', 'Lovelace'], 'if-empty', 'King'],
    ['is not doubled when a name of one word grows', ['', 'Ada'], ['Ada', 'Lovelace'], 'if-empty', 'Ada'],
    ['of one word does not double a first name', ['Ada', 'Lovelace'], [undefined, 'Ada'], 'always', 'Ada Lovelace'],
    ['that repeats itself is written', ['Al', 'Ali'], ['Ali', 'Ali'], 'always', 'Ali Ali'],
    ['is replaced by always', ['A.', 'King'], ['Ada', 'Lovelace'], 'always', 'Ada Lovelace'],
  ])('%s', (_, now, said, policy, expected) => {
    expect(named(now, said, policy)).toBe(expected);
  });
});

const status = { registered: 'Sent', attended: 'Responded' };
const responds = (label: string): boolean => label === 'Responded' || label === 'Donated';

describe('the status of a member', () => {
  it.each([
    ['nobody yet', null, 'registered', 'Sent'],
    ['nobody yet', null, 'attended', 'Responded'],
    ['Sent', 'Sent', 'registered', null],
    ['Sent', 'Sent', 'attended', 'Responded'],
    ['Responded', 'Responded', 'registered', null],
    ['Responded', 'Responded', 'attended', null],
    ['Invited, by a user', 'Invited', 'registered', 'Sent'],
    ['Donated, by a user', 'Donated', 'registered', null],
    ['Donated, by a user', 'Donated', 'attended', 'Responded'],
  ] as const)('who is %s (%s) and has %s becomes %s', (_, now, stage, expected) => {
    const present = now === null ? null : { status: now, hasResponded: responds(now) };
    expect(decideMemberStatus(present, stage, status, responds)).toBe(expected);
  });
});
