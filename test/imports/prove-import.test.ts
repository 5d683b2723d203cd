import { hasPostgres } from '../postgres.js';
import { proveImport } from './prove-import.js';

/** `npm run import-proof` does this with 50,000 rows, five kills, and every manner of a service. */
(hasPostgres() ? describe : describe.skip)('an import by real processes, over a service that fails', () => {
  it('has every registrant once and a true report, although its process is killed on the way', async () => {
    const lines: string[] = [];
    const proof = await proveImport(
      {
        rows: 1200,
        badEvery: 400,
        knobs: { registrantMaxBatch: 50, registrantAtomicity: 'partial' },
        faults: [
          { kind: 'error', code: 5000, everyNth: 17, path: 'bulk' },
          { kind: 'dropAfter', everyNth: 23, path: 'bulk' },
        ],
        quota: null,
        kills: ['worker'],
        latencyMs: 60,
        timeoutMs: 240_000,
      },
      (line) => void lines.push(line),
    );
    expect({ wrong: proof.wrong, kills: proof.kills, told: proof.wrong.length === 0 ? [] : lines }).toEqual({
      wrong: [],
      kills: 1,
      told: [],
    });
  });
});
