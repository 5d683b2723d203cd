import { cellValue, type CellValue } from './cell-value.js';
import { type CellKind, headerOf, type Cell, type Sheet, type SheetColumn } from './sheet.js';
import { maxEntryBytes, type ZipEntry, zipOf } from './zip.js';

/** Limits of Excel. Source: Microsoft, "Excel specifications and limits". */
const maxRows = 1_048_576;
const maxColumns = 16_384;
export const maxTextLength = 32_767;
const maxNameLength = 31;

/** Size of a sheet's XML at which its next rows go to another sheet, far below what an archive can hold. */
const fullSheetBytes = maxEntryBytes / 4;

export interface WorkbookOptions {
  /** Rows of a sheet, including its header, after which another sheet follows. */
  readonly maxRows?: number;
}

/**
 * Yields a workbook (XLSX) while its sheets are read, one after another, and holds one batch of rows at a time. A sheet that
 * is full continues in another one, `attendees (2)`, with the same header. Every text is a cell of text that no program
 * executes or converts, also after it is edited.
 * Source: ECMA-376, part 1, 18 (SpreadsheetML).
 * @param sheets at least one
 */
export async function* xlsxOf(
  sheets: AsyncIterable<Sheet>,
  options: WorkbookOptions = {},
): AsyncGenerator<Buffer, void, undefined> {
  yield* zipOf(partsOf(sheets, options));
}

async function* partsOf(
  sheets: AsyncIterable<Sheet>,
  { maxRows: limit = maxRows }: WorkbookOptions,
): AsyncGenerator<ZipEntry, void, undefined> {
  yield part('[Content_Types].xml', contentTypes);
  yield part('_rels/.rels', relationships([['officeDocument', 'xl/workbook.xml']]));
  yield part('xl/styles.xml', styles);
  const names: string[] = [];
  for await (const sheet of sheets) {
    const rows = new RowSource(sheet.rows);
    for (let number = 1; number === 1 || (await rows.hasMore()); number += 1) {
      names.push(sheetName(sheet.name, number, names));
      yield { name: `xl/worksheets/sheet${names.length}.xml`, content: sheetXml(sheet, rows, limit) };
    }
  }
  yield part('xl/workbook.xml', workbook(names));
  yield part(
    'xl/_rels/workbook.xml.rels',
    relationships([
      ...names.map((_name, index) => ['worksheet', `worksheets/sheet${index + 1}.xml`] as const),
      ['styles', 'styles.xml'],
    ]),
  );
}

function part(name: string, xml: string): ZipEntry {
  return { name, content: once(xml) };
}

async function* once(text: string): AsyncGenerator<string, void, undefined> {
  yield text;
}

type Row = readonly Cell[];

/** The rows of a sheet, of which several sheets of the workbook take a part. */
class RowSource {
  readonly #batches: AsyncIterator<readonly Row[]>;
  #left: readonly Row[] = [];

  constructor(rows: AsyncIterable<readonly Row[]>) {
    this.#batches = rows[Symbol.asyncIterator]();
  }

  async hasMore(): Promise<boolean> {
    while (this.#left.length === 0) {
      const next = await this.#batches.next();
      if (next.done === true) return false;
      this.#left = next.value;
    }
    return true;
  }

  /** Returns the next rows, at most `limit`; none at the end. */
  async take(limit: number): Promise<readonly Row[]> {
    await this.hasMore();
    const taken = this.#left.slice(0, limit);
    this.#left = this.#left.slice(limit);
    return taken;
  }

  async close(): Promise<void> {
    await this.#batches.return?.();
  }
}

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

async function* sheetXml(sheet: Sheet, rows: RowSource, limit: number): AsyncGenerator<string, void, undefined> {
  const columns = sheet.columns.slice(0, maxColumns);
  const letters = columns.map((_column, index) => columnName(index));
  yield `${head}<worksheet xmlns="${main}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>${columnWidths(columns)}<sheetData>`;
  let bytes = 0;
  let row = 1;
  yield rowXml(
    row,
    columns.map((column, index) => textXml(`${letters[index]}1`, headerOf(column, sheet), style.header)),
  );
  let isComplete = false;
  try {
    while (row < limit && bytes < fullSheetBytes) {
      const batch = await rows.take(limit - row);
      if (batch.length === 0) break;
      const xml = batch.map((cells) => {
        row += 1;
        return rowXml(
          row,
          columns.map((_column, index) => cellXml(`${letters[index]}${row}`, cellValue(cells[index], sheet.timezone))),
        );
      });
      const text = xml.join('');
      bytes += text.length;
      yield text;
    }
    if (columns.length > 0) yield `</sheetData><autoFilter ref="A1:${letters.at(-1)}${row}"/></worksheet>`;
    else yield '</sheetData></worksheet>';
    isComplete = true;
  } finally {
    if (!isComplete) await rows.close(); // nobody reads the rest
  }
}

