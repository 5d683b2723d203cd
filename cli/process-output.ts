import type { Output } from './context.js';
import { ExitCode } from './exit-code.js';
import { shownText } from './shown-text.js';

/** The output of this process. A reader that went away (`pigeonpost status | head -1`) ends it without a stack. */
export function processOutput(): Output {
  const { stdout, stderr } = process;
  for (const stream of [stdout, stderr]) stream.on('error', () => process.exit(ExitCode.Failed));
  return outputTo(stdout, stderr);
}

/** Every text that a command prints passes here, and is made safe for a terminal: also one that shows a log later. */
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
