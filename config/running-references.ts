import { ConfigError } from './config-error.js';
import { type KeyPath, readDocument } from './read-document.js';
import { valueAt } from './parse-tree.js';

/**
 * What a configuration that somebody has sent may take from this process: references that the running file has, word for
 * word, at the same key. With any other it could ask for each variable and file of the process (decision 0045).
 */
export interface RunningReferences {
  /** Whether the running file has this text there. */
  hasText(path: KeyPath, text: string): boolean;
  /** Whether a key has one meaning in both files: below a sink or a receiver, if both are of one type. */
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

/** As it is written, nothing filled. Of a text that is none, nothing. */
function treeOf(text: string): unknown {
  try {
    return readDocument(text, '', null).tree;
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}
