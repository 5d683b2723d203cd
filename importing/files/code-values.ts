import { type CodeEvidence, maxCompared } from '../../base/code-evidence.js';

/** Codes of digits that are shorter than those with leading zeros: 452 beside 00451. */
export interface ShortCodes {
  readonly rows: number;
  readonly firstRows: readonly number[];
}

/** With fewer values, repetition proves nothing. */
const minCompared = 5;
/** Number of people per value from which values are no codes, with digits and without. */
const peoplePerValue = { withDigits: 3, words: 2 } as const;

const maxFirstRows = 3;

/** Observes the values of a column that holds the codes, or may hold them. */
export class CodeValues {
  readonly #different = new Set<string>();
  #first: string | null = null;
  #filled = 0;
  #withDigit = 0;
  /** Length of the longest code of digits that starts with 0; 0: there is none. */
  #paddedLength = 0;
  /** Codes of digits without a leading zero, by length. */
  readonly #unpadded = new Map<number, { rows: number; firstRows: number[] }>();

  constructor(readonly column: string) {}

  add(value: string, row: number): void {
    if (value === '') return;
    this.#first ??= value;
    this.#addLength(value, row);
    if (this.#filled >= maxCompared) return;
    this.#filled += 1;
    this.#different.add(value);
    if (/\p{Nd}/u.test(value)) this.#withDigit += 1;
  }

  get evidence(): CodeEvidence {
    const [filled, different, withDigit] = [this.#filled, this.#different.size, this.#withDigit];
    const perValue = withDigit === 0 ? peoplePerValue.words : peoplePerValue.withDigits;
    const isDoubtful = filled >= minCompared && different * perValue <= filled;
    return { column: this.column, first: this.#first, filled, different, withDigit, isDoubtful };
  }

  /** Returns codes that have probably lost their leading zeros; null: none. */
  get shortCodes(): ShortCodes | null {
    const short = [...this.#unpadded].filter(([length]) => length < this.#paddedLength);
    const rows = short.reduce((sum, [, group]) => sum + group.rows, 0);
    const firstRows = short.flatMap(([, group]) => group.firstRows).toSorted((a, b) => a - b);
    return rows === 0 ? null : { rows, firstRows: firstRows.slice(0, maxFirstRows) };
  }

  #addLength(value: string, row: number): void {
    if (!/^\d{1,30}$/.test(value)) return;
    if (value.startsWith('0')) {
      this.#paddedLength = Math.max(this.#paddedLength, value.length);
      return;
    }
    const group = this.#unpadded.get(value.length) ?? { rows: 0, firstRows: [] };
    this.#unpadded.set(value.length, group);
    group.rows += 1;
    if (group.firstRows.length < maxFirstRows) group.firstRows.push(row);
  }
}
