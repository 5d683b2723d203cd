import { changeJson } from '../change.js';
import type { Operation, Subject } from '../sink.js';

export interface FileOperation extends Operation {
  /** Below the sink's folder, with `/`. Not yet known to be safe: see isSafePath. */
  readonly path: string;
  /** Without the newline that ends it. */
  readonly line: string;
}

/** Returns the line of a change and its file: one file for each list and UTC day of the change. */
export function toFileOperation({ change, dataJson }: Subject): FileOperation {
  const day = change.timestamp.slice(0, 'YYYY-MM-DD'.length);
  return {
    changeId: change.id,
    path: `${change.workspace}/${change.pigeonholeId}/${change.list}/${day}.ndjson`,
    line: changeJson(change, dataJson),
  };
}

/** Returns the bytes of an operation's line. */
export function lineBytes(operation: FileOperation): Buffer {
  return linesBytes([operation]);
}

/** Returns the bytes of consecutive lines in one file. */
export function linesBytes(operations: readonly FileOperation[]): Buffer {
  return Buffer.from(`${operations.map(({ line }) => line).join('\n')}\n`);
}

const SLUG = '[A-Za-z0-9][A-Za-z0-9_-]{0,99}';
const SAFE_PATH = new RegExp(`^${SLUG}/\\d{1,16}/${SLUG}/\\d{4}-\\d{2}-\\d{2}\\.ndjson$`);

/**
 * Whether a path has the form `<workspace>/<pigeonholeId>/<list>/<YYYY-MM-DD>.ndjson`, of names that cannot leave the
 * folder. Workspace and list names are checked long before; this is the last place where a mistake there can be
 * stopped.
 */
export function isSafePath(path: string): boolean {
  return SAFE_PATH.test(path);
}
