import type { RawRow } from './registrant-file.js';

/** Rows per batch: enough for an efficient statement, few enough for memory. */
const rowsPerBatch = 1_000;

/** Characters after which a batch of long rows is full. */
const charactersPerBatch = 2 * 1024 * 1024;

/** Counted for each cell in addition to its text, because a row may have a million empty cells. */
const charactersPerCell = 8;

/** Collects rows into batches; the last one may be small. */
export async function* inBatches(rows: AsyncIterable<RawRow>): AsyncGenerator<readonly RawRow[], void, undefined> {
  let batch: RawRow[] = [];
  let characters = 0;
  for await (const row of rows) {
    batch.push(row);
    for (const value of row.values) characters += value.length + charactersPerCell;
    if (batch.length < rowsPerBatch && characters < charactersPerBatch) continue;
    yield batch;
    batch = [];
    characters = 0;
  }
  if (batch.length > 0) yield batch;
}
