import type { Knobs } from './knobs.js';

interface Window {
  used: number;
  resetsAtMs: number;
}

/**
 * The request quota of each API key: a fixed number of requests in a window that starts with the first request.
 * Documented by the vendor: per token, 24 hours, X-RateLimit-* headers with the reset as UTC epoch seconds.
 */
export class Quota {
  readonly #windows = new Map<string, Window>();

  /** Counts one request. Returns the headers to send and whether the request exceeds the limit. */
  spend(apiKey: string, limits: Knobs['quota'], nowMs: number): { exceeded: boolean; headers: Record<string, string> } {
    if (limits === null) return { exceeded: false, headers: {} };
    let window = this.#windows.get(apiKey);
    if (window === undefined || nowMs >= window.resetsAtMs) {
      window = { used: 0, resetsAtMs: nowMs + limits.windowSeconds * 1000 };
      this.#windows.set(apiKey, window);
    }
    const exceeded = window.used >= limits.limit;
    if (!exceeded) window.used += 1;
    const headers: Record<string, string> = {};
    if (limits.headers !== false) {
      headers['X-RateLimit-Limit'] = String(limits.limit);
      headers['X-RateLimit-Remaining'] = String(limits.limit - window.used);
      if (limits.headers !== 'no-reset') headers['X-RateLimit-Reset'] = String(Math.ceil(window.resetsAtMs / 1000));
    }
    if (exceeded && limits.retryAfter) {
      headers['Retry-After'] = String(Math.ceil((window.resetsAtMs - nowMs) / 1000));
    }
    return { exceeded, headers };
  }

  /** Starts a new window for every key. */
  reset(): void {
    this.#windows.clear();
  }

  /** Returns the number of requests in the current windows of all keys. */
  used(nowMs: number): number {
    const current = [...this.#windows.values()].filter(({ resetsAtMs }) => nowMs < resetsAtMs);
    return current.reduce((sum, window) => sum + window.used, 0);
  }
}
