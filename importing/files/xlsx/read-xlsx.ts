import { RegistrantFileError, type RawRow, readLimits, type SheetName } from '../registrant-file.js';
import { readSheet } from './read-sheet.js';
import { readSharedTexts } from './cell-value.js';
import { readStyles } from './number-format.js';
import { posix } from 'node:path';
import { openArchive, type Archive } from './archive.js';
import { type FirstRows, firstRows } from '../below-header.js';
import { readXml, truth } from './xml-events.js';
import { readTable, type SheetTable } from './tables.js';

interface XlsxSheet {
  readonly name: string;
  /** All sheets with cells, in the order of their tabs. */
  readonly sheets: readonly SheetName[];
  readonly rows: AsyncGenerator<readonly RawRow[], void, undefined>;
  /** Why this sheet was taken, if it is not the first visible one. */
  readonly remarks: readonly string[];
}

/**
 * Opens a sheet of an XLSX file (decision 0024). Reads its texts and styles; rows are read on demand.
 * @param wanted the sheet's name; undefined: the first visible one, or the only visible one that is a list
 * @param isList whether the first rows of a sheet are those of a list
 * @throws {RegistrantFileError} if it is not a workbook, has no such sheet, or lacks a part that it names; if several
 *   sheets are lists, but not the first
 */
export async function readXlsx(
  bytes: AsyncIterable<Buffer>,
  wanted: string | undefined,
  isList: (first: FirstRows) => boolean,
): Promise<XlsxSheet> {
  const archive = await openArchive(bytes);
  const workbook = await readWorkbook(archive);
  const sheets = workbook.sheets.map(({ name, hidden }) => ({ name, hidden }));
  const inWords = sheets.map(({ name }) => JSON.stringify(name)).join(', ');
  const visible = workbook.sheets.filter(({ hidden }) => !hidden);
  const choice =
    wanted !== undefined
      ? workbook.sheets.filter(({ name }) => name === wanted).slice(0, 1)
      : visible.length > 0
        ? visible
        : workbook.sheets.slice(0, 1);
  if (choice.length === 0) {
    throw sheets.length === 0
      ? new RegistrantFileError('not-a-table', 'The workbook has no sheet with cells; save the list as XLSX or CSV.')
      : new RegistrantFileError('options', `The workbook has no sheet ${JSON.stringify(wanted)}; it has ${inWords}.`);
  }
  const values = {
    texts: await readSharedTexts(opened(archive, workbook.sharedTextsPart)),
    styles: await readStyles(opened(archive, workbook.stylesPart)),
    from1904: workbook.from1904,
    calculatesOnLoad: workbook.calculatesOnLoad,
  };
  const open = async ({ part }: { readonly part: string }) =>
    await firstRows(readSheet(opened(archive, part)!, values, await tablesOf(archive, part)));
  const first = await open(choice[0]!);
  if (choice.length === 1 || isList(first)) return { name: choice[0]!.name, sheets, rows: first.rows, remarks: [] };
  const lists: { name: string; rows: FirstRows['rows'] }[] = [];
  for (const sheet of choice.slice(1)) {
    const other = await open(sheet);
    if (isList(other)) lists.push({ name: sheet.name, rows: other.rows });
    else await other.rows.return();
  }
  const [list, ...more] = lists;
  if (list === undefined) return { name: choice[0]!.name, sheets, rows: first.rows, remarks: [] };
  for (const { rows } of [first, ...more]) await rows.return();
  if (more.length === 0) {
    const remark = `Sheet ${JSON.stringify(list.name)} was taken, the only visible one with names of columns; the workbook has ${inWords}.`;
    return { ...list, sheets, remarks: [remark] };
  }
  await list.rows.return();
  const names = lists.map(({ name }) => JSON.stringify(name)).join(', ');
  throw new RegistrantFileError(
    'options',
    `The first sheet is no list, and several others may be it: ${names}; name the right one as the sheet.`,
  );
}

/** Opens a part that the workbook names. @throws {RegistrantFileError} kind `damaged` if the archive lacks it */
function opened(archive: Archive, part: string | undefined): AsyncGenerator<Buffer, void, undefined> | undefined {
  if (part === undefined) return undefined;
  const content = archive.open(part);
  if (content !== undefined) return content;
  throw new RegistrantFileError('damaged', 'The XLSX file is damaged: a part of it is missing; save it again.');
}

async function tablesOf(archive: Archive, sheetPart: string): Promise<SheetTable[]> {
  const tables: SheetTable[] = [];
  for (const { type, part } of await relationsOf(archive, sheetPart)) {
    const content = type === 'table' ? archive.open(part) : undefined;
    const table = content === undefined ? undefined : await readTable(content);
    if (table !== undefined) tables.push(table);
  }
  return tables;
}

