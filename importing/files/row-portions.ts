import type { RawRow } from './registrant-file.js';

/** Rows per portion: enough for an efficient statement, few enough for memory. */
const rowsPerPortion = 1_000;

/** Characters after which a portion of long rows is full. */
const charactersPerPortion = 2 * 1024 * 1024;

/** Counted for each cell in addition to its text, because a row may have a million empty cells. */
const charactersPerCell = 8;

/** Collects rows into portions; the last one may be small. */
export async function* inPortions(rows: AsyncIterable<RawRow>): AsyncGenerator<readonly RawRow[], void, undefined> {
  let portion: RawRow[] = [];
  let characters = 0;
  for await (const row of rows) {
    portion.push(row);
    for (const value of row.values) characters += value.length + charactersPerCell;
    if (portion.length < rowsPerPortion && characters < charactersPerPortion) continue;
    yield portion;
    portion = [];
    characters = 0;
  }
  if (portion.length > 0) yield portion;
}
