/** How far this machine's clock is behind the server's, in milliseconds: "3 s ago" is counted by the server's. */
let behindMs = 0;

/** The header has whole seconds, and an answer takes time: less than this says nothing. */
const tellsAboveMs = 3000;

export function learnServerTime(dateHeader: string | null): void {
  const at = Date.parse(dateHeader ?? '');
  if (Number.isNaN(at)) return;
  const found = at - Date.now();
  behindMs = Math.abs(found) > tellsAboveMs ? found : 0;
}

export function serverNow(): number {
  return Date.now() + behindMs;
}
