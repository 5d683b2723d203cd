import { failureCode } from '../network/failure-sentence.js';
import { DailyLimit, nextMidnight } from './daily-limit.js';

describe('the next midnight', () => {
  it.each([
    ['UTC', '2026-11-21T09:30:00Z', '2026-11-22T00:00:00Z'],
    ['UTC', '2026-11-21T00:00:00Z', '2026-11-22T00:00:00Z'],
    ['US/Eastern', '2026-11-21T04:59:59Z', '2026-11-21T05:00:00Z'],
    ['US/Eastern', '2026-11-21T05:00:00Z', '2026-11-22T05:00:00Z'],
    ['Asia/Tokyo', '2026-11-21T09:30:00Z', '2026-11-21T15:00:00Z'],
    ['Europe/Berlin', '2026-03-29T00:30:00Z', '2026-03-29T22:00:00Z'], // 23 hours
    ['Europe/Berlin', '2026-10-24T22:30:00Z', '2026-10-25T23:00:00Z'], // 25 hours
    ['Africa/Cairo', '2026-04-23T12:00:00Z', '2026-04-23T22:00:00Z'], // midnight does not exist on this day
  ])('in %s after %s is %s', (timeZone, now, midnight) => {
    expect(new Date(nextMidnight(timeZone, Date.parse(now))).toISOString()).toBe(new Date(midnight).toISOString());
  });
});

describe('the daily limit', () => {
  const at = (time: string) => {
    const clock = { nowMs: Date.parse(time) };
    return { clock, now: () => clock.nowMs };
  };

  it('stops requests until midnight of the account after HubSpot reports the limit', () => {
    const { clock, now } = at('2026-11-21T09:30:00Z');
    const daily = new DailyLimit(undefined, now);
    daily.timeZone = 'Asia/Tokyo';
    expect(daily.closedForMs()).toBe(0);
    daily.refused(undefined);
    expect(daily.closedForMs()).toBe(5.5 * 3_600_000);
    clock.nowMs += 5.5 * 3_600_000;
    expect(daily.closedForMs()).toBe(0);
  });

  it('is closed for an hour if the time zone is unknown', () => {
    const daily = new DailyLimit(undefined, at('2026-11-21T09:30:00Z').now);
    daily.timeZone = 'Atlantis/Poseidonis';
    daily.refused(undefined);
    expect(daily.closedForMs()).toBe(3_600_000);
  });

  it('stops requests for the time that HubSpot requests', () => {
    const daily = new DailyLimit(undefined, at('2026-11-21T09:30:00Z').now);
    daily.timeZone = 'Asia/Tokyo';
    daily.refused(1_800_000);
    expect([daily.closedForMs(), daily.reason]).toEqual([
      1_800_000,
      "the account's daily request limit is reached (HTTP 429)",
    ]);
  });

  it('says that delivery continues at midnight only if the time zone is known', () => {
    const daily = new DailyLimit(undefined, at('2026-11-21T09:30:00Z').now);
    daily.refused(undefined);
    expect(daily.reason).toBe("the account's daily request limit is reached (HTTP 429)");
    expect(failureCode(daily.reason)).toBe('http:429');
    daily.timeZone = 'Asia/Tokyo';
    daily.refused(undefined);
    expect(daily.reason).toMatch(/ \(HTTP 429\); delivery continues at midnight in the account's time zone$/);
  });

  it('stops requests at the configured number, and restarts the count each day', () => {
    const { clock, now } = at('2026-11-21T23:00:00Z');
    const daily = new DailyLimit(3, now);
    daily.timeZone = 'UTC';
    daily.spend();
    daily.spend();
    expect(daily.closedForMs()).toBe(0);
    daily.spend();
    expect(daily.closedForMs()).toBe(3_600_000);
    expect(daily.reason).toMatch(/^the daily request limit of this sink \(limits\.perDay\) is reached; delivery/);
    clock.nowMs += 3_600_000;
    daily.spend();
    expect(daily.closedForMs()).toBe(0);
  });

  it('stays closed until midnight after its own number, even if HubSpot requests a shorter wait', () => {
    const { clock, now } = at('2026-11-21T12:00:00Z');
    const daily = new DailyLimit(1, now);
    daily.timeZone = 'UTC';
    daily.spend();
    daily.refused(1_800_000);
    clock.nowMs += 1_800_000;
    expect(daily.closedForMs()).toBe(11.5 * 3_600_000);
    expect(daily.reason).toMatch(/^the daily request limit of this sink \(limits\.perDay\) is reached; delivery/);
    daily.reopen();
    expect(daily.closedForMs()).toBe(0);
  });

  it('does not stop requests for another day if HubSpot refuses one just after midnight', () => {
    const { clock, now } = at('2026-11-21T23:00:00Z');
    const daily = new DailyLimit(undefined, now);
    daily.timeZone = 'UTC';
    daily.refused(undefined);
    clock.nowMs += daily.closedForMs() + 500; // HubSpot's clock is a second behind
    daily.refused(undefined);
    expect(daily.closedForMs()).toBe(5 * 60_000);
    clock.nowMs += daily.closedForMs();
    daily.refused(undefined);
    expect(daily.reason).toMatch(/delivery continues at midnight/);
  });

  it('does not apply the count of yesterday to a new day', () => {
    const { clock, now } = at('2026-11-21T23:59:59Z');
    const daily = new DailyLimit(100, now);
    daily.timeZone = 'UTC';
    daily.spend();
    clock.nowMs += 2000;
    daily.spend();
    daily.learnUsed(100);
    expect(daily.closedForMs()).toBe(0);
  });

  it('includes the requests of other apps', () => {
    const daily = new DailyLimit(100, at('2026-11-21T23:00:00Z').now);
    daily.timeZone = 'UTC';
    daily.spend();
    daily.learnUsed(100);
    expect(daily.closedForMs()).toBe(3_600_000);
  });
});
