import { Outages } from './outages.js';

const problem = 'the connection could not be opened';
const error = { message: `GET /v2/pigeonholes: ${problem}`, problem, status: null, requestId: null };
const minute = 60_000;

function watched(notes: string[] = [], reasons: string[] = []) {
  let now = 1_000_000;
  const lines: string[] = [];
  const write = (facts: Readonly<Record<string, unknown>>, event: string): void =>
    void lines.push(`${event} ${String(facts['failures'])}`);
  const outages = new Outages(
    { debug: write, info: write, warn: write, error: write },
    {
      unanswered: async (workspace, { forMs, reason }) => {
        notes.push(`${workspace} silent for ${forMs / 1000} s`);
        reasons.push(reason);
      },
      answering: async (workspace) => void notes.push(`${workspace} answers`),
    },
    () => now,
    () => Date.parse('2026-11-21T09:57:00Z') + now - 1_000_000,
  );
  return {
    outages,
    lines,
    pass: (ms: number): void => {
      now += ms;
    },
    fail: async (times: number, everyMs = 1000, tookMs = 0): Promise<void> => {
      for (let n = 0; n < times; n += 1) {
        await outages.failed('acme', error, now - tookMs);
        now += everyMs;
      }
    },
  };
}

describe('a service that does not answer', () => {
  it('is not down after failures within less than 3 s, whatever their number', async () => {
    const { outages, lines, fail } = watched();
    await fail(2);
    await fail(40, 10);
    expect([outages.isDown('acme'), outages.isSuspected('acme')]).toEqual([false, true]);
    await outages.answered('acme');
    expect(outages.isSuspected('acme')).toBe(false);
    await fail(2, 5000);
    expect(lines).toEqual([]);
  });

  it('is down after three failures within 3 s or more', async () => {
    const notes: string[] = [];
    const { outages, fail } = watched(notes);
    await fail(3, 1500);
    expect([outages.isDown('acme'), notes]).toEqual([true, ['acme silent for 3 s']]);
  });

  it('is recorded with a reason that does not depend on the failed request', async () => {
    const reasons: string[] = [];
    const { fail } = watched([], reasons);
    await fail(4, 1500);
    expect(new Set(reasons)).toEqual(new Set([problem]));
  });

  it('may begin with the failures of a stream until another request is answered or the outage is certain', async () => {
    const { outages, fail } = watched();
    expect(outages.mayBegin('acme', 1)).toBe(false);
    await fail(1);
    expect([outages.mayBegin('acme', 1), outages.mayBegin('beta', 1)]).toEqual([true, false]);
    await outages.answered('acme');
    await fail(1); // the second failure of the stream; another stream was answered in between
    expect(outages.mayBegin('acme', 2)).toBe(false);
    await fail(3, 1500);
    expect([outages.isDown('acme'), outages.mayBegin('acme', 4)]).toEqual([true, false]);
  });

  it('is down when requests in progress show it, and no longer after an answer', async () => {
    const notes: string[] = [];
    const { outages, pass } = watched(notes);
    const sentAt = 1_000_000;
    pass(5000);
    await outages.silent('acme', error, sentAt);
    expect([outages.isDown('acme'), notes]).toEqual([true, ['acme silent for 5 s']]);
    await outages.answered('acme');
    expect([outages.isDown('acme'), outages.wasDownLately('acme')]).toEqual([false, true]);
  });

  it('is logged once when it goes down and once when it is back', async () => {
    const { outages, lines, fail, pass } = watched();
    await fail(500);
    expect(outages.isDown('acme')).toBe(true);
    expect(outages.isDown('other')).toBe(false);
    await outages.answered('acme');
    await outages.answered('acme');
    expect(lines).toEqual([
      'The service has not answered workspace acme since 2026-11-21 09:57 UTC 4',
      'The service answers workspace acme again 500',
    ]);
    expect([outages.isDown('acme'), outages.wasDownLately('acme'), outages.wasDownLately('other')]).toEqual([
      false,
      true,
      false,
    ]);
    pass(10 * minute);
    expect(outages.wasDownLately('acme')).toBe(false);
  });

  it('is logged five times a day', async () => {
    const { lines, fail } = watched();
    await fail(24 * 60, minute);
    expect(lines).toHaveLength(5); // immediately, and after 1, 3, 7 and 15 hours
  });

  it('causes no additional log lines if the service answers occasionally', async () => {
    const { outages, lines, fail } = watched();
    for (let n = 0; n < 60; n += 1) {
      await fail(10, 6000); // for an hour, ten requests fail in each minute, and the next is answered
      await outages.answered('acme');
    }
    expect(lines.length).toBeLessThanOrEqual(14);
  });

  it('is down since the first of its requests that had no answer was sent', async () => {
    const notes: string[] = [];
    const { outages, fail, pass } = watched(notes);
    await outages.answered('acme');
    pass(30_000);
    await fail(2, 0, 30_000);
    expect([outages.isDown('acme'), notes]).toEqual([false, ['acme answers']]);
    await fail(1, 0, 30_000);
    expect([outages.isDown('acme'), notes]).toEqual([true, ['acme answers', 'acme silent for 30 s']]);
  });

  it('is not down when requests fail that were sent before its last answer', async () => {
    const { outages, fail, pass } = watched();
    pass(30_000);
    await outages.answered('acme');
    await fail(3, 10, 30_000);
    expect(outages.isDown('acme')).toBe(false);
  });

  it('is recorded as answering at most once a minute, because another process may have recorded an outage', async () => {
    const notes: string[] = [];
    const { outages, pass } = watched(notes);
    for (let n = 0; n < 4; n += 1) {
      await outages.answered('acme');
      pass(30_000);
    }
    expect(notes).toEqual(['acme answers', 'acme answers']);
  });
});
