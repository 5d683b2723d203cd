import { HandTimers } from '../test/kit/hand-timers.js';
import { Outages } from './outages.js';

const problem = 'the connection could not be opened';
const error = {
  path: '/v2/pigeonholes',
  message: `GET /v2/pigeonholes: ${problem}`,
  problem,
  status: null,
  requestId: null,
};
const minute = 60_000;

function watched(notes: string[] = [], reasons: string[] = []) {
  let now = 1_000_000;
  const timers = new HandTimers();
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
    {
      now: () => now,
      wallNow: () => Date.parse('2026-11-21T09:57:00Z') + now - 1_000_000,
      after: timers.after,
    },
  );
  return {
    outages,
    lines,
    pass: (ms: number): void => {
      now += ms;
      timers.pass(ms);
    },
    fail: async (times: number, everyMs = 1000, tookMs = 0, lists = 2): Promise<void> => {
      for (let n = 0; n < times; n += 1) {
        await outages.failed('acme', { ...error, path: `/v2/list-${n % lists}` }, now - tookMs);
        now += everyMs;
      }
    },
  };
}

describe('a service that does not answer', () => {
  it('is not down after failures of requests that were in progress at the same time, whatever their number', async () => {
    const { outages, lines, fail } = watched();
    await fail(1);
    await fail(40, 10, 2000);
    expect(outages.isDown('acme')).toBe(false);
    await outages.answered('acme');
    await fail(2);
    expect([outages.isDown('acme'), lines]).toEqual([false, []]);
  });

  it('is down after three failures in a row', async () => {
    const notes: string[] = [];
    const { outages, fail } = watched(notes);
    await fail(3, 1500);
    expect([outages.isDown('acme'), outages.down(), notes]).toEqual([true, ['acme'], ['acme silent for 3 s']]);
  });

  it('is not down because one list fails again and again, which is then its own failure', async () => {
    const { outages, fail } = watched();
    await fail(2, 1500, 0, 1);
    expect(outages.mayBegin('acme', 2)).toBe(true);
    await fail(20, 1500, 0, 1);
    expect([outages.isDown('acme'), outages.mayBegin('acme', 3)]).toEqual([false, false]);
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

  it('is down when a request has no response for 5 s, and no longer after an answer', async () => {
    const notes: string[] = [];
    const { outages, pass } = watched(notes);
    outages.sent('acme');
    pass(4999);
    expect(outages.isDown('acme')).toBe(false);
    pass(1);
    expect([outages.isDown('acme'), notes]).toEqual([true, ['acme silent for 5 s']]);
    await outages.answered('acme');
    expect([outages.isDown('acme'), outages.wasDownLately('acme')]).toEqual([false, true]);
  });

  it.each<[string, (outages: Outages, ended: () => void) => Promise<void> | void]>([
    ['if another request was answered since it was sent', (outages) => outages.answered('acme')],
    ['if it has ended', (_, ended) => ended()],
  ])('is not down because of a request without a response for 5 s %s', async (_, meanwhile) => {
    const { outages, pass } = watched();
    const ended = outages.sent('acme');
    pass(1000);
    await meanwhile(outages, ended);
    pass(60_000);
    expect(outages.isDown('acme')).toBe(false);
  });

  it('is not down because the process was suspended: it reads the responses that have arrived before it judges', async () => {
    const { outages, pass } = watched();
    const ended = outages.sent('acme');
    pass(4500); // the timer may fire much later, and before the response is read
    ended();
    await outages.answered('acme');
    pass(60_000);
    expect(outages.isDown('acme')).toBe(false);
  });

  it('is logged once when it goes down and once when it is back', async () => {
    const { outages, lines, fail, pass } = watched();
    await fail(500);
    expect(outages.isDown('acme')).toBe(true);
    expect(outages.isDown('other')).toBe(false);
    await outages.answered('acme');
    await outages.answered('acme');
    expect(lines).toEqual([
      'The service has not answered workspace acme since 2026-11-21 09:57 UTC 3',
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

  it('is not logged again while it lasts', async () => {
    const { lines, fail } = watched();
    await fail(24 * 60, minute);
    expect(lines).toHaveLength(1);
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
    const { fail, pass } = watched(notes);
    pass(30_000);
    await fail(1, 1, 30_000);
    await fail(2, 1);
    expect(notes).toEqual(['acme silent for 30.002 s']);
  });

  it('is not down since before its last answer, although requests fail that were sent before it', async () => {
    const notes: string[] = [];
    const { outages, fail, pass } = watched(notes);
    pass(30_000);
    await outages.answered('acme');
    await fail(1, 1, 30_000);
    expect(outages.isDown('acme')).toBe(false);
    await fail(2, 1);
    expect(notes).toEqual(['acme answers', 'acme silent for 0.002 s']);
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
