import type { Output } from './context.js';
import { ExitCode } from './exit-code.js';
import { shownText } from './shown-text.js';

/** The output of this process. A closed pipe (`pigeonpost status | head -1`) ends the process without a stack trace. */
export function processOutput(): Output {
  const { stdout, stderr } = process;
  for (const stream of [stdout, stderr]) stream.on('error', () => process.exit(ExitCode.Failed));
  return outputTo(stdout, stderr);
}

/** Makes every printed text safe for a terminal, including one that shows a log file later. */
export function outputTo(stdout: NodeJS.WriteStream, stderr: Pick<NodeJS.WriteStream, 'write'>): Output {
  const colours = stdout.isTTY === true && stdout.hasColors(); // which checks NO_COLOR and TERM itself
  return {
    line: (text) => void stdout.write(`${shownText(text, { colours })}\n`),
    note: (text) => void stderr.write(`${shownText(text, { colours: false })}\n`),
    draw: (text) => void stdout.write(text),
    terminal: stdout.isTTY === true,
    colours,
    get columns() {
      return stdout.columns ?? 80;
    },
    get rows() {
      return stdout.rows ?? 24;
    },
  };
}
