import type { RawRow } from './registrant-file.js';

/** Rows are handed on by so many: enough to make a statement of the ledger worth its while, few enough for memory. */
export const rowsPerBatch = 1_000;

/** Characters after which a batch is full before that: rows may be long. */
const charactersPerBatch = 2 * 1024 * 1024;

/** What a cell takes in memory besides its text: a row may be a million empty ones. */
const charactersPerCell = 8;

/** Gathers rows until they are a batch. */
export class RowBatch {
  #rows: RawRow[] = [];
  #characters = 0;

  /** @returns the batch, when this row has made it full; the next begins */
  add(row: RawRow): readonly RawRow[] | undefined {
    this.#rows.push(row);
    for (const value of row.values) this.#characters += value.length + charactersPerCell;
    const isFull = this.#rows.length >= rowsPerBatch || this.#characters >= charactersPerBatch;
    return isFull ? this.take() : undefined;
  }

  /** What has been gathered, which may be nothing. */
  take(): readonly RawRow[] {
    const rows = this.#rows;
    this.#rows = [];
    this.#characters = 0;
    return rows;
  }
}
