import { followConference } from '../kit/follow-conference.js';
import { untilOutput } from '../kit/processes.js';
import { seeded, sleep } from '../kit/promises.js';
import { hasPostgres } from '../postgres.js';

/**
 * Tests the same promise for processes that share a PostgreSQL and a Temporal: a `start`, a `worker`, both, or Temporal
 * are killed at random instants. No folder lock ends the leases of a dead process here; they expire.
 */
const rounds = 5;

(hasPostgres() ? describe : describe.skip)('two processes on one PostgreSQL, killed at random instants', () => {
  it('lose nothing, duplicate nothing and leave no process behind', () => {
    const random = seeded(Number(process.env['CRASH_SEED'] ?? Date.now() % 100_000));
    return followConference({ seed: 6, store: 'servers' }, async (conference) => {
      const running = { start: conference.start('start'), worker: conference.start('worker') };
      await untilOutput(running.start, /ready/);
      for (let round = 0; round < rounds; round += 1) {
        await sleep(300 + random() * 2000);
        const victim = (['start', 'worker', 'both', 'temporal'] as const)[Math.floor(random() * 4)];
        if (victim === 'temporal') conference.killTemporal();
        for (const role of ['start', 'worker'] as const) {
          if (victim !== role && victim !== 'both') continue;
          await conference.kill(running[role]);
          running[role] = conference.start(role);
        }
      }
    });
  }, 480_000);
});
