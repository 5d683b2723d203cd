import { shownText } from './shown-text.js';

/** Where a block is drawn; a part of what commands write to. */
export interface BlockOutput {
  draw(text: string): void;
  readonly columns: number;
}

const clearScreen = '\u001b[2J\u001b[H';
const clearToLineEnd = '\u001b[K';
const clearBelow = '\u001b[J';

/**
 * A block of lines that is redrawn in place. Each time is one write, in which every line is overwritten and only what
 * is left of the old one cleared, so that nothing flickers.
 */
export class LiveBlock {
  readonly #out: BlockOutput;
  #height = 0;
  #columns: number;

  constructor(out: BlockOutput) {
    this.#out = out;
    this.#columns = out.columns;
  }

  /** @param lines each no wider than the terminal, and together not higher */
  show(lines: readonly string[]): void {
    const { columns } = this.#out;
    // A terminal that was resized has wrapped the old lines anew: where they begin now is not to be known.
    const back = columns === this.#columns ? (this.#height === 0 ? '' : `\u001b[${this.#height}A\r`) : clearScreen;
    this.#out.draw(
      `${back}${lines.map((line) => `${shownText(line, { colours: true })}${clearToLineEnd}\n`).join('')}${clearBelow}`,
    );
    this.#height = lines.length;
    this.#columns = columns;
  }
}
