import { hasPostgres } from '../postgres.js';
import { formatResult } from './report.js';
import { runChaos } from './run-chaos.js';

/** Long enough for three kills and seven faults of the service; `npm run chaos` runs longer. */
const durationMs = 15_000;
const store = hasPostgres() ? 'postgres' : 'embedded';

/**
 * Runs the same plan each time, with a small conference. `npm run chaos` uses a new seed each time, on either store.
 */
describe('pigeonpost under random faults and kills', () => {
  it(
    `loses nothing, duplicates nothing, reports no false deletion and leaves no process behind (on ${store})`,
    async () => {
      const lines: string[] = [];
      const result = await runChaos({ seed: 139, durationMs, store, deletions: true, keep: false }, (line) =>
        lines.push(line),
      );
      const { isGood } = result;
      // Jest shows the difference, which contains the plan and the findings.
      expect({ isGood, told: isGood ? '' : [...lines, formatResult(result)].join('\n') }).toEqual({
        isGood: true,
        told: '',
      });
    },
    12 * 60_000,
  );
});
