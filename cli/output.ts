import { ExitCode } from './exit-code.js';
import { shownLine, shownText, paint, type Style, widthOf, wrapText } from './text-line.js';

export interface Output {
  /**
   * One line of results: standard output. On a terminal, a sentence that is longer than a line is wrapped between words.
   * A line end in the text is escaped.
   */
  line(text: string): void;
  /** One line of progress, or a problem: standard error. Wrapped and escaped like `line`. */
  note(text: string): void;
  /** Writes to standard output unchanged, for a block that is redrawn in place. Only if `terminal` is true. */
  draw(text: string): void;
  /** Standard output is a terminal, so that a block can be redrawn in place. */
  readonly terminal: boolean;
  /** The terminal shows colours and NO_COLOR is not set. */
  readonly colours: boolean;
  /** Current width of the terminal, which can be resized; 80 if there is none. */
  readonly columns: number;
  /** Current height of the terminal; 24 if there is none. */
  readonly rows: number;
}

/** The output of this process. A closed pipe (`pigeonpost status | head -1`) ends the process without a stack trace. */
export function processOutput(): Output {
  const { stdout, stderr } = process;
  for (const stream of [stdout, stderr]) stream.on('error', () => process.exit(ExitCode.Failed));
  return outputTo(stdout, stderr);
}

/**
 * Returns an output that makes every printed text safe for a terminal, also for one that shows the text later from a
 * log file.
 */
export function outputTo(
  stdout: NodeJS.WriteStream,
  stderr: Pick<NodeJS.WriteStream, 'write'> & Partial<Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>>,
): Output {
  const colours = stdout.isTTY === true && stdout.hasColors(); // `hasColors` checks NO_COLOR and TERM
  return {
    line: (text) => void stdout.write(`${wrapped(shownLine(text, { colours }), stdout)}\n`),
    note: (text) => void stderr.write(`${wrapped(shownLine(text, { colours: false }), stderr)}\n`),
    draw: (text) => void stdout.write(text),
    terminal: stdout.isTTY === true,
    colours,
    get columns() {
      return columnsOf(stdout);
    },
    get rows() {
      return stdout.rows || 24;
    },
  };
}

/** Returns the width of a terminal. If its size is not set, as in some containers, it has 0 columns and 0 rows. */
export function columnsOf({ columns }: { readonly columns?: number | undefined }): number {
  return columns || 80;
}

