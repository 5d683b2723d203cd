/** A request with its complete body, so that a rule can check every part. */
export interface DoubleRequest {
  /** Number of the request, starting from 1 and including faulty requests. */
  readonly number: number;
  readonly atMs: number;
  readonly method: string;
  /** The path without the query, percent-encoded as it was sent. */
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
  /** Sent without a content type, unless `headers` contains one. */
  readonly bytes?: Buffer;
}
