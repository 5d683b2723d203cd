import { hasPostgres } from '../postgres.js';
import { formatResult } from './report.js';
import { runChaos } from './run-chaos.js';

/** Long enough for three kills and seven faults of the service; `npm run chaos` runs longer. */
const durationMs = 15_000;
const store = hasPostgres() ? 'postgres' : 'embedded';

/** The same plan at every run, of the smaller conferences that are drawn; `npm run chaos` takes a fresh seed each time, on either store. */
describe('pigeonpost under random faults and kills', () => {
  it(
    `loses nothing, doubles nothing, deletes nothing falsely and leaves nothing behind (on ${store})`,
    async () => {
      const lines: string[] = [];
      const result = await runChaos({ seed: 139, durationMs, store, deletions: true, keep: false }, (line) =>
        lines.push(line),
      );
      const { isGood } = result;
      // Jest shows the difference, and so all that was planned and found.
      expect({ isGood, told: isGood ? '' : [...lines, formatResult(result)].join('\n') }).toEqual({
        isGood: true,
        told: '',
      });
    },
    12 * 60_000,
  );
});
