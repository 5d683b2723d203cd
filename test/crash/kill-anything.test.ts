import { followConference } from '../kit/follow-conference.js';
import { untilOutput } from '../kit/processes.js';
import { seeded, sleep } from '../kit/promises.js';

/**
 * Tests the promise "once" with real processes and live inserts and edits: kill -9 of the parent, of Temporal, or of
 * both at random instants. The seed of the instants is printed, so that a failure can be repeated as far as clocks
 * allow.
 */
const rounds = 5;

describe('a pigeonpost killed at random instants', () => {
  it('loses nothing, duplicates nothing and leaves no process behind', () => {
    const random = seeded(Number(process.env['CRASH_SEED'] ?? Date.now() % 100_000));
    return followConference({ seed: 5, store: 'embedded' }, async (conference) => {
      let main = conference.start('start');
      await untilOutput(main, /ready/);
      for (let round = 0; round < rounds; round += 1) {
        await sleep(200 + random() * 2500);
        const victim = (['parent', 'temporal', 'both'] as const)[Math.floor(random() * 3)];
        if (victim !== 'parent') conference.killTemporal();
        if (victim !== 'temporal') {
          await conference.kill(main);
          main = conference.start('start');
          // Sometimes it is killed again before it is ready, sometimes after.
          if (random() < 0.7) await untilOutput(main, /ready/);
        }
      }
      await untilOutput(main, /ready/);
    });
  }, 480_000);
});
