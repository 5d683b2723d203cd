/**
 * The properties that have a value: undefined is "leave what is there alone" and goes, null is "clear it" and stays.
 * A mapping gives undefined for a field that is missing; a person writes `null` where a property is to be cleared.
 */
export function withoutNothing<Value>(
  properties: Readonly<Record<string, Value | undefined>>,
): Record<string, Exclude<Value, undefined>> {
  const entries = Object.entries(properties).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Record<string, Exclude<Value, undefined>>;
}
