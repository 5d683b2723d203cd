/**
 * Values over defaults, key by key, as deep as both are groups. A list replaces a list; a Secret or an Expression is a
 * value, whatever it holds.
 */
export function merged<Keys extends object>(defaults: Partial<Keys>, values: Keys): Keys {
  const result: Record<string, unknown> = { ...defaults };
  for (const [key, value] of Object.entries(values)) {
    const below = result[key];
    if (value !== undefined) result[key] = isGroup(below) && isGroup(value) ? merged(below, value) : value;
  }
  return result as Keys;
}

function isGroup(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
