import { openRegistrantFile } from './open-registrant-file.js';
import { RegistrantFileError, type FileOptions, type RawRow, type RegistrantFile } from './registrant-file.js';

export interface ReadFile extends Pick<RegistrantFile, 'format' | 'encoding' | 'delimiter' | 'sheet' | 'columns'> {
  readonly rows: readonly RawRow[];
}

/** A file's bytes in chunks of a length, as a socket may cut them. */
export async function* inChunks(content: Uint8Array | string, chunkBytes = 64 * 1024): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(content);
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}

/** Opens a file and reads it to its end. */
export async function readAll(
  content: Uint8Array | string,
  options: Partial<FileOptions> & { readonly chunkBytes?: number } = {},
): Promise<ReadFile> {
  const { chunkBytes, ...rest } = options;
  const file = await openRegistrantFile(inChunks(content, chunkBytes), { name: 'people', ...rest });
  const rows: RawRow[] = [];
  for await (const batch of file.rows) rows.push(...batch);
  const { format, encoding, delimiter, sheet, columns } = file;
  return { format, encoding, delimiter, sheet, columns, rows };
}

/** The values alone. */
export async function valuesOf(
  content: Uint8Array | string,
  options?: Parameters<typeof readAll>[1],
): Promise<readonly (readonly string[])[]> {
  return (await readAll(content, options)).rows.map(({ values }) => values);
}

/** The sentence with which a file is refused, or throws when it is not. */
export async function refusalOf(
  content: Uint8Array | string,
  options?: Parameters<typeof readAll>[1],
): Promise<RegistrantFileError> {
  try {
    await readAll(content, options);
  } catch (error) {
    if (error instanceof RegistrantFileError) return error;
    throw error;
  }
  throw new Error('the file was read');
}
