import { openRegistrantFile } from './open-registrant-file.js';
import { RegistrantFileError, type FileOptions, type RawRow, type RegistrantFile } from './registrant-file.js';

export interface ReadFile extends Pick<
  RegistrantFile,
  'format' | 'delimiter' | 'sheet' | 'sheets' | 'remarks' | 'headerRow' | 'columns'
> {
  readonly encoding: string | null;
  readonly encodingGuess: ReturnType<RegistrantFile['encodingGuess']>;
  readonly rows: readonly RawRow[];
}

/** Yields a file's bytes in chunks of this length, as a socket may deliver them. */
export async function* inChunks(content: Uint8Array | string, chunkBytes = 64 * 1024): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(content);
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}

/** Opens a file and reads all its rows. */
export async function readAll(
  content: Uint8Array | string,
  options: Partial<FileOptions> & { readonly chunkBytes?: number } = {},
): Promise<ReadFile> {
  const { chunkBytes, ...rest } = options;
  const file = await openRegistrantFile(inChunks(content, chunkBytes), { name: 'people', ...rest });
  const rows: RawRow[] = [];
  for await (const portion of file.rows) rows.push(...portion);
  const { format, delimiter, sheet, sheets, remarks, headerRow, columns } = file;
  return {
    format,
    encoding: file.encoding(),
    encodingGuess: file.encodingGuess(),
    delimiter,
    sheet,
    sheets,
    remarks,
    headerRow,
    columns,
    rows,
  };
}

/** Returns only the values of the rows. */
export async function valuesOf(
  content: Uint8Array | string,
  options?: Parameters<typeof readAll>[1],
): Promise<readonly (readonly string[])[]> {
  return (await readAll(content, options)).rows.map(({ values }) => values);
}

/** Returns the error that refuses a file. Throws if the file is accepted. */
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
