/** Returns `1,500 deletions` or `1 deletion`. */
export function count(n: string | number | null | undefined, what: string): string {
  return `${grouped(n ?? 0)} ${what}${n === 1 ? '' : 's'}`;
}

/** Returns `1,500`. */
export function grouped(n: string | number): string {
  return Number(n).toLocaleString('en-US');
}

/** Returns `2026-11-21 09:30 UTC`: readers are in any time zone. */
export function formatInstant(iso: string | number | null | undefined): string {
  return `${String(iso).slice(0, 16).replace('T', ' ')} UTC`;
}
