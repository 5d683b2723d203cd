/** A request with its whole body, so that a rule can check any part of it. */
export interface DoubleRequest {
  /** Counts from 1, faults included. */
  readonly number: number;
  readonly atMs: number;
  readonly method: string;
  /** Without the query, as it was sent (still percent-encoded). */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Lower-case names; a repeated header is joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The body as it was sent. */
  readonly bytes?: Buffer;
}

/** A double's answer: at most one of `json`, `text`, `html` and `bytes`; none means an empty body. */
export interface DoubleAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly text?: string;
  readonly html?: string;
  /** Sent without a content type of its own. */
  readonly bytes?: Buffer;
}