interface Workbook {
  /** Sheets with cells (no charts), in the order of their tabs. */
  readonly sheets: readonly (SheetName & { readonly part: string })[];
  /** Whether day 0 of its dates is 1904-01-01, as in files from old Macs. */
  readonly from1904: boolean;
  /** Whether results of formulas are to be calculated when it is opened: the program that wrote it did not do so. */
  readonly calculatesOnLoad: boolean;
  readonly sharedTextsPart: string | undefined;
  readonly stylesPart: string | undefined;
}

interface Relation {
  readonly id: string;
  /** The last word of its type, such as `worksheet`; the rest differs between the standard's two forms. */
  readonly type: string;
  readonly part: string;
}

/**
 * Reads the workbook of an archive along its relations (ECMA-376, part 1, 18 and part 2, 9).
 * @throws {RegistrantFileError} kind `not-a-table` for an archive of another kind
 */
async function readWorkbook(archive: Archive): Promise<Workbook> {
  const part = (await relationsOf(archive, '')).find(({ type }) => type === 'officeDocument')?.part;
  const content = part === undefined || !/\.xml$/i.test(part) ? undefined : archive.open(part);
  if (part === undefined || content === undefined) throw noWorkbook();
  const relations = await relationsOf(archive, part);
  const worksheets = new Map(
    relations.flatMap(({ id, type, part: at }) => (type === 'worksheet' ? [[id, at] as const] : [])),
  );
  const sheets: (SheetName & { part: string })[] = [];
  let from1904 = false;
  let calculatesOnLoad = false;
  let isWorkbook = false;
  await readXml(content, {
    open: (name, attribute) => {
      if (name === 'workbook') isWorkbook = true;
      if (name === 'workbookPr') from1904 = truth(attribute('date1904'));
      if (name === 'calcPr') {
        const isIncomplete = attribute('calcCompleted') !== undefined && !truth(attribute('calcCompleted'));
        calculatesOnLoad = truth(attribute('fullCalcOnLoad')) || isIncomplete;
      }
      if (name !== 'sheet') return;
      const sheetPart = worksheets.get(attribute('id') ?? '');
      if (sheetPart === undefined) return;
      if (sheets.length >= readLimits.sheets) throw tooMany('sheets', readLimits.sheets);
      sheets.push({
        name: attribute('name') ?? '',
        part: sheetPart,
        hidden: (attribute('state') ?? 'visible') !== 'visible',
      });
    },
    text: () => undefined,
    close: () => undefined,
  });
  if (!isWorkbook) throw noWorkbook();
  const partOf = (wanted: string) => relations.find(({ type }) => type === wanted)?.part;
  return { sheets, from1904, calculatesOnLoad, sharedTextsPart: partOf('sharedStrings'), stylesPart: partOf('styles') };
}

async function relationsOf(archive: Archive, source: string): Promise<Relation[]> {
  const folder = posix.dirname(source);
  const content = archive.open(posix.join(folder, '_rels', `${posix.basename(source)}.rels`));
  if (content === undefined) return [];
  const relations: Relation[] = [];
  await readXml(content, {
    open: (name, attribute) => {
      if (name !== 'Relationship') return;
      if (relations.length >= readLimits.relations) throw tooMany('relations', readLimits.relations);
      relations.push({
        id: attribute('Id') ?? '',
        type: (attribute('Type') ?? '').split('/').at(-1)!,
        part: partAt(archive, folder, attribute('Target') ?? ''),
      });
    },
    text: () => undefined,
    close: () => undefined,
  });
  return relations;
}

/**
 * Returns the name of the part that a relation targets. A target is a URI relative to the folder of its source; some
 * programs write it relative to the root, or with characters escaped.
 */
function partAt(archive: Archive, folder: string, target: string): string {
  const relative = target.replaceAll('\\', '/');
  const resolved = relative.startsWith('/') ? relative.slice(1) : posix.join(folder, relative);
  const candidates = [resolved, relative, unescapedUri(resolved)];
  return candidates.find((part) => archive.has(part)) ?? resolved;
}

function unescapedUri(uri: string): string {
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri;
  }
}

function tooMany(what: string, most: number): RegistrantFileError {
  return new RegistrantFileError(
    'too-large',
    `The workbook has more than ${most.toLocaleString('en')} ${what}, more than a list of registrants should have; save the sheet as CSV.`,
  );
}

function noWorkbook(): RegistrantFileError {
  return new RegistrantFileError(
    'not-a-table',
    'The file is an archive but not an XLSX workbook; save the list as XLSX or CSV.',
  );
}
