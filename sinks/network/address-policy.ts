import { lookup as lookUpName, type LookupAddress } from 'node:dns';
import { BlockList, isIP, isIPv4, isIPv6, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { z } from 'zod';
import { isLoopback } from '../../base/loopback.js';
import { Secret } from '../../config/secret.js';

/**
 * The network policy of all sinks that connect to an HTTP address (docs/sinks.md, decision 0069). A sink spreads
 * `networkKeys` into its schema, reads addresses with `sinkUrl()`, adds `plainHttpStaysPrivate` and passes
 * `mayReachPrivate` to its REST client. test/structure/network-policy.test.ts checks this for all sink types.
 */
export const networkKeys = {
  allowPrivateAddresses: z
    .boolean({ error: 'allowed: true or false' })
    .default(false)
    .describe('Whether this sink may connect to loopback and private networks, also over http.'),
};

export interface NetworkKeys {
  readonly allowPrivateAddresses?: boolean | undefined;
}

export const plainHttpProblem =
  'must begin with https://; http is for private networks, together with "allowPrivateAddresses: true"';

/**
 * Returns a check for `superRefine` of a sink's schema. It refuses http addresses that are not loopback, unless
 * `allowPrivateAddresses` is set. Even if it is set, the connector refuses http to a public address.
 * @param names the keys that hold addresses, as texts or as secrets
 */
export function plainHttpStaysPrivate<const Name extends string>(...names: readonly Name[]) {
  return (keys: NetworkKeys & { readonly [key in Name]?: unknown }, context: z.RefinementCtx): void => {
    if (keys.allowPrivateAddresses === true) return;
    for (const name of names) {
      const found: unknown = keys[name];
      const address = found instanceof Secret ? found.reveal() : found;
      if (typeof address !== 'string' || !URL.canParse(address)) continue;
      const { protocol, hostname } = new URL(address);
      if (protocol !== 'http:' || isLoopback(hostname)) continue;
      context.issues.push({ code: 'custom', input: undefined, path: [name], message: plainHttpProblem });
    }
  };
}

/** Whether connections to a configured address may reach private networks. Loopback needs no setting. */
export function mayReachPrivate(url: URL, { allowPrivateAddresses = false }: NetworkKeys): boolean {
  return allowPrivateAddresses || isLoopback(url.hostname);
}

/**
 * Thrown if pigeonpost refuses a connection because of its address. The message says which host it was and what to do.
 * It contains no path or query, because these may contain a token.
 */
export class RefusedAddressError extends Error {
  override readonly name = 'RefusedAddressError';
  readonly code = 'ERR_REFUSED_ADDRESS';
}

/**
 * TLS options for all connections. They are set explicitly, so that neither Node's settings nor
 * NODE_TLS_REJECT_UNAUTHORIZED=0 (set for another tool) can weaken them.
 */
export const strictTls = { minVersion: 'TLSv1.2', rejectUnauthorized: true } as const;

interface ConnectorOptions {
  /** If false, every address that is not on the public internet is refused. */
  readonly allowPrivateAddresses: boolean;
  readonly connectTimeoutMs: number;
  /** Certificates (PEM) to trust. Absent: those that Node trusts by default. */
  readonly trustedCertificates?: readonly string[];
  /** The look-up of names. By default, that of `node:dns`; tests replace it. */
  readonly lookUp?: typeof lookUpName;
}

/**
 * Returns a connector that connects only to allowed addresses. It checks the address that the socket is about to use,
 * so a name cannot resolve to another address after the check (DNS rebinding). An address in the URL is not looked up,
 * so it is checked before the connection. Plain http never leaves private networks: a public address without TLS is
 * refused even if private addresses are allowed.
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

/**
 * IPv4 networks that are not the public internet.
 * Source: IANA IPv4 Special-Purpose Address Registry; Svix "Webhook security: SSRF".
 */
const SPECIAL_IPV4: readonly (readonly [network: string, prefix: number])[] = [
  ['0.0.0.0', 8], // this network; 0.0.0.0 reaches loopback on Linux
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier-grade NAT
  ['127.0.0.0', 8], // loopback
  ['169.254.0.0', 16], // link-local, and the metadata services of clouds
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // class E and broadcast
];

/**
 * IPv6 networks within 2000::/3 that are not the public internet. Public IPv6 addresses are assigned only from
 * 2000::/3, so everything outside of it is refused: unspecified, loopback, v4-mapped, NAT64 (64:ff9b::/96,
 * 64:ff9b:1::/48), discard-only, unique local, link-local, multicast. Source: IANA IPv6 Special-Purpose Address
 * Registry.
 */
const SPECIAL_IPV6: readonly (readonly [network: string, prefix: number])[] = [
  ['2001::', 23], // protocol assignments: Teredo, benchmarks, ORCHID
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4: carries any IPv4 address
  ['3fff::', 20], // documentation
];

const specialIpv4 = blockListOf(SPECIAL_IPV4, 'ipv4');
const specialIpv6 = blockListOf(SPECIAL_IPV6, 'ipv6');
const globalUnicastIpv6 = blockListOf([['2000::', 3]], 'ipv6');

/**
 * Whether an address is on the public internet. False for private, local and special networks, for IPv6 addresses that
 * contain an IPv4 address, and for anything that is not an IP address.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !specialIpv4.check(address, 'ipv4');
  if (!isIPv6(address) || address.includes('%')) return false; // only link-local addresses have a zone id
  return globalUnicastIpv6.check(address, 'ipv6') && !specialIpv6.check(address, 'ipv6');
}

function blockListOf(networks: readonly (readonly [string, number])[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of networks) list.addSubnet(network, prefix, family);
  return list;
}
