let numbers = new Intl.NumberFormat('en-US');

/** Sets the language whose digits and separators all numbers have. The page calls this once with the reader's. */
export function formatNumbersFor(languages: readonly string[]): void {
  numbers = new Intl.NumberFormat([...languages]);
}

/** Returns `12,345`, or `12.345` after `formatNumbersFor(['de'])`. */
export function grouped(n: string | number): string {
  return numbers.format(Number(n));
}

/** Returns an English text with its grouped numbers in the language of `formatNumbersFor`. Quoted texts stay. Pure. */
export function withLocalNumbers(text: string): string {
  return text.replace(/"[^"]*"|(?<![\w.,-])\d{1,3}(?:,\d{3})+(?![\w,-])/g, (found) =>
    found.startsWith('"') ? found : grouped(found.replaceAll(',', '')),
  );
}

/** Returns `1 row` or `12,345 rows`. */
export function counted(n: string | number | null | undefined, one: string, many = `${one}s`): string {
  return `${grouped(n ?? 0)} ${Number(n) === 1 ? one : many}`;
}

/** Returns `812 B`, `12 kB` or `3.4 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${grouped(Math.round(bytes / 1000))} kB` : `${grouped(Math.round(bytes / 1e5) / 10)} MB`;
}

/** Returns the noun for one item of a list: `attendee` for `attendees`. */
export function singular(list: string): string {
  return list.replace(/s$/, '');
}

/** Returns `row 7` or `1,250 rows (2, 3, 4, …)`. @param first the first rows in the order of the file */
export function rowsInWords(rows: number, first: readonly number[]): string {
  const named = first.map(grouped).join(', ');
  return rows === 1 ? `row ${named}` : `${counted(rows, 'row')} (${named}${rows > first.length ? ', …' : ''})`;
}

/** Returns the sum of counts by name. */
export function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, n) => sum + n, 0);
}

/** Returns an instant as `2026-11-21 09:30 UTC`, because readers may be in any time zone. */
export function formatInstant(iso: string | number | null | undefined): string {
  return `${String(iso).slice(0, 16).replace('T', ' ')} UTC`;
}

const minuteS = 60;
const hourS = 60 * minuteS;
const dayS = 24 * hourS;

/**
 * Returns `12 s`, `3 min`, `5 h` or `2 d`, in the largest unit that gives a number of at least 2.
 * @param seconds 0 or more
 */
export function formatSpan(seconds: number): string {
  if (seconds < 2 * minuteS) return `${Math.round(seconds)} s`;
  if (seconds < 2 * hourS) return `${Math.round(seconds / minuteS)} min`;
  if (seconds < 2 * dayS) return `${Math.round(seconds / hourS)} h`;
  return `${Math.round(seconds / dayS)} d`;
}

/** Returns `12 s ago`, `in 3 min` or `just now`. */
export function formatDistance(at: Date | number, now: Date | number): string {
  const seconds = Math.round((Number(at) - Number(now)) / 1000);
  if (seconds === 0) return 'just now';
  return seconds > 0 ? `in ${formatSpan(seconds)}` : `${formatSpan(-seconds)} ago`;
}

/** Rows by outcome. */
type Counts = Readonly<Record<string, number>> & { readonly waiting: number; readonly cancelled: number };

/** Returns the number of rows with a final outcome. Rows that were left or cancelled have none. Pure. */
export function settledRows(counts: Counts): number {
  return sumOf(counts) - counts.waiting - counts.cancelled;
}

/** Whether rows with this outcome are those that a canary leaves for later; nobody has cancelled them. Pure. */
export function isLeftByCanary(
  outcome: string,
  { canary, state }: { readonly canary: number | null; readonly state: string },
): boolean {
  return outcome === 'cancelled' && canary !== null && state === 'done';
}

/** Outcomes of rows that an operator must check, because the service does not have them as they are in the file. */
export const outcomesToCheck = ['conflict', 'rejected', 'invalid', 'unknown'] as const;

/** Returns the number of rows that an operator must check. Pure. */
export function rowsToCheck(counts: Readonly<Record<string, number>>): number {
  return outcomesToCheck.reduce((sum, outcome) => sum + (counts[outcome] ?? 0), 0);
}

/** An import, as far as its state in words depends on it. */
interface ImportState {
  readonly state: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly canary: number | null;
  /** Not null in the state `cancelled`: the file cannot be used. */
  readonly reason: string | null;
}

/** Returns the state of an import, such as `done, 3 to check` or `running (canary)`. Pure. */
export function importStateWords({ state, counts, canary, reason }: ImportState): string {
  if (state === 'cancelled' && reason !== null) return 'unusable file';
  const bad = state === 'done' ? rowsToCheck(counts) : 0;
  if (bad > 0) return `done, ${grouped(bad)} to check`;
  const word = state === 'staging' ? 'reading the file' : state;
  return canary === null ? word : `${word} (canary)`;
}