/** Returns the width of each column, wide enough for its header and for what it usually holds. */
function columnWidths(columns: readonly SheetColumn[]): string {
  if (columns.length === 0) return '';
  const usual: Readonly<Record<CellKind, number>> = { text: 24, number: 12, flag: 10, moment: 20, day: 12 };
  const widths = columns.map(({ name, kind }, index) => {
    const width = Math.min(Math.max(usual[kind], name.length + (kind === 'moment' ? 18 : 4)), 48);
    return `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`;
  });
  return `<cols>${widths.join('')}</cols>`;
}

function rowXml(row: number, cells: readonly string[]): string {
  return `<row r="${row}">${cells.join('')}</row>`;
}

function cellXml(place: string, value: CellValue): string {
  switch (value.kind) {
    case 'empty':
      return '';
    case 'text':
      return textXml(place, value.text, style.text);
    case 'number':
      return `<c r="${place}"><v>${value.text}</v></c>`;
    case 'flag':
      return `<c r="${place}" t="b"><v>${value.is ? 1 : 0}</v></c>`;
    default:
      return `<c r="${place}" s="${style[value.kind]}"><v>${value.serial}</v></c>`;
  }
}

function textXml(place: string, text: string, of: number): string {
  return `<c r="${place}" s="${of}" t="inlineStr"><is><t xml:space="preserve">${escaped(shortened(text))}</t></is></c>`;
}

/** Cuts a text that is longer than a cell can hold, and says so at its end. */
function shortened(text: string): string {
  if (text.length <= maxTextLength) return text;
  const note = ` … [cut: the text has ${text.length} characters]`;
  const kept = text.slice(0, maxTextLength - note.length);
  return `${kept.replace(/[\ud800-\udbff]$/, '')}${note}`;
}

/**
 * Escapes a text for XML. Characters that XML cannot hold, or would read as others, are written `_x0001_`, which
 * spreadsheets read back; a text that contains such an escape has its underscore escaped. Half a surrogate pair becomes
 * U+FFFD. Source: ECMA-376, part 1, 22.9.2.19 (ST_Xstring).
 */
function escaped(text: string): string {
  if (!/[&<>"_\u0000-\u001f\ud800-\udfff\ufffe\uffff]/.test(text)) return text;
  return text
    .replaceAll(/_(?=x[0-9a-f]{4}_)/gi, '_x005F_')
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\ufffe\uffff]/g, (found) => `_x${hexOf(found)}_`)
    .replaceAll(/\p{Cs}/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

function hexOf(character: string): string {
  return character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
}

/** Returns `A` to `Z`, then `AA` and so on. */
export function columnName(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letter : columnName(Math.floor(index / 26) - 1) + letter;
}

/** Returns a name for a sheet that no other sheet has; Excel compares them without regard to case. */
function sheetName(wanted: string, number: number, taken: readonly string[]): string {
  const plain =
    wanted
      .replaceAll(/[[\]:*?/\\\p{C}]/gu, ' ')
      .replaceAll(/^'+|'+$/g, '')
      .trim() || 'Sheet';
  const lower = new Set(taken.map((name) => name.toLowerCase()));
  for (let n = number; ; n += 1) {
    const end = n === 1 ? '' : ` (${n})`;
    const name = `${plain.slice(0, maxNameLength - end.length)}${end}`;
    if (!lower.has(name.toLowerCase())) return name;
  }
}

function workbook(names: readonly string[]): string {
  const sheets = names.map(
    (name, index) => `<sheet name="${escaped(name)}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`,
  );
  return `${head}<workbook xmlns="${main}" xmlns:r="${office}"><sheets>${sheets.join('')}</sheets></workbook>`;
}

/** @param targets types and addresses; the ids are `rId1` and so on */
function relationships(targets: readonly (readonly [type: string, target: string])[]): string {
  const lines = targets.map(
    ([type, target], index) => `<Relationship Id="rId${index + 1}" Type="${office}/${type}" Target="${target}"/>`,
  );
  return `${head}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${lines.join('')}</Relationships>`;
}

const spreadsheet = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** Every part of which nothing else is said is a sheet, so that this part comes first, before the sheets are counted. */
const contentTypes = `${head}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="${spreadsheet}.worksheet+xml"/><Override PartName="/xl/workbook.xml" ContentType="${spreadsheet}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${spreadsheet}.styles+xml"/></Types>`;

/** Positions in the list of styles. Texts have the format `@`, so that a program does not convert an edited text. */
const style = { text: 1, moment: 2, day: 3, header: 4 } as const;

const styles = `${head}<styleSheet xmlns="${main}"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/><numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd"/></numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="5"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="49" fontId="1" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`;
