import { parseArgs } from 'node:util';

/**
 * Runs a double as a program: `--port <number>` (a free one by default). Prints one line, `<name> ready at <url>`, once it
 * answers, and ends at SIGTERM or SIGINT. Exit codes: 0 ended, 1 failed, 2 wrong use.
 */
export function runDouble(
  name: string,
  start: (options: { port: number }) => Promise<{ readonly url: string; close(): Promise<void> }>,
): void {
  const port = readPort();
  if (port === undefined) {
    process.stderr.write(`${name}: the only option is --port, a number from 0 to 65535\n`);
    process.exitCode = 2;
    return;
  }
  start({ port })
    .then((double) => {
      const end = (): void => {
        double.close().catch((error: unknown) => fail(name, error));
      };
      process.once('SIGTERM', end).once('SIGINT', end);
      process.stdout.write(`${name} ready at ${double.url}\n`);
    })
    .catch((error: unknown) => fail(name, error));
}

function readPort(): number | undefined {
  try {
    const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } });
    const port = Number(values.port);
    return /^\d+$/.test(values.port) && port <= 65_535 ? port : undefined;
  } catch {
    return undefined; // an option it does not know
  }
}

function fail(name: string, error: unknown): void {
  process.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
