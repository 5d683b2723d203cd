/**
 * Number of milliseconds by which this machine's clock is behind the server's. Ages such as "3 s ago" use the server's
 * clock.
 */
let behindMs = 0;

/** Smaller differences are ignored: the header has whole seconds, and responses take time to arrive. */
const minDifferenceMs = 3000;

export function learnServerTime(dateHeader: string | null): void {
  const at = Date.parse(dateHeader ?? '');
  if (Number.isNaN(at)) return;
  const found = at - Date.now();
  behindMs = Math.abs(found) > minDifferenceMs ? found : 0;
}

export function serverNow(): number {
  return Date.now() + behindMs;
}
