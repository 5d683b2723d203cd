import { isIPv6 } from 'node:net';
import type { ApiContext } from './api-app.js';

/**
 * What limits are counted by: an IPv4 address, or the /64 network of an IPv6 address, since a single host has a whole one.
 * Behind a proxy it is the proxy's: what a proxy says of its client can be made up by anybody.
 */
export function addressGroup(remoteAddress: string | undefined): string {
  const address = (remoteAddress ?? 'unknown').replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (!isIPv6(address) || address === '::1') return address;
  const [head = '', tail = ''] = address.split('::');
  const parts = head === '' ? [] : head.split(':');
  const rest = tail === '' ? [] : tail.split(':');
  const all = address.includes('::') ? [...parts, ...Array(8 - parts.length - rest.length).fill('0'), ...rest] : parts;
  return `${all.slice(0, 4).join(':')}::/64`;
}

/** Of whoever sent a request, by its connection. */
export function addressOf(c: ApiContext): string {
  const env = c.env as { incoming?: { socket?: { remoteAddress?: string } } } | undefined;
  return addressGroup(env?.incoming?.socket?.remoteAddress);
}
