/** One request as the service saw it. Queries hold ids and filters, never names or answers. */
export interface LoggedRequest {
  /** ISO 8601, when the request arrived. */
  at: string;
  method: string;
  path: string;
  query: string;
  /** Null when the connection was closed without an answer. */
  status: number | null;
  /** The code of the error body; null for a success. */
  code: number | null;
  durationMs: number;
  /** Requests under way when this one arrived, itself included. */
  inFlight: number;
  requestId: string;
  /** Kinds of the faults that fired. */
  faults: string[];
}

const CAPACITY = 10_000;

/** Counts every request and keeps the latest ones. */
export class RequestLog {
  #latest: LoggedRequest[] = [];
  #counts = new Map<string, number>();
  #total = 0;
  #inFlight = 0;

  begin(): number {
    this.#inFlight += 1;
    return this.#inFlight;
  }

  end(request: LoggedRequest): void {
    this.#inFlight -= 1;
    this.#total += 1;
    const outcome = request.status === null ? 'dropped' : (request.code ?? request.status);
    const name = `${request.method} ${request.path} ${outcome}`;
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    this.#latest.push(request);
    if (this.#latest.length > 2 * CAPACITY) this.#latest = this.#latest.slice(-CAPACITY);
  }

  /** The latest requests, oldest first, at most 10,000. */
  latest(count: number): LoggedRequest[] {
    return this.#latest.slice(-Math.min(count, CAPACITY));
  }

  /** Requests since the last reset, by method, path and code (or status, where there is no code). */
  counts(): { total: number; inFlight: number; byPathAndCode: Record<string, number> } {
    const byPathAndCode = Object.fromEntries([...this.#counts].toSorted(([a], [b]) => a.localeCompare(b)));
    return { total: this.#total, inFlight: this.#inFlight, byPathAndCode };
  }

  reset(): void {
    this.#latest = [];
    this.#counts = new Map();
    this.#total = 0;
  }
}
