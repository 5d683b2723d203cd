import {
  gatherMessages,
  type RateLimit,
  limitMessages,
  type RateLimitStates,
  type PendingMessage,
} from './pace-messages.js';

const pace: RateLimit = { burst: 3, everyMs: 60_000 };
const second = 1000;
const startMs = Date.parse('2026-11-21T09:30:00Z');
const at = (ms: number): Date => new Date(startMs + ms);

function paused(...subjects: readonly string[]): PendingMessage[] {
  return subjects.map((subject) => {
    const facts = { pausedBy: 'cause', cause: 'credential', pausedAt: at(0).toISOString() };
    const known = { occasion: 'sink-paused', subject, holds: true, since: at(0), facts } as const;
    return {
      row: { ...known, told: true, raises: 1 },
      message: { occasion: 'sink-paused', subjects: [subject], kind: 'raised', since: at(0), facts },
      rowIfLater: { ...known, told: false, raises: 0 },
    };
  });
}
const recovered = (...subjects: readonly string[]): PendingMessage[] =>
  paused(...subjects).map((telling) => ({
    ...telling,
    message: { ...telling.message, kind: 'recovered' },
    rowIfLater: undefined,
  }));

/** Returns the subjects reported at each check. The next check finds a postponed message again, so the caller passes it again. */
function told(...looks: readonly [ms: number, pending: readonly PendingMessage[]][]): (readonly string[])[][] {
  let paces: RateLimitStates = new Map();
  return looks.map(([ms, pending]) => {
    const paced = limitMessages(pending, paces, at(ms), pace);
    paces = new Map([...paces, ...paced.paces]);
    return paced.messages.map(({ subjects }) => subjects);
  });
}

describe('the messages of several checks', () => {
  const storm = Array.from({ length: 200 }, (_, n) => `s${n}`);

  it.each<[string, readonly [number, readonly PendingMessage[]][], readonly (readonly string[])[][]]>([
    ['three single messages about three subjects', [[0, paused('a', 'b', 'c')]], [[['a'], ['b'], ['c']]]],
    ['one message about four subjects', [[0, paused('a', 'b', 'c', 'd')]], [[['a', 'b', 'c', 'd']]]],
    ['one message about two hundred subjects', [[0, paused(...storm)]], [[storm]]],
    [
      'single while there are few, then one message about everything that waited for a minute',
      [
        [0, paused('a')],
        [5 * second, paused('b')],
        [10 * second, paused('c')],
        [15 * second, paused('d')],
        [59 * second, paused('d', 'e')],
        [60 * second, paused('d', 'e', 'f')],
        [65 * second, paused('g')],
        [120 * second, paused('g')],
      ],
      [[['a']], [['b']], [['c']], [], [], [['d', 'e', 'f']], [], [['g']]],
    ],
    [
      'limited for each kind separately, so that a recovery is reported during a storm',
      [
        [0, paused('a', 'b', 'c')],
        [5 * second, [...paused('d'), ...recovered('a')]],
      ],
      [[['a'], ['b'], ['c']], [['a']]],
    ],
    [
      'three single messages again after three minutes without any',
      [
        [0, paused('a', 'b', 'c')],
        [180 * second, paused('d', 'e', 'f')],
      ],
      [
        [['a'], ['b'], ['c']],
        [['d'], ['e'], ['f']],
      ],
    ],
  ])('are %s', (_, looks, messages) => {
    expect(told(...looks)).toEqual(messages);
  });

  it('are limited to one a minute during an hour-long storm', () => {
    const looks = Array.from({ length: 720 }, (_, n): [number, PendingMessage[]] => [n * 5 * second, paused(`s${n}`)]);
    expect(told(...looks).flat()).toHaveLength(62); // three at once, then one at each full minute
  });
});

describe('a postponed message', () => {
  it('is stored as not sent, and does not count against the rate limit', () => {
    const full = new Map([['sink-paused raised', at(180 * second)]]);
    const paced = limitMessages(paused('a'), full, at(0), pace);
    expect(paced).toEqual({
      rows: [expect.objectContaining({ subject: 'a', told: false })],
      messages: [],
      paces: new Map(),
    });
  });

  it('about a recovery is not stored, because the next check finds the recovery again', () => {
    const full = new Map([['sink-paused recovered', at(180 * second)]]);
    expect(limitMessages(recovered('a'), full, at(0), pace).rows).toEqual([]);
  });
});

describe('a gathered message', () => {
  it('has all subjects, the sums of their counts, their earliest instants and the facts that they share', () => {
    const facts = [
      { letters: 2, cause: 'credential', pausedBy: 'cause', oldestAt: '2026-11-21T09:00:00.000Z', left: null },
      { letters: 3, cause: 'gone', pausedBy: 'cause', oldestAt: '2026-11-21T08:00:00.000Z', left: 5 },
    ];
    const messages = facts.map((own, n) => ({ ...paused(`s${n}`)[0]!.message, facts: own, since: at(1000 - n) }));
    expect(gatherMessages(messages)).toEqual({
      occasion: 'sink-paused',
      subjects: ['s0', 's1'],
      kind: 'raised',
      since: at(999),
      facts: { letters: 5, cause: null, pausedBy: 'cause', oldestAt: '2026-11-21T08:00:00.000Z', left: 5 },
    });
  });
});
