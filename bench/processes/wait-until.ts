import { setTimeout as pause } from 'node:timers/promises';

/** Rare enough to take nothing from what is measured: instants come from logs and rows, not from when we looked. */
const lookEveryMs = 50;

/**
 * Waits until `look` gives something, and gives it back.
 * @throws when it gives undefined for `timeoutMs`; the sentence names `what`
 */
export async function waitUntil<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  timeoutMs: number,
): Promise<T> {
  for (const end = Date.now() + timeoutMs; ;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error(`the bench waited ${timeoutMs / 1000} s in vain until ${what}`);
    await pause(lookEveryMs);
  }
}
