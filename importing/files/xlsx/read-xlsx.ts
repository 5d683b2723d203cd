import { RegistrantFileError, type RawRow, readLimits } from '../registrant-file.js';
import { readSheet } from './read-sheet.js';
import { readSharedTexts } from './cell-value.js';
import { readStyles } from './number-format.js';
import { posix } from 'node:path';
import { readXml } from './xml-events.js';
import { crc32 } from 'node:zlib';
import { fromBufferPromise, type Entry, type ZipFile } from 'yauzl';

interface XlsxSheet {
  readonly name: string;
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
  const content = sheet === undefined ? undefined : archive.open(sheet.part);
  if (sheet === undefined || content === undefined) {
    const all = workbook.sheets.map(({ name }) => JSON.stringify(name));
    throw all.length === 0
      ? new RegistrantFileError('not-a-table', 'The workbook has no sheet with cells; save the list as XLSX or CSV.')
      : new RegistrantFileError(
          'options',
          `The workbook has no sheet ${JSON.stringify(wanted)}; it has ${all.join(', ')}.`,
        );
  }
  const part = (name: string | undefined) => (name === undefined ? undefined : archive.open(name));
  const values = {
    texts: await readSharedTexts(part(workbook.sharedTextsPart)),
    styles: await readStyles(part(workbook.stylesPart)),
    from1904: workbook.from1904,
  };
  return { name: sheet.name, rows: readSheet(content, values) };
}

interface Workbook {
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
async function readWorkbook(archive: Archive): Promise<Workbook> {
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
    `The workbook has more than ${most.toLocaleString('en')} ${what}, more than a list of registrants should have; save the sheet as CSV.`,
  );
}

function noWorkbook(): RegistrantFileError {
  return new RegistrantFileError(
    'not-a-table',
    'The file is an archive but not an XLSX workbook; save the list as XLSX or CSV.',
  );
}

/** The parts of an XLSX file, which is a zip archive. */
interface Archive {
  readonly has: (part: string) => boolean;
  /** Returns a part's content in chunks; undefined: there is no such part. A part can be opened several times. */
  readonly open: (part: string) => AsyncGenerator<Buffer, void, undefined> | undefined;
}

/**
 * Reads an archive's table of contents, which is at its end. The compressed file is therefore kept in memory, never on
 * disk. Parts are decompressed as streams, and their total size is bounded.
 * @throws {RegistrantFileError} kind `too-large` or `damaged`
 */
export async function openArchive(bytes: AsyncIterable<Buffer>): Promise<Archive> {
  const zip = await translating(collected(bytes).then((file) => fromBufferPromise(file, { lazyEntries: true })));
  const entries = new Map<string, Entry>();
  await translating(listEntries(zip, entries));
  let unfolded = 0;
  const count = (length: number) => {
    unfolded += length;
    if (unfolded > readLimits.unfoldedBytes) throw tooLarge('decompresses to more than', readLimits.unfoldedBytes);
  };
  return {
    has: (part) => entries.has(part),
    open: (part) => {
      const entry = entries.get(part);
      return entry === undefined ? undefined : unfold(zip, entry, count);
    },
  };
}

async function collected(bytes: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    length += chunk.length;
    if (length > readLimits.archiveBytes) throw tooLarge('is larger than', readLimits.archiveBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

async function listEntries(zip: ZipFile, entries: Map<string, Entry>): Promise<void> {
  if (zip.entryCount > readLimits.archiveEntries) {
    throw new RegistrantFileError(
      'too-large',
      `The archive holds ${zip.entryCount.toLocaleString('en')} files, more than a list of registrants should have; export it again.`,
    );
  }
  for await (const entry of zip.eachEntry()) entries.set(entry.fileName, entry);
}

async function* unfold(
  zip: ZipFile,
  entry: Entry,
  count: (length: number) => void,
): AsyncGenerator<Buffer, void, undefined> {
  if (entry.isEncrypted())
    throw new RegistrantFileError('not-a-table', 'The file is locked by a password; save it without one.');
  const stream = await translating(zip.openReadStreamPromise(entry));
  let sum = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      count(chunk.length);
      sum = crc32(chunk, sum);
      yield chunk;
    }
    if (sum !== entry.crc32) throw damaged(); // some damage decompresses to other text without an error
  } catch (error) {
    throw translated(error);
  } finally {
    stream.destroy();
  }
}

async function translating<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw translated(error);
  }
}

/** Converts errors of the zip reader and zlib, which have no class of their own: the bytes are damaged. */
function translated(error: unknown): unknown {
  if (error instanceof RegistrantFileError) return error;
  return damaged(error);
}

function damaged(cause?: unknown): RegistrantFileError {
  return new RegistrantFileError('damaged', 'The XLSX file is damaged or was not received whole; save it again.', {
    cause,
  });
}

function tooLarge(how: string, bytes: number): RegistrantFileError {
  return new RegistrantFileError(
    'too-large',
    `The XLSX file ${how} ${bytes / 2 ** 20} MiB; save the sheet as CSV, which has no such limit.`,
  );
}
