import {
  type AlertState,
  type RecoveryDelays,
  type Found,
  postponedState,
  judgeAlert,
  gatherMessages,
  type RateLimit,
  limitMessages,
  type RateLimitStates,
  type PendingMessage,
} from './judge-alert.js';

/** An instant, by its milliseconds. */
const ms = (n: number): Date => new Date(n);
const calm: RecoveryDelays = { firstMs: 10, longestMs: 60, forgetMs: 100 };
const announced: AlertState = { holds: true, since: ms(0), announced: true, raises: 1 };
const calming: AlertState = { ...announced, holds: false };
const over: AlertState = { ...calming, announced: false };

describe('an alert', () => {
  it.each<[string, AlertState | null, Found, number, AlertState | null, 'raised' | 'recovered' | null]>([
    ['is raised as soon as it holds', null, 'holds', 5, { ...announced, since: ms(5) }, 'raised'],
    ['is not reported again while it holds', announced, 'holds', 5, announced, null],
    ['is not over at the first check that does not find it', announced, 'over', 5, { ...calming, since: ms(5) }, null],
    ['is not over before the quiet time has passed', calming, 'over', 9, calming, null],
    ['is over after the quiet time', calming, 'over', 10, over, 'recovered'],
    ['that returns during the quiet time causes no message', calming, 'holds', 9, { ...announced, since: ms(9) }, null],
    [
      'needs twice the quiet time if it returned once',
      { ...calming, raises: 2 },
      'over',
      19,
      { ...calming, raises: 2 },
      null,
    ],
    [
      'that returned once is over after twice the quiet time',
      { ...calming, raises: 2 },
      'over',
      20,
      { ...over, raises: 2 },
      'recovered',
    ],
    [
      'never needs more than the longest quiet time',
      { ...calming, raises: 99 },
      'over',
      60,
      { ...over, raises: 99 },
      'recovered',
    ],
    ['is raised again when it returns', over, 'holds', 50, { ...announced, since: ms(50), raises: 2 }, 'raised'],
    ['that is over stays stored for a while', over, 'over', 99, over, null],
    ['is deleted after a long quiet time', over, 'over', 100, null, null],
    ['whose condition is unknown stays raised', announced, 'unknown', 500, announced, null],
    ['whose condition is unknown is not over', calming, 'unknown', 500, calming, null],
    ['whose condition is unknown is not raised', null, 'unknown', 5, null, null],
    ['that was never raised is not stored when its condition does not hold', null, 'over', 5, null, null],
  ])('%s', (_, before, found, nowMs, state, tell) => {
    expect(judgeAlert(before, found, ms(nowMs), calm)).toEqual({ state, tell });
  });

  it.each<[string, AlertState | null, Found]>([
    ['that begins', null, 'holds'],
    ['that returns', over, 'holds'],
    ['that is over', calming, 'over'],
  ])(
    '%s and is postponed is reported by the next check exactly as this check would have reported it',
    (_, before, found) => {
      const now = judgeAlert(before, found, ms(50), calm);
      const later = judgeAlert(postponedState(before, now), found, ms(60), calm);
      expect(now.tell).not.toBeNull();
      expect(later).toEqual(now);
    },
  );

  it('that was postponed and then ended is never reported', () => {
    const later = postponedState(null, judgeAlert(null, 'holds', ms(5), calm));
    const calmed = judgeAlert(later, 'over', ms(10), calm);
    expect([calmed.tell, judgeAlert(calmed.state, 'over', ms(90), calm).tell]).toEqual([null, null]);
  });

  it('whose condition changes every minute for an hour is reported at most 12 times', () => {
    let state: AlertState | null = null;
    let tells = 0;
    for (let nowMs = 0; nowMs < 3_600_000; nowMs += 5000) {
      const isOn = Math.floor(nowMs / 60_000) % 2 === 0; // one minute on, one minute off
      const judged = judgeAlert(state, isOn ? 'holds' : 'over', ms(nowMs));
      state = judged.state;
      tells += judged.tell === null ? 0 : 1;
    }
    expect(tells).toBeGreaterThanOrEqual(3);
    expect(tells).toBeLessThanOrEqual(12);
  });
});

const pace: RateLimit = { burst: 3, everyMs: 60_000 };
const second = 1000;
const startMs = Date.parse('2026-11-21T09:30:00Z');
const at = (ms: number): Date => new Date(startMs + ms);

function paused(...subjects: readonly string[]): PendingMessage[] {
  return subjects.map((subject) => {
    const facts = { pausedBy: 'cause', cause: 'credential', pausedAt: at(0).toISOString() };
    const known = { code: 'sink-paused', subject, holds: true, since: at(0), facts } as const;
    return {
      row: { ...known, announced: true, raises: 1 },
      message: { code: 'sink-paused', subjects: [subject], kind: 'raised', since: at(0), facts },
      rowIfLater: { ...known, announced: false, raises: 0 },
    };
  });
}
const recovered = (...subjects: readonly string[]): PendingMessage[] =>
  paused(...subjects).map((telling) => ({
    ...telling,
    message: { ...telling.message, kind: 'recovered' },
    rowIfLater: undefined,
  }));

/**
 * Returns the subjects reported at each check. The next check finds a postponed message again, so the caller passes it
 * again.
 */
function reported(...looks: readonly [ms: number, pending: readonly PendingMessage[]][]): (readonly string[])[][] {
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
    expect(reported(...looks)).toEqual(messages);
  });

  it('are limited to one a minute during an hour-long storm', () => {
    const looks = Array.from({ length: 720 }, (_, n): [number, PendingMessage[]] => [n * 5 * second, paused(`s${n}`)]);
    expect(reported(...looks).flat()).toHaveLength(62); // three at once, then one at each full minute
  });
});

describe('a postponed message', () => {
  it('is stored as not sent, and does not count against the rate limit', () => {
    const full = new Map([['sink-paused raised', at(180 * second)]]);
    const paced = limitMessages(paused('a'), full, at(0), pace);
    expect(paced).toEqual({
      rows: [expect.objectContaining({ subject: 'a', announced: false })],
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
      code: 'sink-paused',
      subjects: ['s0', 's1'],
      kind: 'raised',
      since: at(999),
      facts: { letters: 5, cause: null, pausedBy: 'cause', oldestAt: '2026-11-21T08:00:00.000Z', left: 5 },
    });
  });
});
