import { LiveBlock } from './live-block.js';

/** As much of a terminal as a block needs: a grid of lines and a cursor, and what a write leaves visible in between. */
class Terminal {
  columns = 20;
  writes = 0;
  readonly #lines: string[] = [];
  #row = 0;

  readonly draw = (text: string): void => {
    this.writes += 1;
    // oxlint-disable-next-line no-control-regex -- escape sequences are what a terminal obeys
    for (const [, escape, count, command, line] of text.matchAll(/(\u001b\[)(\d*)([A-Z])\r?|([^\u001b\n]*\n?)/g)) {
      if (escape !== undefined) this.#obey(command!, Number(count || 1));
      else if (line) this.#print(line);
    }
  };

  get shown(): string[] {
    return this.#lines.filter((line) => line !== '');
  }

  #obey(command: string, count: number): void {
    if (command === 'A') this.#row -= count;
    else if (command === 'H') this.#row = 0;
    else if (command === 'J') this.#lines.length = count === 2 ? 0 : Math.min(this.#lines.length, this.#row);
  }

  #print(line: string): void {
    if (line !== '\n') this.#lines[this.#row] = line.replace('\n', '');
    if (line.endsWith('\n')) this.#row += 1;
  }
}

describe('a block on a terminal', () => {
  it('takes the place of the one before, also when it is shorter or longer', () => {
    const terminal = new Terminal();
    const block = new LiveBlock(terminal);
    block.show(['one', 'two', 'three']);
    block.show(['four']);
    expect(terminal.shown).toEqual(['four']);
    block.show(['five', 'six']);
    expect(terminal.shown).toEqual(['five', 'six']);
  });

  it('is drawn by one write, so that nothing half drawn is seen', () => {
    const terminal = new Terminal();
    const block = new LiveBlock(terminal);
    block.show(['one', 'two']);
    block.show(['one', 'three']);
    expect(terminal.writes).toBe(2);
  });

  it('begins on a cleared screen when the window was resized', () => {
    const terminal = new Terminal();
    const block = new LiveBlock(terminal);
    block.show(['one', 'two']);
    terminal.columns = 10;
    block.show(['three']);
    expect(terminal.shown).toEqual(['three']);
  });
});
