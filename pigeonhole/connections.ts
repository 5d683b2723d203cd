import { EnvHttpProxyAgent, Pool, type Dispatcher } from 'undici';
import { type BaseUrl, ClientOptionsError, type ClientOptions } from './client-options.js';
import { X509Certificate } from 'node:crypto';
import * as tls from 'node:tls';

/**
 * Below the 60 s after which common load balancers drop an idle connection without a word, above the shortest usual
 * poll interval. A server's own Keep-Alive hint goes before it.
 */
const keepAliveTimeoutMs = 30_000;

/**
 * A page of 300 items with 28 KB each. This thread parses, compares and stores an answer as a whole: one of 60 MB kept it
 * busy for a minute, and leases, status and probes with it.
 */
const maxAnswerBytes = 8 * 1024 * 1024;

/**
 * Opens the one connection pool of a client. Follows no redirects, asks for no HTTP/2 and no compression.
 * @throws {ClientOptionsError} when the proxy or the certificates cannot be used
 */
export function openConnections(baseUrl: BaseUrl, options: ClientOptions, requestTimeoutMs: number): Dispatcher {
  const connectTimeoutMs = options.connectTimeoutMs ?? 10_000;
  const ca = options.ca?.trim() === '' ? undefined : options.ca;
  const connect = {
    timeout: connectTimeoutMs,
    // Only https needs them; said outright, so that NODE_TLS_REJECT_UNAUTHORIZED=0 of another tool cannot weaken it.
    ...(baseUrl.isSecure ? { secureContext: createTrustedContext(ca), rejectUnauthorized: true } : {}),
  };
  const pool = {
    connections: options.connections ?? 8,
    connect,
    keepAliveTimeout: keepAliveTimeoutMs,
    // The request's own deadline is what ends it; these would only fire later, by undici's coarser clock.
    headersTimeout: requestTimeoutMs,
    bodyTimeout: requestTimeoutMs,
    maxResponseSize: options.maxResponseBytes ?? maxAnswerBytes,
  };
  const proxy = readProxy(options.proxy);
  if (proxy === undefined || !baseUrl.isSecure) return new Pool(baseUrl.origin, pool);
  return new EnvHttpProxyAgent({
    ...pool,
    // Empty texts, not undefined: for an undefined one undici reads the environment, which is config's to know.
    httpProxy: '',
    httpsProxy: proxy.uri,
    noProxy: options.noProxy ?? '',
    ...(proxy.token === undefined ? {} : { token: proxy.token }),
    requestTls: connect,
    proxyTls: connect,
    // undici would wait 300 s for the proxy to open a tunnel, and closing would wait with it.
    clientFactory: (origin, poolOptions) => new Pool(origin, { ...poolOptions, headersTimeout: requestTimeoutMs }),
  });
}

/** The proxy without its credentials, and these as a header: what undici keeps as an address can then be shown. */
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
 * The TLS settings of all connections of a client: at least TLS 1.2 (docs/service-contract.md, "Transport"), and what
 * Node.js trusts plus `ca`. Made once, for reading some 140 certificates takes milliseconds and every connection needs them.
 * @param ca PEM certificates; undefined for none
 * @throws {ClientOptionsError} when `ca` holds no certificate, or one that cannot be read
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
 * What Node.js trusts by itself. `getCACertificates` (Node.js 22.15) knows those of NODE_EXTRA_CA_CERTS and
 * --use-system-ca as well; before it, only the bundled ones can be had.
 */
function defaultCertificates(): readonly string[] {
  const { getCACertificates } = tls as { getCACertificates?: (type: 'default') => string[] };
  return getCACertificates?.('default') ?? tls.rootCertificates;
}

function isReadable(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false; // the parser's own words would not help: the caller's sentence says what is allowed
  }
}
