import type { HeldLine } from './held.js';
import { type FaultName, judge, type SinkUnderJudgement } from './judge.js';
import { keyOf } from './item-key.js';
import type { Source } from './source.js';
import { fingerprint, type Item } from '../kit/compare-with-truth.js';

const goneAt = '2026-11-21T09:00:10.000Z';

/** Builds a change of pigeonhole 101 as a sink stores it. */
function line(list: string, key: string, revision: number, data: Item | null, more: Partial<HeldLine> = {}): HeldLine {
  const kind = data === null ? 'deleted' : revision === 1 ? 'created' : 'updated';
  const id = `${list} ${key} ${revision}`;
  const place = { pigeonholeId: 101, sessionId: 5001, sequence: revision, timestamp: '2026-11-21T09:00:20.000Z' };
  return { id, type: `${list}.${kind}`, list, key, revision, data, ...place, ...more };
}

function question(content: string, more: Item = {}): Item {
  return { question: { id: 9001, content, status: 'approved' }, session: { id: 5001 }, attendeeId: 1, ...more };
}

function vote(createdAt: string): Item {
  return { createdAt, question: { id: 9001, content: 'copied' }, session: { id: 5001 }, attendeeId: 1 };
}

/** Builds a source with current items and items that have left it. */
function source(
  shown: readonly (readonly [string, Item])[],
  gone: readonly (readonly [string, Item])[] = [],
  consents: readonly (readonly [from: unknown, to: unknown])[] = [],
): Source {
  const named = (list: string, item: Item): string => {
    const key = keyOf(list, item);
    return key === null ? fingerprint(101, list, item) : `101 ${list} ${key}`;
  };
  return {
    items: shown.map(([list, item]) => ({
      pigeonholeId: 101,
      list,
      key: keyOf(list, item),
      fingerprint: fingerprint(101, list, item),
      item,
    })),
    absences: gone.map(([list, item]) => ({ name: named(list, item), goneAt: Date.parse(goneAt), backAt: null })),
    consents: consents.map(([from, to]) => ({ pigeonholeId: 101, id: 1, from, to })),
  };
}

function faultsOf(lines: readonly HeldLine[], from: Source, kind: SinkUnderJudgement['kind'] = 'file'): FaultName[] {
  const accepts = (consent: unknown): boolean => (consent as { obtained?: boolean } | undefined)?.obtained === true;
  return judge({ kind, lines, accepts }, from, { deletions: true }).map(({ fault }) => fault);
}

const when = question('When is lunch?');
const edited = question('When is lunch today?');
const at = vote('2026-11-21T08:00:00.000Z');

