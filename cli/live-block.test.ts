import { LiveBlock } from './output.js';

/** A minimal terminal: a grid of lines, a cursor, and the state after each write. */
class Terminal {
  columns = 20;
  rows = 6;
  writes = 0;
  readonly #lines: string[] = [];
  #row = 0;

  readonly draw = (text: string): void => {
    this.writes += 1;
    for (const [, escape, count, command, line] of text.matchAll(/(\u001b\[)(\d*)([A-Z])\r?|([^\u001b\n]*\n?)/g)) {
      if (escape !== undefined) this.#obey(command!, Number(count || 1));
      else if (line) this.#print(line);
    }
  };

  /** Acts as a user who presses Enter: the terminal moves the cursor. */
  enter(): void {
    this.#print('\n');
  }

  get shown(): string[] {
    return this.#lines.filter((line) => line !== '');
  }

  #obey(command: string, count: number): void {
    if (command === 'A') this.#row -= count;
    else if (command === 'H') this.#row = Math.max(0, this.#lines.length - this.rows);
    else if (command === 'J') this.#lines.length = count === 2 ? 0 : Math.min(this.#lines.length, this.#row);
  }

  #print(line: string): void {
    if (line !== '\n') this.#lines[this.#row] = line.replace('\n', '');
    if (!line.endsWith('\n')) return;
    this.#row += 1;
    this.#lines[this.#row] ??= '';
  }
}

describe('a block on a terminal', () => {
  it('replaces the previous one, also if it is shorter or longer', () => {
    const terminal = new Terminal();
    const block = new LiveBlock(terminal);
    block.show(['one', 'two', 'three']);
    block.show(['four']);
    expect(terminal.shown).toEqual(['four']);
    block.show(['five', 'six']);
    expect(terminal.shown).toEqual(['five', 'six']);
  });

  it('is drawn with one write, so that no partial block is visible', () => {
    const terminal = new Terminal();
    const block = new LiveBlock(terminal);
    block.show(['one', 'two']);
    block.show(['one', 'three']);
    expect(terminal.writes).toBe(2);
  });

  it('leaves no old line after Enter if it uses the whole screen', () => {
    const terminal = new Terminal();
    terminal.draw('$ pigeonpost start\n');
    const block = new LiveBlock(terminal, { hasScreen: true });
    block.show(['one', 'two']);
    terminal.enter();
    terminal.enter();
    block.show(['three', 'four']);
    expect(terminal.shown).toEqual(['$ pigeonpost start', 'three', 'four']);
  });

  it('starts on a cleared screen after the window is resized', () => {
    const terminal = new Terminal();
    const block = new LiveBlock(terminal);
    block.show(['one', 'two']);
    terminal.columns = 10;
    block.show(['three']);
    expect(terminal.shown).toEqual(['three']);
  });
});
