/**
 * Splits values into chunks of `size`, in their order. Only the last chunk may be shorter. No values: no chunks.
 * @param size at least 1
 */
export function chunksOf<T>(values: readonly T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let from = 0; from < values.length; from += size) chunks.push(values.slice(from, from + size));
  return chunks;
}
