import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, type YAMLMap } from 'yaml';
import { ConfigError, type Problem } from './config-error.js';
import { fillReferences, hasReference, type ReferenceSources, StandIn } from './environment.js';
import { aliasMessage, type ParsedYaml, parseYaml, YamlLimitError, syntaxMessage } from './parse-yaml.js';
import { Secret } from './secret.js';

/** pigeonpost.yaml as plain values with resolved references, and the position of each for messages. */
export interface ConfigDocument {
  /** Objects, lists and scalars; a text from the environment or a file is a Secret. Absent keys are left out. */
  readonly tree: unknown;
  /** Problems that do not depend on a schema: unresolved references, duplicate keys. */
  readonly problems: readonly Problem[];
  /** Returns the position of a key, or of its nearest parent that is written. */
  placeOf(path: KeyPath): Position;
  /** Whether the key is in the file. Messages use it to tell a missing key from a wrong value. */
  isWritten(path: KeyPath): boolean;
  /** Keys, as people write them, whose value is a resolved reference. */
  readonly filledKeys: readonly string[];
  /** Whether the value there, or a parent, is a resolved reference. */
  isFilled(path: KeyPath): boolean;
  /** Whether `problems` already says why the value there cannot be used. */
  isBroken(path: KeyPath): boolean;
}

/** The sources of references. */
interface DocumentSources extends ReferenceSources {
  /** The references that a text sent to the API may contain. Any other is a problem and is not resolved. Absent: all. */
  readonly within?: RunningReferences | undefined;
}

interface Position {
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** The value as messages may print it: a literal is quoted, a reference is named. */
  readonly shown: string;
}

/**
 * Reads the text of pigeonpost.yaml, or of another file of this form.
 * @param sources null: no text is a reference, so that a text from a caller of the API cannot read a secret
 * @param guide documentation page that describes such a file
 * @throws {ConfigError} `syntax` with the first error only, `empty`, or `invalid` for a text beyond `yamlLimits`
 */
export function readDocument(
  text: string,
  file: string,
  sources: DocumentSources | null,
  guide = 'docs/configuration.md',
): ConfigDocument {
  const lines = new LineCounter();
  const { document, error } = parsedWithin(text, file, lines);
  if (error !== undefined) {
    const { line, col } = lines.linePos(error.offset);
    const message = syntaxMessage(error.code, text.split('\n')[line - 1] ?? '');
    throw new ConfigError('syntax', file, [{ line, column: col, key: '', message }]);
  }
  if (document.contents === null || (isScalar(document.contents) && document.contents.value === null)) {
    const message = `the file is empty; ${guide} shows what it must contain`;
    throw new ConfigError('empty', file, [{ line: 1, column: 1, key: '', message }]);
  }
  return new DocumentReader(lines, sources).read(document.contents);
}

function parsedWithin(text: string, file: string, lines: LineCounter): ParsedYaml {
  try {
    return parseYaml(text, lines);
  } catch (error) {
    if (!(error instanceof YamlLimitError)) throw error;
    const { line, col } = lines.linePos(error.offset);
    const place = { line: Math.max(line, 1), column: Math.max(col, 1), key: '' };
    throw new ConfigError('invalid', file, [{ ...place, message: error.message }]);
  }
}

/** Converts YAML nodes into values and records their positions and problems. */
class DocumentReader {
  readonly #places = new Map<string, Position>();
  readonly #broken = new Set<string>();
  readonly #filled = new Set<string>();
  readonly #filledKeys: string[] = [];
  readonly #problems: Problem[] = [];

  constructor(
    readonly lines: LineCounter,
    readonly sources: DocumentSources | null,
  ) {}

