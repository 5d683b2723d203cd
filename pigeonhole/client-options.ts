import type { ApiErrorKind } from './api-error.js';
import type { Quota } from './response-headers.js';
import { isIPv4 } from 'node:net';

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

/** Options that no client can be made of. Names the option, never its value: it may hold a key or a proxy's password. */
export class ClientOptionsError extends Error {
  override readonly name = 'ClientOptionsError';
  readonly option: string;

  /** @param problem what is wrong and what is allowed, as the rest of a sentence that begins with the option's name */
  constructor(option: string, problem: string) {
    super(`${option} ${problem}.`);
    this.option = option;
  }
}

/** Where the service is: an origin, and what stands before `/v2` in its paths (empty, or `/…` without a final slash). */
export interface BaseUrl {
  readonly origin: string;
  readonly prefix: string;
  readonly isSecure: boolean;
}

/**
 * Takes a base address apart. Plain http is for loopback alone: anywhere else it would show the key to the network.
 * Source: docs/service-contract.md, "Transport".
 * @throws {ClientOptionsError} when the address cannot be used; the message does not repeat it
 */
export function readBaseUrl(text: string): BaseUrl {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new ClientOptionsError('baseUrl', 'is not an https URL; give one like https://engagement.example.com');
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new ClientOptionsError(
      'baseUrl',
      'is a plain http URL of another host; use https, http is for loopback alone',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new ClientOptionsError('baseUrl', 'holds a user name or a password; the API key is given by itself');
  }
  if (url.search !== '' || url.hash !== '') {
    throw new ClientOptionsError('baseUrl', 'holds a query or a fragment; give the address alone');
  }
  const prefix = url.pathname.replace(/\/+$/, '');
  if (prefix.endsWith('/v2'))
    throw new ClientOptionsError('baseUrl', 'ends in /v2, which every request adds; leave it out');
  return { origin: url.origin, prefix, isSecure: url.protocol === 'https:' };
}

/** By name alone, without asking DNS. */
function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]') return true;
  return isIPv4(hostname) && hostname.startsWith('127.');
}
