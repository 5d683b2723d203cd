import { isObject, type JsonObject } from './statement.js';

/** What the LRS may assign (xAPI 1.0.3, Data, 2.3.1): it does not make two statements differ. */
const ASSIGNED = ['id', 'authority', 'stored', 'version'];

/**
 * Whether two statements are the same by the comparison requirements of xAPI 1.0.3 (Data, 2.3.1). Ignored are: what the
 * LRS assigns, the verb's display, definitions of activities, the order of a group's members, the letters of an instant
 * and of what is case-insensitive in an mbox. A duration is a string and counts as one.
 */
export function sameStatement(one: JsonObject, other: JsonObject): boolean {
  return JSON.stringify(essence(one, other)) === JSON.stringify(essence(other, one));
}

/** Whether two statements as they were sent are alike in all but the order of keys and the letters of the id. */
export function exactlySame(one: JsonObject, other: JsonObject): boolean {
  const lowerId = ({ id, ...rest }: JsonObject): JsonObject => ({ ...rest, id: String(id).toLowerCase() });
  return JSON.stringify(sorted(lowerId(one))) === JSON.stringify(sorted(lowerId(other)));
}

function essence(statement: JsonObject, against: JsonObject): unknown {
  const kept = Object.entries(statement).filter(([name]) => !ASSIGNED.includes(name));
  const { timestamp, ...rest } = Object.fromEntries(kept);
  // A timestamp that only one of them has was assigned by the LRS.
  const isCompared = against['timestamp'] !== undefined && typeof timestamp === 'string';
  return canonical({ ...rest, ...(isCompared && { timestamp: new Date(timestamp).toISOString() }) });
}

/** The same JSON with sorted keys, without what does not count. */
function canonical(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) {
    const entries = value.map((entry) => canonical(entry, name));
    return name === 'member' ? entries.map((entry) => JSON.stringify(entry)).toSorted() : entries;
  }
  if (typeof value === 'string' && name === 'mbox') return value.toLowerCase();
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !(key === 'display' && name === 'verb') && !(key === 'definition' && isActivity(value)))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, entry]) => [key, key === 'extensions' ? sorted(entry) : canonical(entry, key)]),
  );
}

/** Extensions are whatever they are: only the order of their keys does not count. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, entry]) => [key, sorted(entry)]));
}

function isActivity(value: JsonObject): boolean {
  return value['objectType'] === undefined || value['objectType'] === 'Activity';
}
