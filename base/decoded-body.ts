import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw, type InputType, type ZlibOptions } from 'node:zlib';

type Decode = (body: InputType, options: ZlibOptions) => Promise<Buffer>;

const inflateAny: Decode = async (body, options) => {
  try {
    return await promisify<InputType, ZlibOptions, Buffer>(inflate)(body, options);
  } catch (error) {
    // Some servers send the raw form, without the header of zlib (RFC 9110, 8.4.1.2).
    if ((error as { code?: unknown }).code !== 'Z_DATA_ERROR') throw error;
    return await promisify<InputType, ZlibOptions, Buffer>(inflateRaw)(body, options);
  }
};

const decoders: Readonly<Record<string, Decode>> = {
  gzip: promisify<InputType, ZlibOptions, Buffer>(gunzip),
  'x-gzip': promisify<InputType, ZlibOptions, Buffer>(gunzip),
  deflate: inflateAny,
  br: promisify<InputType, ZlibOptions, Buffer>(brotliDecompress),
};

/** At most this many encodings of one body: more is an attack. */
const maxEncodings = 2;

/**
 * Decodes a body by its `Content-Encoding`. Some servers and proxies compress although no compression was requested.
 * @param encoding the header; undefined: none
 * @param maxBytes maximum length of the decoded body
 * @returns the bytes; undefined if the encoding is unknown, the body is damaged or too long
 */
export async function decodedBody(
  body: Buffer,
  encoding: string | undefined,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const names = (encoding ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length > maxEncodings) return undefined;
  let bytes = body;
  for (const name of names.toReversed()) {
    if (bytes.length === 0) return bytes; // the answer to a HEAD, or a 204
    const decode = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
    if (decode === undefined) return undefined;
    try {
      bytes = await decode(bytes, { maxOutputLength: maxBytes });
    } catch {
      return undefined;
    }
  }
  return bytes;
}
