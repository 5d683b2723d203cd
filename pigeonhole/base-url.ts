import { isIPv4 } from 'node:net';
import { ClientOptionsError } from './client-options-error.js';

/** Where the service is: an origin, and what stands before `/v2` in its paths (empty, or `/…` without a final slash). */
export interface BaseUrl {
  readonly origin: string;
  readonly prefix: string;
  readonly isSecure: boolean;
}

/**
 * Takes a base address apart. Plain http is for loopback alone: anywhere else it would show the key to the network.
 * Source: docs/service-contract.md, "Transport".
 * @throws {ClientOptionsError} when the address cannot be used; the message does not repeat it
 */
export function readBaseUrl(text: string): BaseUrl {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new ClientOptionsError('baseUrl', 'is not an https URL; give one like https://engagement.example.com');
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new ClientOptionsError(
      'baseUrl',
      'is a plain http URL of another host; use https, http is for loopback alone',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new ClientOptionsError('baseUrl', 'holds a user name or a password; the API key is given by itself');
  }
  if (url.search !== '' || url.hash !== '') {
    throw new ClientOptionsError('baseUrl', 'holds a query or a fragment; give the address alone');
  }
  const prefix = url.pathname.replace(/\/+$/, '');
  if (prefix.endsWith('/v2'))
    throw new ClientOptionsError('baseUrl', 'ends in /v2, which every request adds; leave it out');
  return { origin: url.origin, prefix, isSecure: url.protocol === 'https:' };
}

/** By name alone, without asking DNS. */
function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]') return true;
  return isIPv4(hostname) && hostname.startsWith('127.');
}
