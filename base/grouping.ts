/**
 * Groups values by a key, with the groups in the order of their first values. Equals `Map.groupBy`, which Node 20 does
 * not have.
 */
export function groupBy<T, K>(values: Iterable<T>, keyOf: (value: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}

/**
 * Splits values into chunks of `size`, in their order. Only the last chunk may be shorter. No values: no chunks.
 * @param size at least 1
 */
export function chunksOf<T>(values: readonly T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let from = 0; from < values.length; from += size) chunks.push(values.slice(from, from + size));
  return chunks;
}
