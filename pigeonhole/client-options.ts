import type { ApiErrorKind } from './api-error.js';
import type { Quota } from './response-headers.js';
import { isIPv4 } from 'node:net';

/** The settings of a client of one workspace. */
export interface ClientOptions {
  /** An https URL, or an http URL of a loopback host, up to but without `/v2`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** URL of an HTTP proxy, with its credentials; empty for none. Requests over plain http (loopback) never use it. */
  readonly proxy?: string | undefined;
  /** Hosts to connect to without the proxy, in the format of NO_PROXY. */
  readonly noProxy?: string | undefined;
  /** PEM certificates to trust in addition to those that Node.js trusts; empty for none. */
  readonly ca?: string | undefined;
  /** Default 10,000. */
  readonly connectTimeoutMs?: number | undefined;
  /** Time from the request to the last byte of its answer, including the wait for a connection. Default 30,000. */
  readonly requestTimeoutMs?: number | undefined;
  /** Maximum number of connections, kept open between requests. Default 8. */
  readonly connections?: number | undefined;
  /** Maximum size of an answer; a larger one fails with kind `protocol`. Default 8 MiB. */
  readonly maxResponseBytes?: number | undefined;
  /** Called once for every request, whether it was answered or not. Must not throw. */
  readonly onResponse?: ((facts: ResponseFacts) => void) | undefined;
  /** Epoch ms. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** The facts of one request for logs and metrics: no query, no payload, and no headers except those named here. */
export interface ResponseFacts {
  readonly method: 'GET' | 'POST';
  /** Starts with `/v2`; has no query. */
  readonly path: string;
  /** Null if no answer arrived. */
  readonly status: number | null;
  /** The service's error code; null if there was none. */
  readonly code: number | null;
  /** Null for a success. */
  readonly kind: ApiErrorKind | null;
  readonly requestId: string | null;
  readonly durationMs: number;
  readonly quota: Quota | null;
}

/**
 * Invalid client options. The message names the option but not its value, which may hold a key or a proxy's password.
 */
export class ClientOptionsError extends Error {
  override readonly name = 'ClientOptionsError';
  readonly option: string;

  /** @param problem what is wrong and what is allowed; continues a sentence that starts with the option's name */
  constructor(option: string, problem: string) {
    super(`${option} ${problem}.`);
    this.option = option;
  }
}

/** The address of the service: an origin, and the path in front of `/v2` (empty, or `/…` without a trailing slash). */
export interface BaseUrl {
  readonly origin: string;
  readonly prefix: string;
  readonly isSecure: boolean;
}

/**
 * Parses a base URL. Plain http is accepted only for loopback: elsewhere it would expose the key to the network.
 * Source: docs/service-contract.md, "Transport".
 * @throws {ClientOptionsError} if the URL cannot be used; the message does not repeat it
 */
export function readBaseUrl(text: string): BaseUrl {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new ClientOptionsError('baseUrl', 'is not an https URL; give one like https://engagement.example.com');
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new ClientOptionsError(
      'baseUrl',
      'is a plain http URL of a remote host; use https (http is accepted only for loopback)',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new ClientOptionsError(
      'baseUrl',
      'contains a user name or a password; remove them (the API key is a separate setting)',
    );
  }
  if (url.search !== '' || url.hash !== '') {
    throw new ClientOptionsError('baseUrl', 'contains a query or a fragment; remove it');
  }
  const prefix = url.pathname.replace(/\/+$/, '');
  if (prefix.endsWith('/v2'))
    throw new ClientOptionsError('baseUrl', 'ends in /v2, which every request adds; remove it');
  return { origin: url.origin, prefix, isSecure: url.protocol === 'https:' };
}

/** Checks only the name, without a DNS lookup. */
function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]') return true;
  return isIPv4(hostname) && hostname.startsWith('127.');
}
