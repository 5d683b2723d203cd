import { hasPostgres } from '../postgres.js';
import { formatResult } from './report.js';
import { runChaos } from './run-chaos.js';

/** Long enough for three kills and seven faults of the service in either plan; `npm run chaos` runs longer. */
const durationMs = 15_000;

/** The same two plans at every run, one on each store, of the smaller conferences that are drawn; `npm run chaos` takes a fresh seed each time. */
describe('pigeonpost under random faults and kills', () => {
  it.each([
    { seed: 186, store: 'embedded' as const },
    { seed: 139, store: hasPostgres() ? ('postgres' as const) : ('embedded' as const) },
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
