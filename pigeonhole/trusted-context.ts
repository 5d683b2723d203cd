import { X509Certificate } from 'node:crypto';
import * as tls from 'node:tls';
import { ClientOptionsError } from './client-options-error.js';

const pemBlock = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/**
 * The TLS settings of all connections of a client: at least TLS 1.2 (docs/service-contract.md, "Transport"), and what
 * Node.js trusts plus `ca`. Made once, for reading some 140 certificates takes milliseconds and every connection needs them.
 * @param ca PEM certificates; undefined for none
 * @throws {ClientOptionsError} when `ca` holds no certificate, or one that cannot be read
 */
export function createTrustedContext(ca: string | undefined): tls.SecureContext {
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
