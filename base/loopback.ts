import { isIPv4 } from 'node:net';

/**
 * Whether a host name or address is this machine itself, so that requests cross no network: `localhost`,
 * 127.0.0.0/8 (RFC 1122, 3.2.1.3) and ::1, with or without brackets. A name that resolves to loopback does not count,
 * because its address can change.
 */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase();
  return name === 'localhost' || name === '::1' || (isIPv4(name) && name.startsWith('127.'));
}
