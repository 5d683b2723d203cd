import { hasPostgres } from '../postgres.js';
import { formatResult } from './report.js';
import { runChaos } from './run-chaos.js';

/** Long enough for a few kills and a dozen faults; `npm run chaos` runs longer. */
const durationMs = 25_000;
const fixedSeed = 7;
const freshSeed = Date.now() % 100_000;

/** One seed that every run has in common, and one that it has for itself, on the two stores in turn. */
describe('pigeonpost under random faults and kills', () => {
  it.each([
    { seed: fixedSeed, store: 'embedded' as const },
    { seed: freshSeed, store: hasPostgres() ? ('postgres' as const) : ('embedded' as const) },
  ])(
    'loses nothing, doubles nothing, deletes nothing falsely and leaves nothing behind (seed $seed, $store)',
    async ({ seed, store }) => {
      const lines: string[] = [];
      const result = await runChaos({ seed, durationMs, store, deletions: true, keep: false }, (line) =>
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
