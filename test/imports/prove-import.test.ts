import { hasPostgres } from '../postgres.js';
import { proveImport } from './prove-import.js';

/** `npm run import-proof` does this with 50,000 rows, five kills, and every variant of the service. */
(hasPostgres() ? describe : describe.skip)('an import by real processes with a failing service', () => {
  it('creates every registrant once and reports the truth even if its process is killed', async () => {
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
