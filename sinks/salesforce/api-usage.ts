/** How long a count of the org's requests is believed: then one request finds out what it is now. */
const BELIEVED_FOR_MS = 15 * 60 * 1000;

/**
 * Keeps the org's requests of the last 24 hours, everyone's together, below a number: Salesforce tells the count with
 * each answer. So it is known after a restart, and leaves the rest of the org's limit to others.
 */
export class ApiUsage {
  #used = 0;
  #countedAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly mostPerDay: number) {}

  /** @param header `Sforce-Limit-Info`, such as `api-usage=18/5000` */
  note(header: string | undefined, nowMs: number): void {
    const used = /(?:^|[,\s])api-usage=(\d+)\/\d+/.exec(header ?? '')?.[1];
    if (used === undefined) return;
    this.#used = Number(used);
    this.#countedAtMs = nowMs;
  }

  /** How long no request may be made, in ms; undefined: one may. */
  spentForMs(nowMs: number): number | undefined {
    const forMs = this.#countedAtMs + BELIEVED_FOR_MS - nowMs;
    return this.#used >= this.mostPerDay && forMs > 0 ? forMs : undefined;
  }
}
