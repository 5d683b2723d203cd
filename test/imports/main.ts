import { parseArgs } from 'node:util';
import { proveImport } from './prove-import.js';

const duplicates = ['refuse-row', 'refuse-chunk', 'ignore', 'upsert'] as const;
const atomicities = ['all-or-nothing', 'partial'] as const;

/** Finds 300 bad rows of 30,000 without positions in the errors, with at most 12 requests for each. */
async function findBadRows(): Promise<boolean> {
  const proof = await proveImport(
    {
      rows: 30_000,
      badEvery: 100,
      knobs: { registrantErrors: 'none' },
      faults: [],
      quota: null,
      kills: [],
      latencyMs: 0,
      timeoutMs: 15 * 60_000,
    },
    (line) => process.stdout.write(`  ${line}\n`),
  );
  const each = proof.requests / 300;
  process.stdout.write(`300 bad rows of 30,000: ${each.toFixed(1)} requests each\n  ${JSON.stringify(proof)}\n`);
  return proof.wrong.length === 0 && each <= 12;
}

const usage = `usage: npm run import-proof -- [--rows N] [--duplicates ${duplicates.join('|')}] [--atomicity ${atomicities.join('|')}] [--help]`;

/**
 * `npm run import-proof`: an import of 50,000 rows over a service that loses answers and whose quota runs out, with
 * five kills, for each way in which a service may treat duplicates and bad rows. Exit codes: 0 every import is correct,
 * 1 at least one is not, 2 invalid arguments.
 */
async function main(): Promise<number> {
  const values = readOptions();
  if (typeof values === 'string') {
    process.stderr.write(`${values}\n${usage}\n`);
    return 2;
  }
  if (values.help) {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  const { rows } = values;
  let isGood = values.duplicates !== undefined || (await findBadRows());
  for (const registrantAtomicity of atomicities) {
    if (values.atomicity !== undefined && values.atomicity !== registrantAtomicity) continue;
    for (const registrantDuplicates of duplicates) {
      if (values.duplicates !== undefined && values.duplicates !== registrantDuplicates) continue;
      process.stdout.write(`${registrantAtomicity}, duplicates: ${registrantDuplicates}\n`);
      // A chunk that is refused for duplicates is sent row by row. With thousands of requests, the number of used-up
      // quotas would depend on the speed of the machine, so the quota is small and is lifted after it was used up three
      // times.
      const quota =
        registrantDuplicates === 'refuse-chunk'
          ? { limit: 20, windowSeconds: 10, times: 3 }
          : { limit: Math.ceil(rows / 1000 / 5), windowSeconds: 10, times: null };
      const proof = await proveImport(
        {
          rows,
          badEvery: registrantDuplicates === 'refuse-chunk' ? 0 : 500,
          knobs: { registrantAtomicity, registrantDuplicates },
          faults: [
            { kind: 'error', code: 5000, rate: 0.02, path: 'bulk' },
            { kind: 'dropAfter', rate: 0.02, path: 'bulk' },
            // With few requests, a share may affect none, so these faults are certain.
            { kind: 'errorAfter', code: 5000, skip: 10, next: 1, path: 'bulk' },
            { kind: 'dropAfter', skip: 20, next: 1, path: 'bulk' },
          ],
          quota,
          kills: ['worker', 'temporal', 'worker', 'temporal', 'worker'],
          latencyMs: registrantDuplicates === 'refuse-chunk' ? 5 : 150,
          timeoutMs: 15 * 60_000,
        },
        (line) => process.stdout.write(`  ${line}\n`),
      );
      process.stdout.write(`  ${JSON.stringify(proof)}\n`);
      isGood &&= proof.wrong.length === 0;
    }
  }
  return isGood ? 0 : 1;
}

interface ProofOptions {
  readonly rows: number;
  readonly duplicates: string | undefined;
  readonly atomicity: string | undefined;
  readonly help: boolean;
}

/** Returns the options or a usage error. */
function readOptions(): ProofOptions | string {
  try {
    const { values } = parseArgs({
      options: {
        rows: { type: 'string', default: '50000' },
        duplicates: { type: 'string' },
        atomicity: { type: 'string' },
        help: { type: 'boolean', default: false, short: 'h' },
      },
    });
    const rows = Number(values.rows);
    if (!Number.isSafeInteger(rows) || rows < 1) return '--rows must be a whole number of 1 or more';
    const unknown = (list: readonly string[], value: string | undefined): boolean =>
      value !== undefined && !list.includes(value);
    if (unknown(duplicates, values.duplicates)) return `--duplicates must be one of ${duplicates.join(', ')}`;
    if (unknown(atomicities, values.atomicity)) return `--atomicity must be one of ${atomicities.join(', ')}`;
    return { rows, duplicates: values.duplicates, atomicity: values.atomicity, help: values.help };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`import-proof: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  },
);
