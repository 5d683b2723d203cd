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

describe('a field of an existing record', () => {
  it.each<[string, ReturnType<typeof written>, FieldValue | undefined]>([
    ['is overwritten with "always"', written('always', 'Hot', 'Cold'), 'Hot'],
    ['is cleared with "always"', written('always', null, 'Cold'), null],
    ['is not written if it already has the value', written('always', 'Hot', 'Hot'), undefined],
    ['is written again if its value may be from this sink', written('always', 'Hot', 'Hot', { ours: 10 }), 'Hot'],
    ['keeps its value with "if-empty"', written('if-empty', 'Hot', 'Cold'), undefined],
    ['is filled with "if-empty"', written('if-empty', 'Hot', null), 'Hot'],
    ['is filled with "if-empty" if it has an empty text', written('if-empty', 'Hot', ''), 'Hot'],
    ['is not cleared with "if-empty"', written('if-empty', null, 'Cold'), undefined],
    ['is filled with "if-newer", however old the event', written('if-newer', 'Hot', null), 'Hot'],
    [
      'keeps its value with "if-newer" for an earlier event',
      written('if-newer', 'Hot', 'Cold', { happened: 9 }),
      undefined,
    ],
    ['is overwritten with "if-newer" for a later event', written('if-newer', 'Hot', 'Cold', { happened: 11 }), 'Hot'],
    [
      'is corrected with "if-newer" if nobody else has changed it since',
      written('if-newer', 'Hot', 'Cold', { ours: 10 }),
      'Hot',
    ],
    [
      'keeps its value with "if-newer" if a user changed it',
      written('if-newer', 'Hot', 'Cold', { ours: 9 }),
      undefined,
    ],
    ['is not cleared with "if-newer"', written('if-newer', null, 'Cold', { happened: 11 }), undefined],
  ])('%s', (_, found, expected) => {
    expect(found).toEqual(expected);
  });
});

describe('a new record', () => {
  it('receives every field with a value, whatever the policy', () => {
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
  /** Returns first and last name of a record with the name `now` after an item with `first` and `last` was written. */
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
    ['is written completely to a new record', ['', ''], ['Ada', 'Lovelace'], 'if-empty', 'Ada Lovelace'],
    ['of one word becomes the last name of a new record', ['', ''], [undefined, 'Ada'], 'if-empty', 'Ada'],
    ['is not written if the record has another name', ['A.', 'King'], ['Ada', 'Lovelace'], 'if-empty', 'A. King'],
    ['is completed if the last name is the same', ['', 'LOVELACE'], ['Ada', 'Lovelace'], 'if-empty', 'Ada LOVELACE'],
    ['is not combined with another last name', ['', 'King'], ['Ada', 'Lovelace'], 'if-empty', 'King'],
    ['is not duplicated if a name of one word grows', ['', 'Ada'], ['Ada', 'Lovelace'], 'if-empty', 'Ada'],
    ['of one word does not duplicate a first name', ['Ada', 'Lovelace'], [undefined, 'Ada'], 'always', 'Ada Lovelace'],
    ['with equal first and last name is written', ['Al', 'Ali'], ['Ali', 'Ali'], 'always', 'Ali Ali'],
    ['is replaced with "always"', ['A.', 'King'], ['Ada', 'Lovelace'], 'always', 'Ada Lovelace'],
  ])('%s', (_, now, said, policy, expected) => {
    expect(named(now, said, policy)).toBe(expected);
  });
});

const status = { registered: 'Sent', attended: 'Responded' };
const responds = (label: string): boolean => label === 'Responded' || label === 'Donated';

describe('the status of a campaign member', () => {
  it.each([
    ['no member', null, 'registered', 'Sent'],
    ['no member', null, 'attended', 'Responded'],
    ['Sent', 'Sent', 'registered', null],
    ['Sent', 'Sent', 'attended', 'Responded'],
    ['Responded', 'Responded', 'registered', null],
    ['Responded', 'Responded', 'attended', null],
    ['Invited, set by a user', 'Invited', 'registered', 'Sent'],
    ['Donated, set by a user', 'Donated', 'registered', null],
    ['Donated, set by a user', 'Donated', 'attended', 'Responded'],
  ] as const)('from %s (%s), for a person who has %s, becomes %s', (_, now, stage, expected) => {
    const present = now === null ? null : { status: now, hasResponded: responds(now) };
    expect(decideMemberStatus(present, stage, status, responds)).toBe(expected);
  });
});
