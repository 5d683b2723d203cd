import { formatKey, type KeyPath } from './key-path.js';
import { valueAt } from './parse-tree.js';
import type { ConfigDocument } from './read-document.js';
import { Secret } from './secret.js';

/** Where a setting stands: its line, from 1, and its key as people write it, e.g. `sinks.crm.records[0].when`. */
export interface SettingPlace {
  readonly line: number;
  readonly key: string;
}

/** A setting that is told where it stands in pigeonpost.yaml, for messages when it is used: an expression of a mapping. */
export interface PlacedSetting {
  /** As written. */
  readonly text: string;
  standsAt(place: SettingPlace): void;
}

/**
 * Tells settings their places. A schema may have put them elsewhere than they were written (`email: (x)` becomes
 * `{ value: (x), write: always }`): then it is the line where the same text stands below the nearest key that is
 * written, or that key's.
 * @param settings what a schema made of the part of the document at `at`
 */
export function tellPlaces(settings: unknown, document: ConfigDocument, at: KeyPath): void {
  if (isPlaced(settings)) {
    const path = writtenAt(settings.text, document, at);
    settings.standsAt({ line: document.placeOf(path).line, key: formatKey(path) });
  } else if (Array.isArray(settings)) {
    settings.forEach((entry, position) => tellPlaces(entry, document, [...at, position]));
  } else if (typeof settings === 'object' && settings !== null && !(settings instanceof Secret)) {
    for (const [key, value] of Object.entries(settings)) tellPlaces(value, document, [...at, key]);
  }
}

function isPlaced(value: unknown): value is PlacedSetting {
  return typeof value === 'object' && value !== null && 'standsAt' in value && typeof value.standsAt === 'function';
}

function writtenAt(text: string, document: ConfigDocument, at: KeyPath): KeyPath {
  let nearest = at;
  while (nearest.length > 0 && !document.isWritten(nearest)) nearest = nearest.slice(0, -1);
  return find(valueAt(document.tree, nearest), text, nearest) ?? nearest;
}

function find(tree: unknown, text: string, at: KeyPath): KeyPath | undefined {
  if (tree === text) return at;
  if (typeof tree !== 'object' || tree === null || tree instanceof Secret) return undefined;
  for (const [key, value] of Object.entries(tree)) {
    const found = find(value, text, [...at, Array.isArray(tree) ? Number(key) : key]);
    if (found !== undefined) return found;
  }
  return undefined;
}