  read(root: Node): ConfigDocument {
    const tree = this.#value(root, []);
    const placeOf = (path: KeyPath): Position => {
      const place = this.#places.get(pathId(path));
      return place ?? (path.length === 0 ? { line: 1, column: 1, shown: 'nothing' } : placeOf(path.slice(0, -1)));
    };
    return {
      tree,
      problems: this.#problems,
      placeOf,
      isWritten: (path) => this.#places.has(pathId(path)),
      filledKeys: this.#filledKeys,
      isFilled: (path) => path.some((_, end) => this.#filled.has(pathId(path.slice(0, end + 1)))),
      isBroken: (path) => path.some((_, end) => this.#broken.has(pathId(path.slice(0, end + 1)))),
    };
  }

  /** Undefined means absent: nothing after the colon, or an empty reference. */
  #value(node: Node | null, path: KeyPath, key?: Node): unknown {
    const at = (shown: string) => this.#notePlace(path, key ?? node, shown);
    // With an alias, a value would have several positions; with a tag, it would have a type that messages cannot show.
    if (isAlias(node)) return this.#refuse(path, at('an alias'), aliasMessage);
    if (node?.tag !== undefined)
      return this.#refuse(path, at('a tag'), 'YAML tags are not supported; remove the one that begins with "!"');
    if (isMap(node)) {
      at('a group of keys');
      return this.#group(node, path);
    }
    if (isSeq(node)) {
      at('a list');
      const items: unknown[] = [];
      for (const item of node.items as Node[]) {
        const value = this.#value(item, [...path, items.length]);
        if (value !== undefined) items.push(value);
      }
      return items;
    }
    const value = isScalar(node) ? node.value : null;
    if (value === null) {
      at('nothing');
      return undefined;
    }
    if (typeof value !== 'string') {
      at(JSON.stringify(value));
      return value;
    }
    return this.#text(value, path, at);
  }

  #group(node: YAMLMap, path: KeyPath): Record<string, unknown> {
    const group: Record<string, unknown> = {};
    const seen = new Set<string>();
    for (const { key, value } of node.items as { key: Node; value: Node | null }[]) {
      const name = isScalar(key) ? String(key.value) : '';
      const at = [...path, name];
      if (seen.has(name) || name === '__proto__') {
        const message =
          name === '__proto__'
            ? 'this key is not allowed; give it another name'
            : 'this key is written twice; remove one of the two';
        this.#refuse(at, this.#position(key), message);
        continue;
      }
      seen.add(name);
      const read = this.#value(value, at, key);
      if (read !== undefined) group[name] = read;
    }
    return group;
  }

  #text(text: string, path: KeyPath, at: (shown: string) => Position): unknown {
    if (this.sources === null) {
      at(quoted(text));
      return text;
    }
    const { within } = this.sources;
    if (within !== undefined && hasReference(text) && !within.hasText(path, text)) {
      const message =
        'a configuration sent to the API may contain a reference only if the running file has the same reference at the same key; write it into the running file first';
      return this.#refuse(path, at('a reference'), message);
    }
    const filled = fillReferences(text, this.sources);
    switch (filled.kind) {
      case 'literal':
        at(quoted(filled.text));
        return filled.text;
      case 'absent':
        at('nothing');
        return undefined;
      case 'reference':
        at(`a value from ${filled.references.map((reference) => `\${${reference}}`).join(' and ')}`);
        this.#filled.add(pathId(path));
        this.#filledKeys.push(formatKey(path));
        if (within === undefined) return filled.secret;
        return new StandIn(filled.secret.reveal(), { isOfSameKey: within.isOfSameKey(path) });
      case 'problem':
        return this.#refuse(path, at('a reference'), filled.message, { isUnresolved: filled.isUnresolved });
    }
  }

  #notePlace(path: KeyPath, node: Node | null, shown: string): Position {
    const place = { ...this.#position(node), shown };
    this.#places.set(pathId(path), place);
    return place;
  }

  #position(node: Node | null): { line: number; column: number } {
    const { line, col } = this.lines.linePos(node?.range?.[0] ?? 0);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  }

  /** Reports a problem and returns a value that no schema accepts. The schema's own message about it is dropped. */
  #refuse(
    path: KeyPath,
    { line, column }: { line: number; column: number },
    message: string,
    more: Pick<Problem, 'isUnresolved'> = {},
  ): Secret {
    this.#broken.add(pathId(path));
    this.#problems.push({ line, column, key: formatKey(path), message, ...(more.isUnresolved === true ? more : {}) });
    return new Secret('');
  }
}

