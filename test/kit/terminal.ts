import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { widthOf } from '../../cli/text-line.js';
import { until } from '../until.js';

const main = join(__dirname, '../../dist/cli/main.js');

export interface TerminalOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly columns: number;
  readonly rows: number;
  /** Whether colours are on; false sets NO_COLOR. */
  readonly colours?: boolean;
  /** A file for standard error, like `2>file` in a shell. */
  readonly errorsTo?: string | undefined;
}

/** Runs `pigeonpost` on its own terminal with script(1) of util-linux. Reads the screen and types keys. */
export class TerminalSession {
  readonly screen: Screen;
  readonly exited: Promise<number | null>;
  readonly #child: ChildProcess;
  #written = '';
  /** True once it has ended and its last output was read, which may be later than `hasEnded`. */
  #hasWrittenAll = false;

  constructor(args: readonly string[], { cwd, env, columns, rows, colours = true, errorsTo }: TerminalOptions) {
    this.screen = new Screen(columns, rows);
    const words = [process.execPath, main, ...args].map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`);
    const redirect = errorsTo === undefined ? '' : ` 2>'${errorsTo}'`;
    const command = `stty cols ${columns} rows ${rows}; exec ${words.join(' ')}${redirect}`;
    this.#child = spawn('script', ['--quiet', '--flush', '--return', '--command', command, '/dev/null'], {
      cwd,
      env: {
        ...process.env,
        DATABASE_URL: '',
        LEDGER_KEY: '',
        TEMPORAL_ADDRESS: '',
        CI: undefined, // Node would treat it as a terminal without colours
        ...(colours ? { NO_COLOR: undefined, FORCE_COLOR: undefined } : { NO_COLOR: '1' }),
        TERM: 'xterm-256color',
        ...env,
      },
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    });
    this.#child.stdin!.on('error', () => undefined); // keys for a program that has just ended
    this.#child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.#written += text;
      this.screen.write(text);
    });
    this.exited = new Promise((resolve) =>
      this.#child.once('close', (code) => {
        this.#hasWrittenAll = true;
        resolve(code);
      }),
    );
  }

  /** Everything that was written so far, with its escape sequences. */
  get written(): string {
    return this.#written;
  }

  hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Waits until the screen shows a text. @throws if the program ends without it */
  async untilShown(text: RegExp): Promise<void> {
    await this.#until(`the terminal shows ${text}`, () => text.test(this.screen.text));
  }

  /** Waits until the screen has shown a text that may be gone already. @throws if the program ends without it */
  async untilHasShown(text: RegExp): Promise<void> {
    await this.#until(`the terminal has shown ${text}`, () => this.screen.hasShown(text));
  }

  async #until(what: string, isShown: () => boolean): Promise<void> {
    await until(what, () => {
      if (isShown()) return true;
      if (this.#hasWrittenAll) throw new Error(`it ended with:\n${this.screen.text}`);
      return false;
    });
  }

  /** Types keys; `\u0003` is Ctrl-C. */
  type(keys: string): void {
    this.#child.stdin!.write(keys);
  }

  /** Ends the program as a person would, and waits for its exit. */
  async close(): Promise<void> {
    if (!this.hasEnded()) this.type('\u0003');
    await this.exited;
  }
}

/** The content of a terminal: interprets the sequences that pigeonpost uses, and wraps lines that are too long. */
class Screen {
  #lines: string[] = [''];
  #row = 0;
  #rest = '';
  /** The screen after each redrawn block, without repetitions. */
  readonly #shown = new Set<string>();
  /** The number of lines that were wider than the terminal, which had to wrap them. */
  wrapped = 0;

  constructor(
    readonly columns: number,
    readonly rows: number,
  ) {}

  write(text: string): void {
    const whole = this.#rest + text;
    // A sequence or a redrawn block may be split between two writes, so its beginning is kept for the next one.
    const cut = /\u001b(?:\[[\d;?]*)?$/.exec(whole)?.index ?? whole.length;
    const block = whole.lastIndexOf('\u001b[H');
    const isPartial = block > whole.lastIndexOf('\u001b[J');
    const complete = whole.slice(0, isPartial ? Math.min(cut, block) : cut);
    this.#rest = whole.slice(complete.length);
    for (const [, numbers, command, end, printed] of complete.matchAll(
      /\u001b\[([\d;?]*)([A-Za-z])|(\r|\n)|([^\u001b\r\n]+)/g,
    )) {
      if (command !== undefined) this.#obey(command, Number(numbers || 1), numbers ?? '');
      else if (end === '\n') this.#newLine();
      else if (end === '\r') this.#column = 0;
      else this.#print(printed!);
    }
  }

  /** The lines that a person sees, without blank ones at the end. */
  get lines(): string[] {
    const seen = this.#lines.slice(-this.rows).map((line) => line.trimEnd());
    return seen.slice(0, seen.findLastIndex((line) => line !== '') + 1);
  }

  get text(): string {
    return this.lines.join('\n');
  }

  /** Whether the screen shows a text or has shown it, also above its present top. */
  hasShown(text: RegExp): boolean {
    const printed = this.#lines.map((line) => line.trimEnd()).join('\n');
    return text.test(printed) || [...this.#shown].some((screen) => text.test(screen));
  }

  #column = 0;

  #obey(command: string, count: number, numbers: string): void {
    if (command === 'A') this.#row = Math.max(this.#top, this.#row - count);
    else if (command === 'H') [this.#row, this.#column] = [this.#top, 0];
    else if (command === 'G') this.#column = count - 1;
    else if (command === 'K') this.#set(this.#line.slice(0, this.#column));
    else if (command === 'J' && numbers === '2')
      this.#lines.splice(this.#top, this.rows, ...Array<string>(this.rows).fill(''));
    else if (command === 'J') {
      this.#set(this.#line.slice(0, this.#column));
      this.#lines.length = this.#row + 1;
      this.#shown.add(this.text);
    }
  }

  get #top(): number {
    return Math.max(0, this.#lines.length - this.rows);
  }

  get #line(): string {
    return this.#lines[this.#row] ?? '';
  }

  #set(line: string): void {
    this.#lines[this.#row] = line;
  }

  #newLine(): void {
    this.#row += 1;
    this.#lines[this.#row] ??= '';
    this.#column = 0;
  }

  #print(text: string): void {
    for (const character of text) {
      const width = widthOf(character);
      if (this.#column + width > this.columns) {
        this.wrapped += 1;
        this.#newLine();
      }
      const before = this.#line.padEnd(this.#column);
      this.#set(before.slice(0, this.#column) + character + before.slice(this.#column + 1));
      this.#column += character.length;
    }
  }
}
