import { parseArgs } from 'node:util';

/** Settings of a double that runs from the command line. */
export interface DoubleArguments {
  /** 0 picks a free port. */
  readonly port: number;
  /** The only accepted token, instead of the double's default. */
  readonly token?: string;
  /** Number of requests allowed in ten seconds, instead of the vendor's limits. */
  readonly per10s?: number;
}

/** Flags of a double other than `--port`. */
export type DoubleOption = Exclude<keyof DoubleArguments, 'port'>;

/**
 * Runs a double as a program: `--port <number>` (a free one by default), and whichever of `--token <text>` and
 * `--per10s <number>` the double supports. Prints one line, `<name> ready at <url>`, once it answers, and ends at
 * SIGTERM or SIGINT. Exit codes: 0 stopped, 1 failed, 2 wrong usage.
 */
export function runDouble(
  name: string,
  start: (options: DoubleArguments) => Promise<{ readonly url: string; close(): Promise<void> }>,
  known: readonly DoubleOption[] = [],
): void {
  const given = readArguments(known);
  if (given === undefined || given === 'help') {
    const options = ['--port, a number from 0 to 65535', ...known.map((option) => meanings[option])];
    const output = given === 'help' ? process.stdout : process.stderr;
    output.write(`${name}: it accepts ${options.join('; ')}\n`);
    process.exitCode = given === 'help' ? 0 : 2;
    return;
  }
  start(given)
    .then((double) => {
      const end = (): void => {
        double.close().catch((error: unknown) => fail(name, error));
      };
      process.once('SIGTERM', end).once('SIGINT', end);
      process.stdout.write(`${name} ready at ${double.url}\n`);
    })
    .catch((error: unknown) => fail(name, error));
}

const meanings: Readonly<Record<DoubleOption, string>> = {
  token: '--token, a text',
  per10s: '--per10s, a number of requests from 1',
};

/** Returns undefined for an unknown option or an invalid value. */
function readArguments(known: readonly DoubleOption[]): DoubleArguments | 'help' | undefined {
  if (process.argv.slice(2).some((argument) => argument === '--help' || argument === '-h')) return 'help';
  const own = Object.fromEntries(known.map((option) => [option, { type: 'string' as const }]));
  let values: Readonly<Record<string, string | undefined>>;
  try {
    ({ values } = parseArgs({ options: { port: { type: 'string', default: '0' }, ...own } }));
  } catch {
    return undefined;
  }
  const { token } = values;
  const port = wholeNumber(values['port'] ?? '0', 0, 65_535);
  const per10s = values['per10s'] === undefined ? undefined : wholeNumber(values['per10s'], 1, 1_000_000);
  if (port === undefined || token === '' || (values['per10s'] !== undefined && per10s === undefined)) return undefined;
  return { port, ...(token !== undefined && { token }), ...(per10s !== undefined && { per10s }) };
}

function wholeNumber(text: string, least: number, most: number): number | undefined {
  const value = Number(text);
  return /^\d+$/.test(text) && value >= least && value <= most ? value : undefined;
}

function fail(name: string, error: unknown): void {
  process.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
