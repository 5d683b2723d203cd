import { ConfigError } from './config-error.js';
import { type KeyPath, readDocument } from './read-document.js';
import { valueAt } from './parse-tree.js';

/**
 * The references that a configuration sent to the API may contain: only those that the running file has at the same
 * key. Any other could read arbitrary variables and files of the process (decision 0045).
 */
export interface RunningReferences {
  /** Whether the running file has this text at the key. */
  hasText(path: KeyPath, text: string): boolean;
  /** Whether a key means the same in both files: below a sink or receiver, both must have the same type. */
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
