import type { Output } from './context.js';
import { ExitCode } from './exit-code.js';

/** The output of this process. A reader that went away (`pigeonpost status | head -1`) ends it without a stack. */
export function processOutput(): Output {
  const { stdout, stderr } = process;
  for (const stream of [stdout, stderr]) stream.on('error', () => process.exit(ExitCode.Failed));
  return {
    line: (text) => void stdout.write(`${text}\n`),
    note: (text) => void stderr.write(`${text}\n`),
    draw: (text) => void stdout.write(text),
    terminal: stdout.isTTY === true,
    colours: stdout.isTTY === true && stdout.hasColors(), // which looks at NO_COLOR and TERM itself
    get columns() {
      return stdout.columns ?? 80;
    },
    get rows() {
      return stdout.rows ?? 24;
    },
  };
}
