import type { Config } from '../../config/config.js';
import type { Cell, Sheet, SheetColumn } from '../../base/sheets/sheet.js';
import { type DeadLetterPosition, deadLetters } from '../../delivering/dead-letters.js';
import type { Ledger } from '../../ledger/ledger.js';
import { placeName } from '../../ledger/pauses.js';
import { causeText } from '../../sinks/reason-words.js';
import type { ExportedPlace } from './exported-place.js';

const batchRows = 500;

export const deadLetterColumns = [
  { name: 'sink', kind: 'text' },
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

/** Returns the sheet of the dead letters of a pigeonhole, oldest first, without those that nobody sends any longer. */
export function deadLetterSheet(ledger: Ledger, place: ExportedPlace, sentBy: Pick<Config, 'syncs'>): Sheet {
  const rows = async function* (): AsyncGenerator<Cell[][], void, undefined> {
    for (let after: DeadLetterPosition | null = null; ;) {
      const found: Awaited<ReturnType<typeof deadLetters>> = await deadLetters(
        ledger,
        { pigeonhole: placeName(place), sentBy },
        { after, limit: batchRows },
      );
      yield found.map(({ sink, list, key, revision, cause, detail, attempts, since }) => {
        const { meaning, help } = causeText(cause);
        return [sink, list, key, revision, cause, meaning, help, detail, attempts, { atMs: since.getTime() }];
      });
      if (found.length < batchRows) return;
      after = found.at(-1)!.position;
    }
  };
  return { name: 'dead-letters', timezone: place.timezone, columns: deadLetterColumns, rows: rows() };
}
