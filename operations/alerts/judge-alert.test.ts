import { type AlertState, type RecoveryDelays, type Found, postponedState, judgeAlert } from './judge-alert.js';

const calm: RecoveryDelays = { firstMs: 10, longestMs: 60, forgetMs: 100 };
const told: AlertState = { holds: true, sinceMs: 0, told: true, raises: 1 };
const calming: AlertState = { ...told, holds: false };
const over: AlertState = { ...calming, told: false };

describe('an alert', () => {
  it.each<[string, AlertState | null, Found, number, AlertState | null, 'raised' | 'recovered' | null]>([
    ['is raised as soon as it holds', null, 'holds', 5, { ...told, sinceMs: 5 }, 'raised'],
    ['is not reported again while it holds', told, 'holds', 5, told, null],
    ['is not over at the first check that does not find it', told, 'over', 5, { ...calming, sinceMs: 5 }, null],
    ['is not over before the quiet time has passed', calming, 'over', 9, calming, null],
    ['is over after the quiet time', calming, 'over', 10, over, 'recovered'],
    ['that returns during the quiet time is reported neither time', calming, 'holds', 9, { ...told, sinceMs: 9 }, null],
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
    ['is raised again when it returns', over, 'holds', 50, { ...told, sinceMs: 50, raises: 2 }, 'raised'],
    ['that is over stays stored for a while', over, 'over', 99, over, null],
    ['is deleted after a long quiet time', over, 'over', 100, null, null],
    ['whose condition is unknown stays raised', told, 'unknown', 500, told, null],
    ['whose condition is unknown is not over', calming, 'unknown', 500, calming, null],
    ['whose condition is unknown is not raised', null, 'unknown', 5, null, null],
    ['that was never raised is not stored when its condition does not hold', null, 'over', 5, null, null],
  ])('%s', (_, before, found, nowMs, state, tell) => {
    expect(judgeAlert(before, found, nowMs, calm)).toEqual({ state, tell });
  });

  it.each<[string, AlertState | null, Found]>([
    ['that begins', null, 'holds'],
    ['that returns', over, 'holds'],
    ['that is over', calming, 'over'],
  ])(
    '%s and is postponed is reported by the next check exactly as this check would have reported it',
    (_, before, found) => {
      const now = judgeAlert(before, found, 50, calm);
      const later = judgeAlert(postponedState(before, now), found, 60, calm);
      expect(now.tell).not.toBeNull();
      expect(later).toEqual(now);
    },
  );

  it('that was postponed and then ended is never reported', () => {
    const later = postponedState(null, judgeAlert(null, 'holds', 5, calm));
    const calmed = judgeAlert(later, 'over', 10, calm);
    expect([calmed.tell, judgeAlert(calmed.state, 'over', 90, calm).tell]).toEqual([null, null]);
  });

  it('whose condition changes every minute for an hour is reported at most 12 times', () => {
    let state: AlertState | null = null;
    let tells = 0;
    for (let nowMs = 0; nowMs < 3_600_000; nowMs += 5000) {
      const isOn = Math.floor(nowMs / 60_000) % 2 === 0; // one minute on, one minute off
      const judged = judgeAlert(state, isOn ? 'holds' : 'over', nowMs);
      state = judged.state;
      tells += judged.tell === null ? 0 : 1;
    }
    expect(tells).toBeGreaterThanOrEqual(3);
    expect(tells).toBeLessThanOrEqual(12);
  });
});
