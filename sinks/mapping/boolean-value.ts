/**
 * Whether a value counts as true, as JSONata's $boolean says: false are nothing, null, 0, empty texts, lists without
 * anything true, empty objects and functions. Source: JSONata, "Boolean functions", $boolean.
 */
export function booleanValue(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(booleanValue);
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return typeof value === 'function' ? false : Boolean(value);
}
