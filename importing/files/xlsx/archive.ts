import { crc32 } from 'node:zlib';
import { fromBufferPromise, type Entry, type ZipFile } from 'yauzl';
import { RegistrantFileError, readLimits } from '../registrant-file.js';

/**
 * The parts of an XLSX file, which is a zip archive. Part names are compared as Excel does: without regard to case,
 * and to the form of the separators that programs write into archives (ECMA-376, part 2, 6.2.2.3 and 7.3).
 */
export interface Archive {
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
  const zip = await translating(collected(bytes).then((file) => fromBufferPromise(file, zipOptions)));
  const entries = new Map<string, Entry>();
  await translating(listEntries(zip, entries));
  let unfolded = 0;
  const count = (length: number) => {
    unfolded += length;
    if (unfolded > readLimits.unfoldedBytes) throw tooLarge('decompresses to more than', readLimits.unfoldedBytes);
  };
  return {
    has: (part) => entries.has(comparable(part)),
    open: (part) => {
      const entry = entries.get(comparable(part));
      return entry === undefined ? undefined : unfold(zip, entry, count);
    },
  };
}

/** Names are decoded here: the zip reader refuses names that start with a slash, which some programs write. */
const zipOptions = { lazyEntries: true, decodeStrings: false } as const;

function comparable(part: string): string {
  return part.replaceAll('\\', '/').replace(/^\/+/, '').toLowerCase();
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
  for await (const entry of zip.eachEntry()) {
    // The types claim a string; without `decodeStrings` it is the name's bytes.
    const name = entry.fileName as string | Buffer;
    entries.set(comparable(name.toString()), entry);
  }
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
