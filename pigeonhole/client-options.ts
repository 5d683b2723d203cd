import type { ApiErrorKind } from './api-error.js';
import type { Quota } from './quota.js';

/** How one client reaches one workspace of the service. */
export interface ClientOptions {
  /** https, or http of a loopback host; what stands before `/v2`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** URL of an HTTP proxy, credentials included; empty means none. Plain http (loopback) never goes through it. */
  readonly proxy?: string | undefined;
  /** Hosts reached without the proxy, as NO_PROXY lists them. */
  readonly noProxy?: string | undefined;
  /** PEM certificates to trust in addition to those that Node.js trusts; empty means none. */
  readonly ca?: string | undefined;
  /** Default 10,000. */
  readonly connectTimeoutMs?: number | undefined;
  /** From the request to the last byte of its answer, waiting for a connection included. Default 30,000. */
  readonly requestTimeoutMs?: number | undefined;
  /** Most connections at a time, kept open between requests. Default 8. */
  readonly connections?: number | undefined;
  /** A longer answer is refused, as kind `protocol`. Default 8 MiB. */
  readonly maxResponseBytes?: number | undefined;
  /** Called once for every request that was made, answered or not. Must not throw. */
  readonly onResponse?: ((facts: ResponseFacts) => void) | undefined;
  /** Epoch ms. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** One request as a log line or a metric shows it: no query, no header but the named ones, no payload. */
export interface ResponseFacts {
  readonly method: 'GET' | 'POST';
  /** From `/v2` on, without the query. */
  readonly path: string;
  /** Null when no answer came. */
  readonly status: number | null;
  /** The service's error code, if it gave one. */
  readonly code: number | null;
  /** Null for a success. */
  readonly kind: ApiErrorKind | null;
  readonly requestId: string | null;
  readonly durationMs: number;
  readonly quota: Quota | null;
}