describe('the judge of a chaos run', () => {
  it('finds nothing if a sink has what the source shows', () => {
    const lines = [line('questions', '9001', 1, when), line('questions', '9001', 2, edited), line('votes', 'v', 1, at)];
    expect(
      faultsOf(
        lines,
        source([
          ['questions', edited],
          ['votes', at],
        ]),
      ),
    ).toEqual([]);
  });

  it.each<[string, FaultName[], HeldLine[], Source]>([
    ['an item that is missing', ['lost'], [], source([['questions', when]])],
    ['an old version', ['lost'], [line('questions', '9001', 1, when)], source([['questions', edited]])],
    [
      'an item that was restored and is held as deleted',
      ['lost'],
      [line('questions', '9001', 1, when), line('questions', '9001', 2, null)],
      source([['questions', when]], [['questions', when]]),
    ],
    [
      'a revision that is missing',
      ['lost'],
      [line('questions', '9001', 1, when), line('questions', '9001', 3, edited)],
      source([['questions', edited]]),
    ],
    [
      'one of two votes that are alike',
      ['lost'],
      [line('votes', 'v', 1, at)],
      source([
        ['votes', at],
        ['votes', at],
      ]),
    ],
    ['an item that is gone', ['kept'], [line('questions', '9001', 1, when)], source([], [['questions', when]])],
    ['a vote that is gone', ['kept'], [line('votes', 'v', 1, at)], source([], [['votes', at]])],
    [
      'a revision that occurs twice in a file',
      ['duplicated'],
      [line('questions', '9001', 1, when), line('questions', '9001', 1, when)],
      source([['questions', when]]),
    ],
    [
      'the same content as two changes in a row',
      ['duplicated'],
      [line('questions', '9001', 1, when), line('questions', '9001', 2, when)],
      source([['questions', when]]),
    ],
    [
      'a deletion of what was never gone',
      ['lost', 'falselyDeleted'],
      [line('questions', '9001', 1, when), line('questions', '9001', 2, null)],
      source([['questions', when]]),
    ],
    [
      'a deletion before the item was gone',
      ['falselyDeleted'],
      [
        line('questions', '9001', 1, when),
        line('questions', '9001', 2, null, { timestamp: '2026-11-21T09:00:09.000Z' }),
      ],
      source([], [['questions', when]]),
    ],
    [
      'the deletion of a vote that was never gone',
      ['falselyDeleted', 'lost'],
      [line('votes', 'v', 1, at), line('votes', 'v', 2, null)],
      source([['votes', at]]),
    ],
    [
      'an older revision after a newer one',
      ['outOfOrder'],
      [line('questions', '9001', 2, edited), line('questions', '9001', 1, when)],
      source([['questions', edited]]),
    ],
    [
      'a person whom the flag of the twin hides',
      ['leaked'],
      [
        line('questions', '9001', 1, when),
        line('qna-questions', '9001', 1, { id: 9001, attendee: { anonymous: true } }),
      ],
      source([
        ['questions', when],
        ['qna-questions', { id: 9001, attendee: { id: 1, anonymous: true } }],
      ]),
    ],
    [
      'a person in an anonymous session',
      ['leaked'],
      [line('votes', 'v', 1, at), line('sessions', '5001', 1, { id: 5001, anonymousResponses: true })],
      source([
        ['votes', at],
        ['sessions', { id: 5001, anonymousResponses: true }],
      ]),
    ],
    [
      'a record whose consent the sink does not accept',
      ['leaked'],
      [line('attendees', '1', 1, { id: 1, consent: { obtained: false } })],
      source([['attendees', { id: 1, consent: { obtained: false } }]]),
    ],
  ])('finds %s', (_, expected, lines, from) => {
    expect(faultsOf(lines, from).toSorted()).toEqual(expected.toSorted());
  });

  it('accepts an old record without consent if the person consented later, but not one from after a withdrawal', () => {
    const given = { obtained: true };
    const withdrawn = { obtained: false };
    const later = source(
      [['attendees', { id: 1, consent: withdrawn }]],
      [],
      [
        [undefined, given],
        [given, withdrawn],
      ],
    );
    expect(faultsOf([line('attendees', '1', 1, { id: 1 })], later)).toEqual([]);
    expect(faultsOf([line('attendees', '1', 3, { id: 1, consent: withdrawn })], later)).toEqual(['leaked']);
  });

  it('accepts a deletion if the item had left its list before, even if it has returned', () => {
    const lines = [1, 2, 3].map((revision) => line('questions', '9001', revision, revision === 2 ? null : when));
    expect(faultsOf(lines, source([['questions', when]], [['questions', when]]))).toEqual([]);
  });

  it('accepts two equal changes of an anonymous item, because its author may have become visible in between', () => {
    const { attendeeId: _, ...anonymous } = when;
    const lines = [line('questions', '9001', 1, anonymous), line('questions', '9001', 2, anonymous)];
    expect(faultsOf(lines, source([['questions', when]]))).toEqual([]);
  });

  describe('at a receiver', () => {
    const first = line('questions', '9001', 1, when);
    const shown = source([['questions', when]]);

    it('accepts a repeat of the same change', () => {
      expect(faultsOf([first, first], shown, 'webhook')).toEqual([]);
    });

    it('accepts a repeat without the person', () => {
      const { attendeeId: _, ...anonymous } = when;
      expect(faultsOf([first, { ...first, data: anonymous }], shown, 'webhook')).toEqual([]);
    });

    it('finds different bytes with the same id', () => {
      expect(faultsOf([first, { ...first, sequence: 7 }], shown, 'webhook')).toEqual(['duplicated']);
    });

    it('finds one revision with two ids', () => {
      expect(faultsOf([first, { ...first, id: 'another' }], shown, 'webhook')).toEqual(['duplicated', 'outOfOrder']);
    });
  });
});
