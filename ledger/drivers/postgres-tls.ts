import { readFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { type PostgresTlsMode, sslModes, tlsModeOf, tlsOptionsOf } from '../../base/postgres-tls.js';
import { StoreError } from './store-error.js';

/**
 * URL parameters about TLS. They are evaluated here and removed from the URL, because the driver has other defaults.
 */
const parameters = ['sslmode', 'ssl', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation', 'uselibpqcompat'] as const;

export interface StoreTls {
  readonly mode: PostgresTlsMode;
  /** TLS options for the driver. */
  readonly ssl: ConnectionOptions | false;
  /** The URL without the parameters that `ssl` covers. */
  readonly url: string;
}

/**
 * Reads from a store's URL how the connection is protected. If the URL has neither `sslmode` nor `ssl`, this is
 * `verify-full`, or `disable` for a server on this machine.
 * @throws {StoreError} kind `other`; the message does not contain the URL, which may hold a password
 */
export function storeTls(text: string): StoreTls {
  const url = new URL(text);
  const given = (name: (typeof parameters)[number]): string | undefined => url.searchParams.get(name) ?? undefined;
  const mode = modeOf(given('sslmode'), given('ssl'), url);
  const [ca, cert, key] = [given('sslrootcert'), given('sslcert'), given('sslkey')].map((path) =>
    path === undefined || path === 'system' ? undefined : readPem(path),
  );
  const stripped = new URL(text);
  for (const name of parameters) stripped.searchParams.delete(name);
  if (mode === 'disable') return { mode, ssl: false, url: stripped.href };
  const ssl: ConnectionOptions = {
    ...tlsOptionsOf(mode),
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
  return { mode, ssl, url: stripped.href };
}

function modeOf(sslmode: string | undefined, ssl: string | undefined, url: URL): PostgresTlsMode {
  if (sslmode !== undefined) {
    const mode = tlsModeOf(sslmode);
    if (mode !== undefined) return mode;
    throw new StoreError(
      'other',
      `the URL of "store" has an sslmode that is not known: allowed are ${sslModes.join(', ')}`,
    );
  }
  if (ssl === '0' || ssl === 'false') return 'disable';
  if (ssl === 'no-verify') return 'no-verify';
  if (ssl !== undefined) return 'verify-full';
  return isOwnMachine(url) ? 'disable' : 'verify-full';
}

/** Returns true for a loopback address or a socket, whose traffic does not leave this machine. */
function isOwnMachine(url: URL): boolean {
  const host = decodeURIComponent(url.searchParams.get('host') ?? url.hostname).replace(/^\[|\]$/g, '');
  return (
    host === '' ||
    host.startsWith('/') ||
    host === 'localhost' ||
    host === '::1' ||
    (isIPv4(host) && host.startsWith('127.'))
  );
}

function readPem(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new StoreError('other', `the file ${path}, which the URL of "store" names, cannot be read (${code})`);
  }
}
