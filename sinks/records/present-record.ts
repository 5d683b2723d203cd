import type { IsOurs, PresentValue, PresentValues } from './decide-values.js';

/** A record as a vendor returns it that knows no time of a single value. */
export interface PresentRecord {
  /** Values by field name in lower case; absent if the field was not requested. */
  readonly values: ReadonlyMap<string, unknown>;
  readonly lastModifiedAtMs: number;
}

/**
 * Maximum difference between two times of one write. A response's time has whole seconds, and the record's time may come
 * from another clock of the vendor.
 */
const SAME_WRITE_MS = 2_000;

/** Whether the last change of a record is this sink's own write. */
export function isOwnChange(lastModifiedAtMs: number, writtenAtMs: number): boolean {
  return lastModifiedAtMs <= writtenAtMs + SAME_WRITE_MS;
}

/**
 * Returns the present values with their times. The vendor stores no time for a single field, so all values have the time
 * of the record's last change. If this sink made that change for this item, the values count as older than any other, so
 * that the item may replace them.
 * @param writtenAtMs time at which this sink last wrote the record for this item; null if it never did
 * @param isOurs whether this sink has probably written a present value
 */
export function presentValues(
  { values, lastModifiedAtMs }: PresentRecord,
  {
    writtenAtMs,
    isOurs,
  }: { readonly writtenAtMs: number | null; readonly isOurs: IsOurs | ((field: string) => IsOurs) },
): PresentValues {
  const isOwn = writtenAtMs !== null && isOwnChange(lastModifiedAtMs, writtenAtMs);
  const happenedAtMs = isOwn ? Number.NEGATIVE_INFINITY : lastModifiedAtMs;
  return new Map(
    [...values].map(([field, value]): [string, PresentValue] => [
      field,
      { value, happenedAtMs, isOurs: typeof isOurs === 'function' ? isOurs(field) : isOurs },
    ]),
  );
}

/** Whether a name is among these. Ignores case. */
export function isAmong(name: string, names: readonly string[]): boolean {
  return names.some((each) => each.toLowerCase() === name.toLowerCase());
}
