/** The value below which the given share of them lies, by the nearest rank. @throws {RangeError} for no values */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))];
  if (value === undefined) throw new RangeError('there is no percentile of no values');
  return value;
}

/** The middle value, or the mean of the two in the middle. @throws {RangeError} for no values */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  if (upper === undefined || lower === undefined) throw new RangeError('there is no median of no values');
  return (lower + upper) / 2;
}