/** JSON, a row of a table, and a text that is coloured or has several lines: their spaces and ends have a meaning. */
const notSentence = /^\s*[[\]{}"]|\S {2,}\S|\p{Cc}/u;

/** Wraps a sentence for a terminal. Other texts, and texts for other programs, stay as they are. */
function wrapped(text: string, stream: Partial<Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>>): string {
  if (stream.isTTY !== true || notSentence.test(text)) return text;
  return wrappedLines(text, columnsOf(stream)).join('\n');
}

function wrappedLines(text: string, columns: number): string[] {
  if (widthOf(text) <= columns) return [text];
  const lead = /^ */.exec(text)![0];
  return wrapText(text, { columns, lead, indent: lead.length + 4 });
}

/** Prints the message of an error as notes: the problems of a configuration are one message of several lines. */
export function noteMessage(out: Pick<Output, 'note'>, message: string): void {
  for (const line of message.split('\n')) out.note(line);
}

/** Prints the result of a command: one JSON document with `--json`, otherwise lines. @returns Done */
export function printResult(
  out: Pick<Output, 'line'>,
  json: boolean,
  result: unknown,
  lines: string | readonly string[],
): ExitCode {
  if (json) out.line(JSON.stringify(result));
  else for (const line of typeof lines === 'string' ? [lines] : lines) out.line(line);
  return ExitCode.Done;
}

/**
 * Prints a line that may have columns. On a terminal that is narrower than the line, wraps it between words and indents
 * the continuation; output for other programs stays on one line.
 */
export function printLine(out: Pick<Output, 'line' | 'terminal' | 'columns'>, text: string): void {
  for (const line of out.terminal ? wrappedLines(text, out.columns) : [text]) out.line(line);
}

/** Prints the first items of a long list as `printResult` does, and whether there are more. @returns Done */
export function printList(
  out: Pick<Output, 'line' | 'note' | 'terminal' | 'columns'>,
  json: boolean,
  found: { readonly items: readonly unknown[]; readonly more: boolean },
  lines: string | readonly string[],
): ExitCode {
  if (json) return printResult(out, json, found, []);
  for (const line of typeof lines === 'string' ? [lines] : lines) printLine(out, line);
  if (found.more) out.note('there are more: raise --limit to show them');
  return ExitCode.Done;
}

const labelWidth = 8;

/**
 * Prints a label and a text in two columns. On a terminal, the text is wrapped between words within its column.
 */
export function printLabelled(
  out: Pick<Output, 'line' | 'terminal' | 'columns' | 'colours'>,
  [label, style]: readonly [label: string, style: Style],
  text: string,
): void {
  const { terminal, columns, colours } = out;
  const lead = label.padEnd(labelWidth);
  const lines = terminal ? wrapText(text, { columns, lead }) : [`${lead}${text}`];
  for (const [index, line] of lines.entries()) {
    out.line(index === 0 ? `${paint(label, style, colours)}${line.slice(label.length)}` : line);
  }
}

/** Delay before the name of the work is shown. */
const shownAfterMs = 1000;

/**
 * Waits for work that may take long. Meanwhile, shows its name and the seconds so far on a terminal, and removes the
 * line at the end. Standard output is reserved for the result.
 */
export async function whileWaiting<Result>(
  what: string,
  work: () => Promise<Result>,
  screen: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr,
): Promise<Result> {
  if (!screen.isTTY) return await work();
  const startedAt = performance.now();
  let isShown = false;
  const timer = setInterval(() => {
    isShown = true;
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    screen.write(`\r\x1b[2K${shownText(what, { colours: false })}… ${seconds} s`);
  }, shownAfterMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    if (isShown) screen.write('\r\x1b[2K');
  }
}

/** The part of `Output` that a block needs. */
type BlockOutput = Pick<Output, 'draw' | 'columns' | 'rows'>;

const home = '\u001b[H';
const clearScreen = `\u001b[2J${home}`;
const clearToLineEnd = '\u001b[K';
const clearBelow = '\u001b[J';

/**
 * A block of lines that is redrawn in place. Each redraw is one write that overwrites every line and clears only the
 * rest of old lines, so that nothing flickers.
 */
export class LiveBlock {
  #height = 0;
  #isShown = false;
  #columns: number;

  /**
   * @param options.hasScreen the block uses the whole screen from the top, and older output moves into the scrollback.
   * If the user presses Enter, the cursor moves, but the block stays at its position.
   */
  constructor(
    private readonly out: BlockOutput,
    private readonly options: { readonly hasScreen?: boolean } = {},
  ) {
    this.#columns = out.columns;
  }

  /** @param lines no more than fit on the terminal, and with `hasScreen: false` no wider than it */
  show(lines: readonly string[]): void {
    const { columns } = this.out;
    // A resized terminal has wrapped the old lines again, so their position is unknown.
    const back = columns === this.#columns ? this.#backToTop() : clearScreen;
    this.out.draw(
      `${back}${lines.map((line) => `${shownText(line, { colours: true })}${clearToLineEnd}\n`).join('')}${clearBelow}`,
    );
    this.#height = lines.length;
    this.#isShown = true;
    this.#columns = columns;
  }

  #backToTop(): string {
    if (this.options.hasScreen === true) return this.#isShown ? home : `${'\n'.repeat(this.out.rows)}${home}`;
    return this.#height === 0 ? '' : `\u001b[${this.#height}A\r`;
  }
}
