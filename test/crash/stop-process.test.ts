import { followConference } from '../kit/follow-conference.js';
import { untilOutput } from '../kit/processes.js';
import { sleep } from '../kit/promises.js';
import { hasPostgres } from '../postgres.js';

/** Longer than the lease of a sending lane (delivering/lane-hold.ts): the other process takes the lanes over. */
const stoppedMs = 25_000;

/**
 * A process that stops running for longer than its leases last without noticing, as on a machine that is suspended or
 * moved. SIGSTOP simulates that: the clocks of the process continue, its timers and answers do not.
 */
(hasPostgres() ? describe : describe.skip)(
  'two processes on one PostgreSQL, each stopped for longer than a lease',
  () => {
    it(
      'lose nothing and duplicate nothing',
      () =>
        followConference({ seed: 9, store: 'servers' }, async (conference) => {
          const both = [conference.start('start'), conference.start('worker')];
          await untilOutput(both[0]!, /ready/);
          for (const program of both) {
            program.kill('SIGSTOP');
            await sleep(stoppedMs);
            program.kill('SIGCONT');
            await sleep(2000);
          }
        }),
      480_000,
    );
  },
);
