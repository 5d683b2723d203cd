import { RegistrantFileError } from '../registrant-file-error.js';
import type { RawRow } from '../registrant-file.js';
import { openArchive } from './archive.js';
import { readSheet } from './read-sheet.js';
import { readSharedTexts } from './shared-texts.js';
import { readStyles } from './styles.js';
import { readWorkbook } from './workbook.js';

export interface XlsxSheet {
  readonly name: string;
  readonly all: readonly string[];
  readonly rows: AsyncGenerator<readonly RawRow[], void, undefined>;
}

/**
 * Opens a sheet of an XLSX file (decision 0024): its texts and styles are read, its rows follow as they are asked for.
 * @param wanted the sheet's name; undefined: the first that is visible
 * @throws {RegistrantFileError} for what is no workbook or has no such sheet
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
