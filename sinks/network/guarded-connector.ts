import { lookup as lookUpName, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { isPublicAddress } from './public-address.js';

/**
 * A connection that was refused because of its address. The message names the host and what to do; it contains no path
 * or query, since these may hold a token.
 */
export class RefusedAddressError extends Error {
  override readonly name = 'RefusedAddressError';
  readonly code = 'ERR_REFUSED_ADDRESS';
}

/** Explicit, so that neither Node's settings nor NODE_TLS_REJECT_UNAUTHORIZED=0 of another tool can weaken it. */
export const strictTls = { minVersion: 'TLSv1.2', rejectUnauthorized: true } as const;

export interface ConnectorOptions {
  /** False refuses every address that is not on the public internet. */
  readonly allowPrivateAddresses: boolean;
  readonly connectTimeoutMs: number;
  /** Certificates (PEM) to trust; absent: those that Node trusts. */
  readonly trustedCertificates?: readonly string[];
  /** The name look-up, of `node:dns` unless a test gives another. */
  readonly lookUp?: typeof lookUpName;
}

/**
 * Opens connections to allowed addresses only. The address is checked where the socket receives it, so a name cannot
 * change its address between check and use (DNS rebinding). An address in the URL is never looked up, so it is checked
 * before. Plain http never leaves private networks: even if private addresses are allowed, a public address is refused
 * without TLS.
 */
export function guardedConnector(options: ConnectorOptions): buildConnector.connector {
  const isAllowed = (address: string, protocol: string): boolean =>
    isPublicAddress(address) ? protocol === 'https:' : options.allowPrivateAddresses;
  const connectorFor = (protocol: string): buildConnector.connector =>
    buildConnector({
      timeout: options.connectTimeoutMs,
      ...strictTls,
      ...(options.trustedCertificates && { ca: [...options.trustedCertificates] }),
      lookup: guardedLookUp(options.lookUp ?? lookUpName, (address) => isAllowed(address, protocol)),
    });
  const connectors = { 'https:': connectorFor('https:'), 'http:': connectorFor('http:') };

  return (target, callback) => {
    const protocol = target.protocol === 'http:' ? 'http:' : 'https:';
    const host = target.hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) !== 0 && !isAllowed(host, protocol)) callback(refusal(host, isPublicAddress(host)), null);
    else connectors[protocol](target, callback);
  };
}

function guardedLookUp(lookUp: typeof lookUpName, isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookUp(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error) return callback(error, '');
      const allowed = addresses.filter(({ address }) => isAllowed(address));
      const [first] = allowed;
      if (first === undefined) {
        return callback(
          refusal(
            hostname,
            addresses.some(({ address }) => isPublicAddress(address)),
          ),
          '',
        );
      }
      if (options.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

function refusal(host: string, isPublic: boolean): RefusedAddressError {
  return new RefusedAddressError(
    isPublic
      ? `${host} has a public address, which pigeonpost reaches over https only: write https in its address`
      : `${host} has no public address: set "allowPrivateAddresses: true" if it is meant to be reached`,
  );
}
