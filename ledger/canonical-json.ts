/** Sorted key order by the object's own: items of a list repeat few shapes, and sorting is what canonical JSON costs. */
const sortedKeys = new Map<string, readonly string[]>();
const mostShapes = 4096;

/**
 * JSON in the one form that RFC 8785 gives it: members sorted by UTF-16 code units, no spaces, numbers and strings
 * as ECMAScript prints them. Two equal values give equal text, whatever order their members came in. Lone surrogates,
 * which the RFC leaves out, keep their escaped form.
 * @param omit names of members that are left out, at any depth
 */
export function canonicalJson(value: unknown, omit?: ReadonlySet<string>): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map((element) => canonicalJson(element, omit)).join(',')}]`;
  const record = value as Record<string, unknown>;
  let text = '';
  for (const key of orderOf(record)) {
    const member = record[key];
    if (member === undefined || omit?.has(key) === true) continue;
    text += `${text === '' ? '{' : ','}${JSON.stringify(key)}:${canonicalJson(member, omit)}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

function orderOf(record: Record<string, unknown>): readonly string[] {
  const keys = Object.keys(record);
  const shape = keys.join('\u0000');
  const known = sortedKeys.get(shape);
  // A name that holds the separator itself reads like two names, but never like as many as it is.
  if (known?.length === keys.length) return known;
  const order = keys.toSorted(byCodeUnits);
  if (keys.some((key) => key.includes('\u0000'))) return order;
  if (sortedKeys.size >= mostShapes) sortedKeys.clear();
  sortedKeys.set(shape, order);
  return order;
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
