import { isDeepStrictEqual } from 'node:util';
import { isMap, isScalar, isSeq, parseDocument, type Pair, type YAMLMap } from 'yaml';

/** A sink for an existing file: its lines as `init` writes them, without indentation. */
export interface NewSink {
  readonly name: string;
  readonly comment: string;
  readonly lines: readonly string[];
}

/** The names in a configuration file that a new sink depends on. */
export interface FileNames {
  readonly syncs: readonly string[];
  readonly sinks: readonly string[];
}

/** Returns the names of the syncs and sinks of a file; null if it is not valid YAML or has no such groups. Pure. */
export function namesIn(text: string): FileNames | null {
  const document = parseDocument(text, { prettyErrors: false });
  if (document.errors.length > 0) return null;
  const [syncs, sinks] = [document.get('syncs'), document.get('sinks')];
  return isMap(syncs) && isMap(sinks) ? { syncs: namesOf(syncs), sinks: namesOf(sinks) } : null;
}

/**
 * Adds a sink to the text of a configuration file and to one of its syncs. All other text is unchanged, comments
 * included. Pure.
 * @returns null if the file is written in a form into which nothing can be inserted, such as `sinks: {}`
 */
export function addSink(text: string, sync: string, sink: NewSink): string | null {
  const document = parseDocument(text, { prettyErrors: false });
  const sinks = document.get('sinks');
  const names = document.getIn(['syncs', sync, 'sinks']);
  if (document.errors.length > 0 || !isMap(sinks) || sinks.flow === true || !isSeq(names)) return null;
  const lastSink = sinks.items.at(-1);
  const lastName = names.items.at(-1);
  if (lastSink === undefined || !isScalar(lastName) || !isScalar(lastSink.key)) return null;

  const indent = indentAt(text, lastSink.key.range![0]);
  const newLine = text.includes('\r\n') ? '\r\n' : '\n';
  const block = [`${sink.name}: # ${sink.comment}`, ...sink.lines.map((line) => `  ${line}`)];
  const nameEnd = lastName.range![1];
  const insertions = [
    {
      at: endOfBlock(text, endOf(lastSink), indent),
      added: block.map((line) => `${newLine}${indent}${line}`).join(''),
    },
    names.flow === true
      ? { at: nameEnd, added: `, ${sink.name}` }
      : {
          at: endOfLine(text, nameEnd),
          added: `${newLine}${text.slice(startOfLine(text, nameEnd), lastName.range![0])}${sink.name}`,
        },
  ];
  const result = insertions
    .toSorted((a, b) => b.at - a.at)
    .reduce((whole, { at, added }) => `${whole.slice(0, at)}${added}${whole.slice(at)}`, text);
  return isAdded(text, result, sync, sink.name) ? result : null;
}

/** Whether the file means what it meant before, with the new sink in both places. */
function isAdded(before: string, after: string, sync: string, name: string): boolean {
  const expected = parseDocument(before);
  const found = parseDocument(after, { prettyErrors: false });
  if (found.errors.length > 0) return false;
  expected.setIn(['sinks', name], found.getIn(['sinks', name]));
  expected.addIn(['syncs', sync, 'sinks'], name);
  return isDeepStrictEqual(found.toJS(), expected.toJS());
}

function namesOf(map: YAMLMap): string[] {
  return map.items.flatMap(({ key }) => (isScalar(key) && typeof key.value === 'string' ? [key.value] : []));
}

export function endOf({ key, value }: Pair): number {
  const last = (value ?? key) as { readonly range?: readonly [number, number, number] | null };
  return last.range![1];
}

export function startOfLine(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1) + 1;
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  const whole = end === -1 ? text.length : end;
  return text[whole - 1] === '\r' ? whole - 1 : whole;
}

export function indentAt(text: string, at: number): string {
  return text.slice(startOfLine(text, at), at);
}

/** Returns the end of the last line of a group, with the comments below it that are indented as its members are. */
export function endOfBlock(text: string, end: number, indent: string): number {
  let at = endOfLine(text, text.slice(0, end).trimEnd().length);
  const comment = new RegExp(`^\\r?\\n${indent}[ \\t]+#[^\\n]*`);
  for (let found = comment.exec(text.slice(at)); found !== null; found = comment.exec(text.slice(at))) {
    at = endOfLine(text, at + found[0].length);
  }
  return at;
}
