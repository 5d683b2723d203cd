import { shownText } from './text-line.js';

/** The part of `Output` that a block needs. */
export interface BlockOutput {
  draw(text: string): void;
  readonly columns: number;
  readonly rows: number;
}

const home = '\u001b[H';
const clearScreen = `\u001b[2J${home}`;
const clearToLineEnd = '\u001b[K';
const clearBelow = '\u001b[J';

/**
 * A block of lines that is redrawn in place. Each redraw is one write that overwrites every line and clears only the
 * rest of old lines, so that nothing flickers.
 */
export class LiveBlock {
  readonly #out: BlockOutput;
  readonly #hasScreen: boolean;
  #height = 0;
  #isShown = false;
  #columns: number;

  /**
   * @param options.hasScreen the block uses the whole screen from the top, and older output moves into the scrollback.
   * If the user presses Enter, the cursor moves, but the block is still drawn at the same position.
   */
  constructor(out: BlockOutput, { hasScreen = false }: { readonly hasScreen?: boolean } = {}) {
    this.#out = out;
    this.#hasScreen = hasScreen;
    this.#columns = out.columns;
  }

  /** @param lines no wider than the terminal, and no more than fit on it */
  show(lines: readonly string[]): void {
    const { columns } = this.#out;
    // A resized terminal has wrapped the old lines again, so their position is unknown.
    const back = columns === this.#columns ? this.#backToTop() : clearScreen;
    this.#out.draw(
      `${back}${lines.map((line) => `${shownText(line, { colours: true })}${clearToLineEnd}\n`).join('')}${clearBelow}`,
    );
    this.#height = lines.length;
    this.#isShown = true;
    this.#columns = columns;
  }

  #backToTop(): string {
    if (this.#hasScreen) return this.#isShown ? home : `${'\n'.repeat(this.#out.rows)}${home}`;
    return this.#height === 0 ? '' : `\u001b[${this.#height}A\r`;
  }
}
