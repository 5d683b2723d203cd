import { RegistrantFileError, type RawRow, readLimits, type SheetName } from '../registrant-file.js';
import { readSheet } from './read-sheet.js';
import { readSharedTexts } from './cell-value.js';
import { readStyles } from './number-format.js';
import { posix } from 'node:path';
import { openArchive, type Archive } from './archive.js';
import { readXml, truth } from './xml-events.js';
import { readTable, type SheetTable } from './tables.js';

interface XlsxSheet {
  readonly name: string;
  /** All sheets with cells, in the order of their tabs. */
  readonly sheets: readonly SheetName[];
  readonly rows: AsyncGenerator<readonly RawRow[], void, undefined>;
}

/**
 * Opens a sheet of an XLSX file (decision 0024). Reads its texts and styles; rows are read on demand.
 * @param wanted the sheet's name; undefined: the first visible one
 * @throws {RegistrantFileError} if it is not a workbook, has no such sheet, or lacks a part that it names
 */
export async function readXlsx(bytes: AsyncIterable<Buffer>, wanted: string | undefined): Promise<XlsxSheet> {
  const archive = await openArchive(bytes);
  const workbook = await readWorkbook(archive);
  const sheet =
    wanted === undefined
      ? (workbook.sheets.find(({ hidden }) => !hidden) ?? workbook.sheets[0])
      : workbook.sheets.find(({ name }) => name === wanted);
  if (sheet === undefined) {
    const all = workbook.sheets.map(({ name }) => JSON.stringify(name));
    throw all.length === 0
      ? new RegistrantFileError('not-a-table', 'The workbook has no sheet with cells; save the list as XLSX or CSV.')
      : new RegistrantFileError(
          'options',
          `The workbook has no sheet ${JSON.stringify(wanted)}; it has ${all.join(', ')}.`,
        );
  }
  const values = {
    texts: await readSharedTexts(opened(archive, workbook.sharedTextsPart)),
    styles: await readStyles(opened(archive, workbook.stylesPart)),
    from1904: workbook.from1904,
    calculatesOnLoad: workbook.calculatesOnLoad,
  };
  const tables = await tablesOf(archive, sheet.part);
  return {
    name: sheet.name,
    sheets: workbook.sheets.map(({ name, hidden }) => ({ name, hidden })),
    rows: readSheet(opened(archive, sheet.part)!, values, tables),
  };
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
