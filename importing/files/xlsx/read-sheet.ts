import { RegistrantFileError, type Finding, type RawRow, readLimits } from '../registrant-file.js';
import { inPortions } from '../row-portions.js';
import { appended, cellText, cellValue, type WorkbookValues } from './cell-value.js';
import { marksOf, type SheetTable } from './tables.js';
import { truth, xmlEvents } from './xml-events.js';

/**
 * Yields the rows of a sheet in order, including hidden and filtered ones, which have a mark. Empty rows have no XML
 * and are skipped.
 * @throws {RegistrantFileError} kind `damaged` if rows are out of order or the sheet is incomplete
 */
export function readSheet(
  content: AsyncIterable<Buffer>,
  values: WorkbookValues,
  tables: readonly SheetTable[],
): AsyncGenerator<readonly RawRow[], void, undefined> {
  return inPortions(rowsOf(content, values, tables));
}

async function* rowsOf(
  content: AsyncIterable<Buffer>,
  values: WorkbookValues,
  tables: readonly SheetTable[],
): AsyncGenerator<RawRow, void, undefined> {
  const rows: RawRow[] = []; // rows of the last chunk of XML
  const sheet = sheetHandler(values, tables, rows);
  for await (const _ of xmlEvents(content, sheet)) yield* rows.splice(0);
  if (!sheet.ended()) throw damaged('it breaks off');
}

function sheetHandler(values: WorkbookValues, tables: readonly SheetTable[], rows: RawRow[]) {
  const inline = cellText();
  let ended = false;
  let isFiltered = false;
  let isHidden = false;
  let row = 0;
  let isRowStated = false; // false: the row has no number, and its first cell may state one
  let cells: string[] = [];
  let findings: Finding[] = [];
  let characters = 0; // characters of the row so far; a few bytes of XML can reference one long text many times
  let column = -1;
  let type = 'n';
  let style = 0;
  let value: string | undefined;
  let formula = false;
  let withinValue = false;
  const finishRow = () => {
    if (cells.length > 0) {
      const marks = marksOf(row, { isHidden, isFiltered, tables });
      rows.push({ row, values: cells, ...(findings.length > 0 && { findings }), ...(marks.length > 0 && { marks }) });
    }
    cells = [];
    findings = [];
    characters = 0;
    column = -1;
  };
  return {
    ended: () => ended,
    open: (name: string, attribute: (name: string) => string | undefined) => {
      switch (name) {
        case 'sheetPr':
          isFiltered = truth(attribute('filterMode'));
          break;
        case 'row': {
          const next = nextRow(row, attribute('r'));
          isRowStated = attribute('r') !== undefined;
          if (next === row) break; // some programs write an element per cell
          finishRow();
          row = next;
          isHidden = truth(attribute('hidden')) || Number(attribute('ht') ?? 1) === 0;
          break;
        }
        case 'c':
          ({ row, column } = nextCell({ row, column, isRowStated }, attribute('r')));
          isRowStated = true;
          type = attribute('t') ?? 'n';
          style = Number(attribute('s') ?? 0);
          value = undefined;
          formula = false;
          break;
        case 'v':
          withinValue = true;
          value = '';
          break;
        case 'f':
          formula = true;
          break;
        default:
          inline.open(name);
      }
    },
    text: (text: string) => {
      if (withinValue) value = appended(value ?? '', text);
      else inline.text(text);
    },
    close: (name: string) => {
      switch (name) {
        case 'v':
          withinValue = false;
          break;
        case 'c': {
          const { text, finding } = cellValue({ type, style, value, inline: inline.take(), formula }, values);
          if (text === '' && finding === undefined) break;
          characters += text.length;
          if (characters > readLimits.recordBytes) throw longRow(row);
          // No header can have more columns than this, so all cells beyond count as one extra cell.
          const place = Math.min(column, readLimits.columns);
          while (cells.length < place) cells.push('');
          cells[place] = text;
          if (finding !== undefined) findings.push({ column: place, kind: finding });
          break;
        }
        case 'sheetData':
          finishRow();
          ended = true;
          break;
        default:
          inline.close(name);
      }
    },
  };
}

/** Rows and cells may omit their position; then they follow the previous one. */
function nextRow(before: number, reference: string | undefined): number {
  const row = reference === undefined ? before + 1 : Number(reference);
  if (!Number.isSafeInteger(row) || row < Math.max(1, before)) throw damaged('its rows are out of order');
  return row;
}

/**
 * Returns the position of a cell. Letters of a reference may be small and have dollar signs.
 * @throws {RegistrantFileError} kind `damaged` for a reference that is none, or of another row: a guess could move the
 *   values of a person into other columns
 */
function nextCell(
  before: { readonly row: number; readonly column: number; readonly isRowStated: boolean },
  reference: string | undefined,
): { row: number; column: number } {
  if (reference === undefined) return checkedColumn(before.row, before.column, before.column + 1);
  const [, letters = '', digits = ''] = /^\s*\$?([A-Z]{1,3})\$?(\d+)\s*$/i.exec(reference) ?? [];
  const row = Number(digits);
  if (letters === '' || (before.isRowStated ? row !== before.row : row < before.row))
    throw damaged('a cell has an invalid reference');
  const column = Array.from(letters.toUpperCase(), (letter) => letter.charCodeAt(0) - 64).reduce(
    (sum, letter) => 26 * sum + letter,
    0,
  );
  return checkedColumn(row, before.column, column - 1);
}

function checkedColumn(row: number, before: number, column: number): { row: number; column: number } {
  if (column <= before) throw damaged('its cells are out of order');
  if (column >= 16_384)
    throw new RegistrantFileError(
      'too-large',
      `The sheet has more columns than Excel allows; use at most ${readLimits.columns}.`,
    );
  return { row, column };
}

function longRow(row: number): RegistrantFileError {
  return new RegistrantFileError(
    'too-large',
    `Row ${row.toLocaleString('en')} is longer than ${readLimits.recordBytes.toLocaleString('en')} characters, too long for a registrant.`,
  );
}

function damaged(how: string): RegistrantFileError {
  return new RegistrantFileError('damaged', `The XLSX file is damaged: ${how}; save it again.`);
}
