import { RegistrantFileError, type RawRow } from '../registrant-file.js';
import { openArchive, type Archive } from './archive.js';
import { readSheet } from './read-sheet.js';
import { readSharedTexts } from './shared-texts.js';
import { readStyles } from './number-format.js';
import { posix } from 'node:path';
import { readLimits } from '../read-limits.js';
import { readXml } from './xml-events.js';

export interface XlsxSheet {
  readonly name: string;
  readonly all: readonly string[];
  readonly rows: AsyncGenerator<readonly RawRow[], void, undefined>;
}

/**
 * Opens a sheet of an XLSX file (decision 0024). Reads its texts and styles; rows are read on demand.
 * @param wanted the sheet's name; undefined: the first visible one
 * @throws {RegistrantFileError} if it is not a workbook or has no such sheet
 */
export async function readXlsx(bytes: AsyncIterable<Buffer>, wanted: string | undefined): Promise<XlsxSheet> {
  const archive = await openArchive(bytes);
  const workbook = await readWorkbook(archive);
  const sheet =
    wanted === undefined
      ? (workbook.sheets.find(({ visible }) => visible) ?? workbook.sheets[0])
      : workbook.sheets.find(({ name }) => name === wanted);
  const all = workbook.sheets.map(({ name }) => name);
  const content = sheet === undefined ? undefined : archive.open(sheet.part);
  if (sheet === undefined || content === undefined) {
    throw new RegistrantFileError(
      all.length === 0 ? 'not-a-table' : 'options',
      all.length === 0
        ? 'The workbook has no sheet with cells; save the list as XLSX or CSV.'
        : `The workbook has no sheet ${JSON.stringify(wanted)}; it has ${all.map((name) => JSON.stringify(name)).join(', ')}.`,
    );
  }
  const part = (name: string | undefined) => (name === undefined ? undefined : archive.open(name));
  const values = {
    texts: await readSharedTexts(part(workbook.sharedTextsPart)),
    styles: await readStyles(part(workbook.stylesPart)),
    from1904: workbook.from1904,
  };
  return { name: sheet.name, all, rows: readSheet(content, values) };
}

export interface Workbook {
  /** Sheets with cells (no charts), in the order of their tabs. */
  readonly sheets: readonly { readonly name: string; readonly part: string; readonly visible: boolean }[];
  /** Whether day 0 of its dates is 1904-01-01, as in files from old Macs. */
  readonly from1904: boolean;
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
export async function readWorkbook(archive: Archive): Promise<Workbook> {
  const part = (await relationsOf(archive, '')).find(({ type }) => type === 'officeDocument')?.part;
  const content = part === undefined || !part.endsWith('.xml') ? undefined : archive.open(part);
  if (part === undefined || content === undefined) throw noWorkbook();
  const relations = await relationsOf(archive, part);
  const worksheets = new Map(
    relations.flatMap(({ id, type, part: at }) => (type === 'worksheet' ? [[id, at] as const] : [])),
  );
  const sheets: { name: string; part: string; visible: boolean }[] = [];
  let from1904 = false;
  let isWorkbook = false;
  await readXml(content, {
    open: (name, attribute) => {
      if (name === 'workbook') isWorkbook = true;
      if (name === 'workbookPr') from1904 = ['1', 'true'].includes(attribute('date1904') ?? '');
      if (name !== 'sheet') return;
      const sheetPart = worksheets.get(attribute('id') ?? '');
      if (sheetPart === undefined || !archive.has(sheetPart)) return;
      if (sheets.length >= readLimits.sheets) throw tooMany('sheets', readLimits.sheets);
      sheets.push({
        name: attribute('name') ?? '',
        part: sheetPart,
        visible: (attribute('state') ?? 'visible') === 'visible',
      });
    },
    text: () => undefined,
    close: () => undefined,
  });
  if (!isWorkbook) throw noWorkbook();
  const partOf = (wanted: string) => relations.find(({ type }) => type === wanted)?.part;
  return { sheets, from1904, sharedTextsPart: partOf('sharedStrings'), stylesPart: partOf('styles') };
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
      const target = attribute('Target') ?? '';
      relations.push({
        id: attribute('Id') ?? '',
        type: (attribute('Type') ?? '').split('/').at(-1)!,
        part: target.startsWith('/') ? target.slice(1) : posix.join(folder, target),
      });
    },
    text: () => undefined,
    close: () => undefined,
  });
  return relations;
}

function tooMany(what: string, most: number): RegistrantFileError {
  return new RegistrantFileError(
    'too-large',
    `The workbook has more than ${most.toLocaleString('en')} ${what}, more than a list of registrants should; save the sheet as CSV.`,
  );
}

function noWorkbook(): RegistrantFileError {
  return new RegistrantFileError(
    'not-a-table',
    'The file is an archive but not an XLSX workbook; save the list as XLSX or CSV.',
  );
}
