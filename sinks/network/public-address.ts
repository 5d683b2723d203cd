import { BlockList, isIPv4, isIPv6 } from 'node:net';

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
 * Within 2000::/3, the only block from which public IPv6 addresses are given out. Everything outside of it is refused
 * without being named: unspecified, loopback, v4-mapped, NAT64 (64:ff9b::/96, 64:ff9b:1::/48), discard-only, unique
 * local, link-local, multicast. Source: IANA IPv6 Special-Purpose Address Registry.
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
 * Whether an address lies on the public internet. False for private, local and special networks, for IPv6 forms that
 * wrap an IPv4 address, and for anything that is not an IP address.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !specialIpv4.check(address, 'ipv4');
  if (!isIPv6(address) || address.includes('%')) return false; // a zone id exists on local links only
  return globalUnicastIpv6.check(address, 'ipv6') && !specialIpv6.check(address, 'ipv6');
}

function blockListOf(networks: readonly (readonly [string, number])[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of networks) list.addSubnet(network, prefix, family);
  return list;
}