/**
 * Formats a literal for a message. The text is shortened. Only the host of a URL is shown, because user, password, path
 * and query of a webhook or proxy URL may be secret.
 */
function quoted(text: string): string {
  const safe = text.replace(
    /(:\/\/)(?:[^/?#\s]*@)?([^/?#\s]*)(?:[/?#]\S*)?/g,
    (address, start: string, host: string) => {
      const bare = `${start}${host}`;
      return address === bare || address === `${bare}/` ? address : `${bare}/…`;
    },
  );
  return JSON.stringify(safe.length > 60 ? `${safe.slice(0, 60)}…` : safe);
}

/** The path of a value in the document: keys and list positions. */
export type KeyPath = readonly (string | number)[];

/** Returns the value at a path; undefined if there is none. */
export function valueAt(tree: unknown, path: KeyPath): unknown {
  return path.reduce<unknown>((value, step) => {
    const isOpen = typeof value === 'object' && value !== null && !(value instanceof Secret);
    return isOpen && Object.hasOwn(value, step) ? (value as Record<string | number, unknown>)[step] : undefined;
  }, tree);
}

/** Returns the keys of the group at a path; empty if there is no group. */
export function namesAt(tree: unknown, path: KeyPath): string[] {
  const found = valueAt(tree, path);
  return isGroup(found) ? Object.keys(found) : [];
}

/** Whether a value of the document is a group of keys. */
export function isGroup(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Secret);
}

/** Formats a path as people write it: `syncs.conferences.every.live`, `alerts.to[0].token`, `drop["Dietary needs"]`. */
export function formatKey(path: KeyPath): string {
  return path
    .map((step, position) => {
      if (typeof step === 'number') return `[${step}]`;
      if (!/^[\w-]+$/.test(step)) return `[${JSON.stringify(step)}]`;
      return position === 0 ? step : `.${step}`;
    })
    .join('');
}

/** Returns a unique text for a path, as a Map key; `formatKey` may return the same text for two paths. */
export function pathId(path: KeyPath): string {
  return JSON.stringify(path);
}

/**
 * The references that a configuration sent to the API may contain: only those that the running file has at the same
 * key. Any other could read arbitrary variables and files of the process (decision 0045).
 */
export interface RunningReferences {
  /** Whether the running file has this text at the key. */
  hasText(path: KeyPath, text: string): boolean;
  /**
   * Whether a key has the same meaning in both files. For a key of a sink or an alert receiver, both files must give it
   * the same `type`.
   */
  isOfSameKey(path: KeyPath): boolean;
}

/**
 * @param running text of the running file
 * @param sent text of the other one
 */
export function runningReferences(running: string, sent: string): RunningReferences {
  const [own, other] = [treeOf(running), treeOf(sent)];
  const typeIn = (tree: unknown, path: KeyPath): unknown => {
    if (path[0] === 'sinks') return valueAt(tree, [...path.slice(0, 2), 'type']);
    return path[0] === 'alerts' && path[1] === 'to' ? valueAt(tree, [...path.slice(0, 3), 'type']) : 'of one kind';
  };
  return {
    hasText: (path, text) => valueAt(own, path) === text,
    isOfSameKey: (path) => typeof typeIn(own, path) === 'string' && typeIn(own, path) === typeIn(other, path),
  };
}

/** Reads the values without resolving references; undefined if the text is not a configuration. */
function treeOf(text: string): unknown {
  try {
    return readDocument(text, '', null).tree;
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}
