import { parser as saxParser } from 'sax';
import { RegistrantFileError, readLimits } from '../registrant-file.js';

interface XmlHandler {
  /** @param name without its prefix: writers differ in how they name the same namespace */
  readonly open: (name: string, attribute: (name: string) => string | undefined) => void;
  /** Receives a part of a text; long texts arrive in several parts. */
  readonly text: (text: string) => void;
  readonly close: (name: string) => void;
}

/**
 * Subtrees that are not passed on: extensions of later versions, whose elements have the names of other elements (the
 * `workbookPr` of an extension says nothing about dates), and alternatives that need an extension. The `Fallback` beside
 * them is read (ECMA-376, part 3, 7).
 */
const skipped: ReadonlySet<string> = new Set(['extLst', 'Choice']);

/** Whether an attribute is true (xsd:boolean, in any case, and the `on` of early programs). */
export function truth(value: string | undefined): boolean {
  return value !== undefined && /^\s*(1|true|on|t)\s*$/i.test(value);
}

/**
 * Parses streamed XML: calls the handler for each chunk, then yields, so that the consumer can take the results. Custom
 * entities are not expanded (a document that defines some counts as damaged), and external ones are never fetched.
 * @throws {RegistrantFileError} kind `damaged` if it is not well-formed; errors of the handler
 */
export async function* xmlEvents(
  bytes: AsyncIterable<Buffer>,
  handler: XmlHandler,
): AsyncGenerator<void, void, undefined> {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let skippedDepth = 0; // elements open within a skipped subtree, its root included
  const parser = saxParser(true, { position: false });
  parser.onopentag = ({ name, attributes }) => {
    const local = localName(name);
    if (skippedDepth > 0 || skipped.has(local)) skippedDepth++;
    else handler.open(local, (wanted) => valueOf(attributes as Record<string, string>, wanted));
  };
  const text = (part: string) => {
    if (skippedDepth === 0) handler.text(part);
  };
  parser.ontext = text;
  parser.oncdata = text;
  parser.onclosetag = (name) => {
    if (skippedDepth > 0) skippedDepth--;
    else handler.close(localName(name));
  };
  parser.onerror = () => {
    parser.onerror = () => undefined; // report only the first
    throw damaged();
  };
  for await (const chunk of bytes) {
    decoder ??= decoderOf(chunk);
    parser.write(decode(decoder, chunk));
    refuseExcess(parser);
    yield;
  }
  parser.close();
  yield;
}

/** The buffers in which sax collects incomplete tokens. Its own limit has no effect if it does not track positions. */
const gathered = [
  'attribName',
  'attribValue',
  'cdata',
  'comment',
  'doctype',
  'entity',
  'procInstBody',
  'procInstName',
  'script',
  'sgmlDecl',
  'tagName',
  'textNode',
] as const;

/**
 * @throws {RegistrantFileError} kind `too-large` for tokens that no spreadsheet program writes, before they fill the
 * memory
 */
function refuseExcess(parser: object): void {
  const state = parser as Readonly<Record<(typeof gathered)[number], unknown>> & { readonly tags?: readonly unknown[] };
  const length = (name: (typeof gathered)[number]): number => {
    const value = state[name];
    return typeof value === 'string' ? value.length : 0;
  };
  if (gathered.some((name) => length(name) > readLimits.xmlTokenLength))
    throw tooLarge('a text or comment in it is too long');
  if ((state.tags?.length ?? 0) > readLimits.xmlDepth) throw tooLarge('its XML is nested too deeply');
}

/** Reads a small part completely. */
export async function readXml(bytes: AsyncIterable<Buffer>, handler: XmlHandler): Promise<void> {
  const events = xmlEvents(bytes, handler);
  while ((await events.next()).done !== true);
}

/** XML of a workbook is UTF-8, or UTF-16 with a byte order mark (ECMA-376, part 2, 6.2.6). */
function decoderOf([first, second]: Buffer): InstanceType<typeof TextDecoder> {
  const isWide = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  return new TextDecoder(isWide ? (first === 0xff ? 'utf-16le' : 'utf-16be') : 'utf-8', { fatal: true });
}

function decode(decoder: InstanceType<typeof TextDecoder>, chunk: Buffer): string {
  try {
    return decoder.decode(chunk, { stream: true });
  } catch (error) {
    throw damaged(error);
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** Returns an attribute by name, also with a prefix: `id` finds `r:id` if there is no plain `id`. */
function valueOf(attributes: Readonly<Record<string, string>>, wanted: string): string | undefined {
  if (Object.hasOwn(attributes, wanted)) return attributes[wanted];
  return Object.entries(attributes).find(([name]) => localName(name) === wanted)?.[1];
}

function damaged(cause?: unknown): RegistrantFileError {
  return new RegistrantFileError('damaged', 'The XLSX file is damaged: its XML is not well-formed; save it again.', {
    cause,
  });
}

function tooLarge(why: string): RegistrantFileError {
  return new RegistrantFileError(
    'too-large',
    `The XLSX file cannot be a list of registrants: ${why}; save the sheet as CSV.`,
  );
}
