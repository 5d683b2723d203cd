import type { Problem } from './config-error.js';
import { formatKey } from './key-path.js';
import type { KeyPath } from './key-path.js';
import { problemAt, valueAt } from './parse-tree.js';
import type { ConfigDocument } from './read-document.js';
import { Secret } from './secret.js';

/** A part of the contract that is described and checked, but not carried out in this version. */
export interface NotYetAvailable {
  /** Keys, with `*` for any name or position. */
  readonly key: string;
}

/** A version that builds a part deletes its line. Types of sinks are missing here when the caller passes no schema for them. */
export const notYetAvailable: readonly NotYetAvailable[] = [];

/** A problem for each part of the document that this version does not carry out: ignored silently, it would break a promise. */
export function findNotYetAvailable(document: ConfigDocument): Problem[] {
  return notYetAvailable.flatMap((part) =>
    matchingPaths(document.tree, part.key.split('.')).map((path) =>
      problemAt(document, path, 'not available in this version; remove it'),
    ),
  );
}

/**
 * Whether a problem's key is, or stands below, a part that is not available whatever its value.
 * @param key as formatKey writes it
 */
export function isWithinUnavailable(key: string, { tree }: ConfigDocument): boolean {
  return notYetAvailable
    .flatMap((part) => matchingPaths(tree, part.key.split('.')).map(formatKey))
    .some((part) => key === part || key.startsWith(`${part}.`) || key.startsWith(`${part}[`));
}

/** The paths that are written and match a pattern. */
function matchingPaths(tree: unknown, pattern: readonly string[]): KeyPath[] {
  let paths: KeyPath[] = [[]];
  for (const step of pattern) {
    paths = paths.flatMap((path) => {
      const value = valueAt(tree, path);
      if (typeof value !== 'object' || value === null || value instanceof Secret) return [];
      if (step === '*') return Object.keys(value).map((name) => [...path, Array.isArray(value) ? Number(name) : name]);
      return Object.hasOwn(value, step) ? [[...path, step]] : [];
    });
  }
  return paths;
}
