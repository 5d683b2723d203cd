import { HindranceMemory, latenessMs, type ListReading } from './lateness.js';
import { listReading as list, minute, now, secondsAgo } from './list-reading.test-kit.js';

describe('the lateness of a list', () => {
  it.each<[string, Partial<ListReading>, number]>([
    ['is 0 within 15 s after its interval', { readAt: secondsAgo(20) }, 0],
    ['is measured from its interval of 5 s once another 15 s have passed', { readAt: secondsAgo(21) }, 16_000],
    ['is 0 until a second interval of 1 min has passed', { everyMs: minute, readAt: secondsAgo(120) }, 0],
    [
      'is measured from a long interval once another 5 min have passed',
      { everyMs: 360 * minute, reason: 'ended', readAt: secondsAgo(365 * 60 + 1) },
      301_000,
    ],
    [
      'is measured from its interval even if a failed read is retried later',
      { readAt: secondsAgo(60), dueAt: secondsAgo(-300) },
      55_000,
    ],
    [
      'is measured from its due time before the first read',
      { everyMs: null, reason: null, readAt: null, dueAt: secondsAgo(30) },
      30_000,
    ],
    ['is 0 once the list is no longer read', { reason: 'dormant', everyMs: minute, readAt: secondsAgo(9e6) }, 0],
  ])('%s', (_, given, lateMs) => {
    expect(latenessMs(list(given), now)).toBe(lateMs);
  });
});

describe('the end of a hindrance', () => {
  /** Notes a hindrance of this length, then returns the state of a list of 5 s that was last read `before` it. */
  const stateAfter = (hinderedMs: number, before: number, ...passedMs: readonly number[]): string[] => {
    let nowMs = 0;
    const memory = new HindranceMemory(() => nowMs);
    for (; nowMs < hinderedMs; nowMs += 5000) {
      expect(memory.note('acme/101', 0)).toEqual([]);
    }
    nowMs = hinderedMs;
    memory.note('acme/101', null);
    return passedMs.map((passed) => {
      nowMs = hinderedMs + passed;
      const hindrances = memory.note('acme/101', null);
      expect(memory.over('acme/101')).toEqual(hindrances);
      const each = list({ readAt: secondsAgo((before + nowMs) / 1000) });
      return latenessMs(each, now, { hindrances }) > 0 ? 'late' : 'current';
    });
  };

  it('gives every list two minutes to be read before it is late', () => {
    const states = stateAfter(30 * minute, 60 * minute, 5000, 115_000, 120_000, 125_000);
    expect(states).toEqual(['current', 'current', 'late', 'late']);
  });

  it('gives a list that was in time before a short one the time that it has for each read', () => {
    expect(stateAfter(minute, 4000, 1000, 14_000, 17_000)).toEqual(['current', 'current', 'late']);
  });

  it('still gives every list two minutes if a short one follows', () => {
    const hindrances = [
      { startedMsAgo: 31 * minute, endedMsAgo: minute },
      { startedMsAgo: 50_000, endedMsAgo: 45_000 },
    ];
    const each = list({ readAt: secondsAgo(60 * 60) });
    expect(latenessMs(each, now, { hindrances })).toBe(0);
  });

  it('delays nothing for a list that was late before a short one', () => {
    expect(stateAfter(minute, 60 * minute, 1000)).toEqual(['late']);
  });

  it('cannot hide a list that is never read, even if there are many', () => {
    let nowMs = 0;
    const memory = new HindranceMemory(() => nowMs);
    const stateNow = (hinderedMs: number | null): string => {
      const hindrances = memory.note('acme/101', hinderedMs);
      return latenessMs(list({ readAt: secondsAgo(nowMs / 1000) }), now, { hindrances }) > 0 ? 'late' : 'current';
    };
    for (; nowMs < minute; nowMs += 10_000) {
      stateNow(0);
      nowMs += 5000;
      stateNow(null);
    }
    expect(stateNow(null)).toBe('late');
  });

  it('uses the start that the ledger knows', () => {
    let nowMs = 60_000;
    const memory = new HindranceMemory(() => nowMs);
    memory.note('acme/101', 9000);
    nowMs = 70_000;
    expect(memory.note('acme/101', null)).toEqual([{ startedMsAgo: 19_000, endedMsAgo: 0 }]);
  });

  it('affects only the pigeonhole that was hindered', () => {
    const memory = new HindranceMemory(() => 0);
    memory.note('acme/101', 0);
    expect(memory.note('acme/102', null)).toEqual([]);
  });
});
