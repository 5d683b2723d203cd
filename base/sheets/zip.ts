import { crc32, createDeflateRaw } from 'node:zlib';
import { pipeline } from 'node:stream/promises';

/** A file of an archive, whose content is read when its turn comes. */
export interface ZipEntry {
  readonly name: string;
  readonly content: AsyncIterable<string>;
}

/** The archive format without its 64-bit extension holds less than 4 GiB. */
const maxBytes = 2 ** 32 - 1;

/** The size that a file of the archive must not reach. */
export const maxEntryBytes = maxBytes;

/**
 * Yields a zip archive while its files are read, one after another. Holds one part of a file at a time. The archive is the
 * same whenever it is written: its files have no date.
 * Source: APPNOTE.TXT 6.3.10, PKWARE, 4.3.7 (local file header) to 4.3.16 (end of central directory record).
 * @throws {RangeError} if the archive or a file in it reaches 4 GiB
 */
export async function* zipOf(entries: AsyncIterable<ZipEntry>): AsyncGenerator<Buffer, void, undefined> {
  const directory: Buffer[] = [];
  let offset = 0;
  for await (const { name, content } of entries) {
    const known = { name: Buffer.from(name), sums: { crc: 0, bytes: 0, packedBytes: 0 }, offset };
    const header = localHeader(known.name);
    yield header;
    for await (const part of packed(content, known.sums)) {
      if (offset + header.length + known.sums.packedBytes > maxBytes) throw tooLarge();
      yield part;
    }
    const descriptor = dataDescriptor(known.sums);
    yield descriptor;
    directory.push(directoryEntry(known));
    offset += header.length + known.sums.packedBytes + descriptor.length;
  }
  const contents = Buffer.concat(directory);
  if (offset + contents.length > maxBytes) throw tooLarge();
  yield contents;
  yield endOfDirectory(directory.length, contents.length, offset);
}

interface Sums {
  crc: number;
  bytes: number;
  packedBytes: number;
}

/** Compresses a file and counts its bytes. Node compresses on another thread. */
async function* packed(content: AsyncIterable<string>, sums: Sums): AsyncGenerator<Buffer, void, undefined> {
  const counted = async function* (): AsyncGenerator<Buffer, void, undefined> {
    for await (const text of content) {
      const bytes = Buffer.from(text);
      sums.crc = crc32(bytes, sums.crc);
      sums.bytes += bytes.length;
      if (sums.bytes > maxBytes) throw tooLarge();
      yield bytes;
    }
  };
  const packer = createDeflateRaw();
  const packing = pipeline(counted, packer);
  packing.catch(() => undefined); // a failure also ends the loop below
  for await (const part of packer as AsyncIterable<Buffer>) {
    sums.packedBytes += part.length;
    yield part;
  }
  await packing;
}

function tooLarge(): RangeError {
  return new RangeError('the archive reaches 4 GiB');
}

const version = 20;
/** Names are in UTF-8, and the sizes follow the content. */
const flags = 0x0808;
const deflated = 8;
/** 1 January 1980, the first day of the format. */
const noDate = 0x0021;

function localHeader(name: Buffer): Buffer {
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  writeShared(header, 4);
  header.writeUInt16LE(name.length, 26);
  return Buffer.concat([header, name]);
}

/** Writes version, flags, method, time and date, in the order that the local header and the directory share. */
function writeShared(header: Buffer, at: number): void {
  header.writeUInt16LE(version, at);
  header.writeUInt16LE(flags, at + 2);
  header.writeUInt16LE(deflated, at + 4);
  header.writeUInt16LE(noDate, at + 8);
}

function writeSums(header: Buffer, { crc, bytes, packedBytes }: Sums, at: number): void {
  header.writeUInt32LE(crc, at);
  header.writeUInt32LE(packedBytes, at + 4);
  header.writeUInt32LE(bytes, at + 8);
}

function dataDescriptor(sums: Sums): Buffer {
  const descriptor = Buffer.alloc(16);
  descriptor.writeUInt32LE(0x08074b50, 0);
  writeSums(descriptor, sums, 4);
  return descriptor;
}

function directoryEntry({
  name,
  sums,
  offset,
}: {
  readonly name: Buffer;
  readonly sums: Sums;
  readonly offset: number;
}): Buffer {
  const entry = Buffer.alloc(46);
  entry.writeUInt32LE(0x02014b50, 0);
  entry.writeUInt16LE(version, 4);
  writeShared(entry, 6);
  writeSums(entry, sums, 16);
  entry.writeUInt16LE(name.length, 28);
  entry.writeUInt32LE(offset, 42);
  return Buffer.concat([entry, name]);
}

function endOfDirectory(entries: number, bytes: number, offset: number): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries, 8);
  end.writeUInt16LE(entries, 10);
  end.writeUInt32LE(bytes, 12);
  end.writeUInt32LE(offset, 16);
  return end;
}
