import { isDeepStrictEqual } from 'node:util';
import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml';
import { endOfBlock, endOf, indentAt, startOfLine } from './add-sink.js';

/** The lines of a sink in a file that contain its mapping. */
interface MappingLines {
  /** The group of keys of the sink. */
  readonly sink: YAMLMap;
  /** Indentation of the keys of the sink. */
  readonly indent: string;
  /** Beginning and end of each key of the mapping, with the comments above it. */
  readonly ranges: readonly (readonly [number, number])[];
  /** End of the last key of the sink, for a sink without a mapping. */
  readonly end: number;
}

/** The text of a mapping in a file. */
export interface PlacedMapping {
  /** The whole file. */
  readonly file: string;
  /** The first line of the mapping, from 1. */
  readonly firstLine: number;
  /** Number of lines of the mapping. */
  readonly lines: number;
  /** Number of characters by which the file indents them. */
  readonly indent: number;
}

/**
 * Returns the mapping of a sink as text, with its comments and without the indentation of the file; empty if the sink has
 * none. Pure.
 * @param keys the keys of the sink that are its mapping
 * @returns null if the file is not valid YAML or has no such sink in the usual form
 */
export function mappingIn(file: string, sink: string, keys: readonly string[]): string | null {
  const found = linesOf(file, sink, keys);
  if (found === null) return null;
  const { indent, ranges } = found;
  const texts = ranges.map(([from, to]) => dedented(file.slice(from, to), indent));
  return texts.length === 0 ? '' : `${texts.join('\n')}\n`;
}

/**
 * Replaces the mapping of a sink in the text of a configuration file. All other text is unchanged, comments included. The
 * new mapping is where the first key of the old one was. Pure.
 * @returns null if the file is written in a form in which the mapping cannot be replaced, or if the text changes other keys
 */
export function replaceMapping(
  file: string,
  { sink, keys, text }: { readonly sink: string; readonly keys: readonly string[]; readonly text: string },
): PlacedMapping | null {
  const found = linesOf(file, sink, keys);
  if (found === null) return null;
  const { indent, ranges, end } = found;
  const newLine = file.includes('\r\n') ? '\r\n' : '\n';
  const lines = text.trimEnd() === '' ? [] : text.trimEnd().split(/\r?\n/);
  const block = lines.map((line) => (line.trim() === '' ? '' : `${indent}${line}`)).join(newLine);
  const [first, ...others] = ranges;
  let whole = file;
  // From the end, so that earlier positions stay valid.
  for (const [from, to] of others.toReversed()) whole = `${whole.slice(0, from)}${whole.slice(afterLine(whole, to))}`;
  if (first === undefined) {
    whole = block === '' ? whole : `${whole.slice(0, end)}${newLine}${block}${whole.slice(end)}`;
  } else {
    const [from, to] = first;
    whole = `${whole.slice(0, from)}${block}${whole.slice(block === '' ? afterLine(whole, to) : to)}`;
  }
  const at = first?.[0] ?? end + newLine.length;
  const firstLine = file.slice(0, at).split('\n').length;
  const placed = { file: whole, firstLine, lines: Math.max(lines.length, 1), indent: indent.length };
  return meansTheSame(file, whole, { sink, keys, text }) ? placed : null;
}

/** Returns the keys at the top of a mapping's text; null if it is not a group of keys. Pure. */
export function keysIn(text: string): readonly { readonly key: string; readonly line: number }[] | null {
  const document = parseDocument(text, { prettyErrors: false });
  if (document.errors.length > 0) return null;
  if (document.contents === null) return [];
  if (!isMap(document.contents)) return null;
  return document.contents.items.map(({ key }) => ({
    key: isScalar(key) ? String(key.value) : '',
    line: isScalar(key) ? text.slice(0, key.range![0]).split('\n').length : 1,
  }));
}

/** Whether the file means what it meant before, with the new mapping. A text with mistakes is compared nowhere. */
function meansTheSame(
  before: string,
  after: string,
  { sink, keys, text }: { readonly sink: string; readonly keys: readonly string[]; readonly text: string },
): boolean {
  const mapping = parseDocument(text, { prettyErrors: false });
  const found = parseDocument(after, { prettyErrors: false });
  if (mapping.errors.length > 0 || found.errors.length > 0) return false;
  const expected = parseDocument(before);
  for (const key of keys) expected.deleteIn(['sinks', sink, key]);
  const written = (mapping.toJS() ?? {}) as Readonly<Record<string, unknown>>;
  if (Object.keys(written).some((key) => !keys.includes(key))) return false;
  const whole = expected.toJS() as { sinks: Record<string, object> };
  whole.sinks[sink] = { ...whole.sinks[sink], ...written };
  return isDeepStrictEqual(found.toJS(), whole);
}

function linesOf(file: string, name: string, keys: readonly string[]): MappingLines | null {
  const document = parseDocument(file, { prettyErrors: false });
  if (document.errors.length > 0) return null;
  const sink = document.getIn(['sinks', name]);
  if (!isMap(sink) || sink.flow === true) return null;
  const [firstKey] = sink.items;
  if (!isScalar(firstKey?.key)) return null;
  const indent = indentAt(file, firstKey.key.range![0]);
  if (indent.trim() !== '') return null;
  const ends = sink.items.map((pair) => endOfBlock(file, endOf(pair), indent));
  const ranges = sink.items.flatMap((pair, at): [number, number][] => {
    if (!isScalar(pair.key) || !keys.includes(String(pair.key.value))) return [];
    return [[startWithComments(file, pair, { indent, after: ends[at - 1] ?? 0 }), ends[at]!]];
  });
  return { sink, indent, ranges, end: ends.at(-1)! };
}

/** Returns the start of a key's first line, or of the comments directly above it that are indented as it is. */
function startWithComments(
  file: string,
  { key }: Pair,
  { indent, after }: { readonly indent: string; readonly after: number },
): number {
  let start = startOfLine(file, (key as { readonly range: readonly [number, number, number] }).range[0]);
  for (;;) {
    const above = startOfLine(file, start - 1);
    if (start === 0 || above <= after || !file.startsWith(`${indent}#`, above)) return start;
    start = above;
  }
}

/** Returns the position after the end of the line at which a range ends. */
function afterLine(text: string, to: number): number {
  const end = text.indexOf('\n', to);
  return end === -1 ? text.length : end + 1;
}

function dedented(text: string, indent: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line.trimStart()))
    .join('\n');
}
