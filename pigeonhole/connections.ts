import * as tls from 'node:tls';
import { EnvHttpProxyAgent, Pool, type Dispatcher } from 'undici';
import { X509Certificate } from 'node:crypto';
import { type ApiErrorKind, ClientOptionsError } from './api-error.js';
import type { Quota } from './response.js';
import { isLoopback } from '../base/loopback.js';
import { maxHeaderBytes } from '../base/max-header-bytes.js';
import { proxyConnections } from '../base/proxy-connections.js';

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
  /** Maximum number of connections for reads, and for writes, kept open between requests. Default 8. */
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
  // checks only the name, without a DNS lookup
  const isLocal = isLoopback(url.hostname) || url.hostname.endsWith('.localhost');
  if (url.protocol === 'http:' && !isLocal) {
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

/**
 * Time for which an idle connection stays open. It is shorter than the 60 s after which common load balancers silently
 * drop an idle connection, and longer than the shortest usual polling interval. A server's own Keep-Alive hint takes
 * precedence.
 */
const keepAliveTimeoutMs = 30_000;

/**
 * Default of `maxResponseBytes`, enough for a page of 300 items of 28 KB each. This thread parses, compares and stores
 * an answer as a whole. An answer of 60 MB blocked the thread for a minute, so that leases, status and health probes
 * had to wait.
 */
export const maxAnswerBytes = 8 * 1024 * 1024;

/** The connections of a client. */
export interface Connections {
  readonly reads: Dispatcher;
  /** For imports and new objects, for which a person waits: a slow service may hold all connections of reads. */
  readonly writes: Dispatcher;
}

/**
 * Opens the connection pools of a client. They follow no redirects and request neither HTTP/2 nor compression.
 * @throws {ClientOptionsError} if the proxy or the certificates cannot be used
 */
export function openConnections(baseUrl: BaseUrl, options: ClientOptions, requestTimeoutMs: number): Connections {
  const connectTimeoutMs = options.connectTimeoutMs ?? 10_000;
  const ca = options.ca?.trim() === '' ? undefined : options.ca;
  const connect = {
    timeout: connectTimeoutMs,
    // Needed only for https. Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED=0, set for another tool, cannot
    // weaken it.
    ...(baseUrl.isSecure ? { secureContext: createTrustedContext(ca), rejectUnauthorized: true } : {}),
  };
  const pool = {
    connections: options.connections ?? 8,
    connect,
    keepAliveTimeout: keepAliveTimeoutMs,
    maxHeaderSize: maxHeaderBytes,
    // The request's own deadline ends it first; these limits use undici's coarser clock.
    headersTimeout: requestTimeoutMs,
    bodyTimeout: requestTimeoutMs,
    maxResponseSize: options.maxResponseBytes ?? maxAnswerBytes,
  };
  const proxy = readProxy(options.proxy);
  const open = (): Dispatcher => {
    if (proxy === undefined || !baseUrl.isSecure) return new Pool(baseUrl.origin, pool);
    return new EnvHttpProxyAgent({
      ...pool,
      // Empty strings and not undefined: for undefined, undici reads the environment, which only config may do.
      httpProxy: '',
      httpsProxy: proxy.uri,
      noProxy: options.noProxy ?? '',
      ...(proxy.token === undefined ? {} : { token: proxy.token }),
      requestTls: connect,
      proxyTls: connect,
      // By default, undici waits 300 s for the proxy to open a tunnel, which would also delay `close`.
      clientFactory: (origin, poolOptions) =>
        proxyConnections(origin, { ...poolOptions, headersTimeout: requestTimeoutMs }),
    });
  };
  return { reads: open(), writes: open() };
}

/** Splits a proxy URL into an address without credentials, which undici may print, and a header that carries them. */
function readProxy(text: string | undefined): { uri: string; token: string | undefined } | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new ClientOptionsError('proxy', 'is not an http or https URL; give one like http://proxy.example.com:3128');
  }
  if (url.username === '') return { uri: url.origin, token: undefined };
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { uri: url.origin, token: `Basic ${Buffer.from(credentials).toString('base64')}` };
}

const pemBlock = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/**
 * Creates the TLS settings of all connections of a client: at least TLS 1.2 (docs/service-contract.md, "Transport"),
 * trusting `ca` and the certificates that Node.js trusts. Call it once per client: parsing about 140 certificates takes
 * milliseconds.
 * @param ca PEM certificates; undefined for none
 * @throws {ClientOptionsError} if `ca` holds no certificate, or an unreadable one
 */
function createTrustedContext(ca: string | undefined): tls.SecureContext {
  if (ca === undefined) return tls.createSecureContext({ minVersion: 'TLSv1.2' });
  const certificates = ca.match(pemBlock) ?? [];
  if (certificates.length === 0 || !certificates.every(isReadable)) {
    throw new ClientOptionsError(
      'ca',
      'holds no readable PEM certificate; give text that begins with BEGIN CERTIFICATE',
    );
  }
  return tls.createSecureContext({ minVersion: 'TLSv1.2', ca: [...defaultCertificates(), ...certificates] });
}

/**
 * Returns the certificates that Node.js trusts. `getCACertificates` (Node.js 22.15) includes those of
 * NODE_EXTRA_CA_CERTS and --use-system-ca; older versions expose only the bundled ones.
 */
function defaultCertificates(): readonly string[] {
  const { getCACertificates } = tls as { getCACertificates?: (type: 'default') => string[] };
  return getCACertificates?.('default') ?? tls.rootCertificates;
}

function isReadable(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false; // the parser's message would not help: the caller's message says what is allowed
  }
}
