import type { Cell, Sheet, SheetColumn } from '../../base/sheets/sheet.js';
import { type DeadLetterChoice, type DeadLetterPosition, deadLetters } from '../../delivering/dead-letters.js';
import type { Ledger } from '../../ledger/ledger.js';
import { placeName } from '../../ledger/pauses.js';
import { causeText } from '../../sinks/reason-words.js';

const batchRows = 500;

export const deadLetterColumns = [
  { name: 'sink', kind: 'text' },
  { name: 'pigeonhole', kind: 'text' },
  { name: 'list', kind: 'text' },
  { name: 'item.key', kind: 'text' },
  { name: 'item.revision', kind: 'number' },
  { name: 'cause', kind: 'text' },
  { name: 'meaning', kind: 'text' },
  { name: 'help', kind: 'text' },
  { name: 'answer', kind: 'text' },
  { name: 'attempts', kind: 'number' },
  { name: 'since', kind: 'moment' },
] as const satisfies readonly SheetColumn[];

/** Returns the sheet of these dead letters, oldest first, with their times in `timezone`. */
export function deadLetterSheet(ledger: Ledger, choice: DeadLetterChoice, timezone: string): Sheet {
  const rows = async function* (): AsyncGenerator<Cell[][], void, undefined> {
    for (let after: DeadLetterPosition | null = null; ;) {
      const found: Awaited<ReturnType<typeof deadLetters>> = await deadLetters(ledger, choice, {
        after,
        limit: batchRows,
      });
      yield found.map((each) => {
        const { sink, list, key, revision, cause, detail, attempts, since } = each;
        const { meaning, help } = causeText(cause);
        const about = [sink, placeName(each), list, key, revision, cause, meaning, help];
        return [...about, detail, attempts, { atMs: since.getTime() }];
      });
      if (found.length < batchRows) return;
      after = found.at(-1)!.position;
    }
  };
  return { name: 'dead-letters', timezone, columns: deadLetterColumns, rows: rows() };
}
