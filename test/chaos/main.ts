import { parseArgs } from 'node:util';
import { hasPostgres } from '../postgres.js';
import type { Store } from './plan.js';
import { formatResult, formatRows } from './report.js';
import { type ChaosResult, runChaos } from './run-chaos.js';

const usage =
  'usage: npm run chaos -- [--seed N] [--minutes M] [--count N] [--store embedded|postgres] [--no-deletions] [--keep] [--help]';

/** `npm run chaos`: runs one or several seeds. Exit codes: 0 all promises kept, 1 not, 2 invalid arguments. */
async function main(): Promise<number> {
  const options = readOptions();
  if (options === 'help') {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  if (typeof options === 'string') {
    process.stderr.write(`${options}\n${usage}\n`);
    return 2;
  }
  const results: ChaosResult[] = [];
  for (let seed = options.seed; seed < options.seed + options.count; seed += 1) {
    const result = await runChaos({ ...options, seed }, (line) => process.stdout.write(`${line}\n`));
    process.stdout.write(`${formatResult(result)}\n\n`);
    results.push(result);
  }
  if (results.length > 1) process.stdout.write(`${formatRows(results)}\n`);
  return results.every(({ isGood }) => isGood) ? 0 : 1;
}

interface MainOptions {
  readonly seed: number;
  readonly durationMs: number;
  readonly count: number;
  readonly store: Store | 'any';
  readonly deletions: boolean;
  readonly keep: boolean;
}

function readOptions(): MainOptions | string {
  try {
    const { values } = parseArgs({
      options: {
        seed: { type: 'string', default: String(Date.now() % 100_000) },
        minutes: { type: 'string', default: '2' },
        count: { type: 'string', default: '1' },
        store: { type: 'string' },
        'no-deletions': { type: 'boolean', default: false },
        keep: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false, short: 'h' },
      },
    });
    const [seed, minutes, count] = [Number(values.seed), Number(values.minutes), Number(values.count)];
    if (!Number.isSafeInteger(seed) || seed < 0) return '--seed must be a whole number of 0 or more';
    if (!(minutes > 0 && minutes <= 600)) return '--minutes must be a number above 0, up to 600';
    if (!Number.isSafeInteger(count) || count < 1) return '--count must be a whole number of 1 or more';
    const store = values.store ?? (hasPostgres() ? 'any' : 'embedded');
    if (store !== 'embedded' && store !== 'postgres' && store !== 'any') return '--store must be embedded or postgres';
    if (values.help) return 'help';
    return {
      seed,
      durationMs: minutes * 60_000,
      count,
      store,
      deletions: !values['no-deletions'],
      keep: values.keep,
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

main().then(
  (exitCode) => process.exit(exitCode),
  (error: unknown) => {
    process.stderr.write(`chaos: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
