import { isObject, type JsonObject } from './statement.js';

/** Properties that the LRS may assign; the comparison ignores them (xAPI 1.0.3, Data, 2.3.1). */
const ASSIGNED = ['id', 'authority', 'stored', 'version'];

/**
 * Compares two statements by the comparison requirements of xAPI 1.0.3 (Data, 2.3.1). Ignores the properties that the LRS
 * assigns, the verb's display, definitions of activities, the order of a group's members, the notation of an instant, and
 * the case of an mbox. Compares durations as strings.
 */
export function sameStatement(one: JsonObject, other: JsonObject): boolean {
  return JSON.stringify(essence(one, other)) === JSON.stringify(essence(other, one));
}

/** Compares two statements as they were sent, ignoring only the order of keys and the case of the id. */
export function exactlySame(one: JsonObject, other: JsonObject): boolean {
  const lowerId = ({ id, ...rest }: JsonObject): JsonObject => ({ ...rest, id: String(id).toLowerCase() });
  return JSON.stringify(sorted(lowerId(one))) === JSON.stringify(sorted(lowerId(other)));
}

function essence(statement: JsonObject, against: JsonObject): unknown {
  const kept = Object.entries(statement).filter(([name]) => !ASSIGNED.includes(name));
  const { timestamp, ...rest } = Object.fromEntries(kept);
  // If only one of them has a timestamp, the LRS assigned it.
  const isCompared = against['timestamp'] !== undefined && typeof timestamp === 'string';
  return canonical({ ...rest, ...(isCompared && { timestamp: new Date(timestamp).toISOString() }) });
}

/** Returns the same JSON with sorted keys, without the parts that the comparison ignores. */
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

/** Sorts keys and changes nothing else, since extensions are compared in full. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, entry]) => [key, sorted(entry)]));
}

function isActivity(value: JsonObject): boolean {
  return value['objectType'] === undefined || value['objectType'] === 'Activity';
}
