import { rootCertificates } from 'node:tls';
import { Agent, ProxyAgent, type Dispatcher } from 'undici';
import { onlyWhileHeld } from '../../base/lease.js';
import { maxHeaderBytes } from '../../base/max-header-bytes.js';
import { proxyConnections } from '../../base/proxy-connections.js';
import type { NetworkSettings } from '../sink.js';
import { recorded } from './exchange-log.js';
import { guardedConnector, strictTls, RefusedAddressError } from './address-policy.js';
import { BlockList, isIP, isIPv4 } from 'node:net';

interface DispatcherOptions {
  /** Whether connections may reach loopback and private networks. */
  readonly allowPrivateAddresses: boolean;
  readonly connectTimeoutMs: number;
  /** Maximum number of open connections to the destination. */
  readonly connections: number;
  /** Returns an address of the destination without secrets; by default without user, password and the values of its query. */
  readonly shown?: ((address: string) => string) | undefined;
}

/**
 * Creates a dispatcher for one destination, which keeps connections open between calls. The connections are direct,
 * with a check of each address, or go through the proxy of `network`. A proxy resolves names itself, so pigeonpost
 * cannot check the address. With a proxy, the host must therefore be in `network.allowHosts`, whatever
 * `allowPrivateAddresses` says. Every request to a host that is not allowed fails with RefusedAddressError.
 */
export function createDispatcher(url: URL, network: NetworkSettings, options: DispatcherOptions): Dispatcher {
  return connectionsTo(url, network, options).compose(onlyWhileHeld, recorded(options.shown));
}

function connectionsTo(url: URL, network: NetworkSettings, options: DispatcherOptions): Dispatcher {
  const { connections } = options;
  // If Node receives a list, it trusts no other certificates, so the list includes Node's own.
  const trustedCertificates = network.ca ? [...rootCertificates, network.ca] : undefined;
  if (!network.proxy || bypassesProxy(url, network.noProxy)) {
    const { allowPrivateAddresses, connectTimeoutMs } = options;
    return new Agent({
      connections,
      maxHeaderSize: maxHeaderBytes,
      connect: guardedConnector({
        allowPrivateAddresses,
        connectTimeoutMs,
        ...(trustedCertificates && { trustedCertificates }),
      }),
    });
  }
  if (!isAllowedHost(url.hostname, network.allowHosts)) {
    const refusal = new RefusedAddressError(
      `${url.hostname} may not be reached through the proxy: add it to "network.allowHosts", or to "network.noProxy"`,
    );
    return new Agent({ connect: (_target, callback) => callback(refusal, null) });
  }
  const ca = trustedCertificates && { ca: trustedCertificates };
  const tls = { timeout: options.connectTimeoutMs, ...strictTls, ...ca };
  return new ProxyAgent({
    uri: network.proxy,
    connections,
    maxHeaderSize: maxHeaderBytes,
    requestTls: tls,
    proxyTls: tls,
    clientFactory: (origin, client) => proxyConnections(origin, { ...client, connections }),
  });
}

/**
 * Whether a URL bypasses the proxy. Loopback always does, as in Go and newer versions of curl, because the proxy's
 * loopback is another machine. The entries of `noProxy` are separated by commas or spaces. An entry is `*`, a network
 * (10.0.0.0/8), an address, or a host, with or without a leading dot, which includes all names below it. An address or
 * a host may be followed by `:port`.
 */
export function bypassesProxy(url: URL, noProxy: string | undefined): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (host === 'localhost' || host.endsWith('.localhost') || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host))
    return true;
  const port = url.port || (url.protocol === 'http:' ? '80' : '443');
  return (noProxy ?? '')
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => matches(entry.toLowerCase(), host, port));
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  if (entry.includes('/')) return isInNetwork(host, entry);
  const [, name = entry, entryPort] = isIP(entry) ? [] : (/^\[?(.+?)\]?(?::(\d+))?$/.exec(entry) ?? []);
  if (entryPort !== undefined && entryPort !== port) return false;
  const bare = name.replace(/^\*?\./, '');
  return host === bare || (isIP(host) === 0 && host.endsWith(`.${bare}`));
}

function isInNetwork(host: string, network: string): boolean {
  const [address = '', prefix = ''] = network.split('/');
  if (isIP(host) === 0 || isIP(host) !== isIP(address) || !/^\d{1,3}$/.test(prefix)) return false;
  const family = isIPv4(address) ? 'ipv4' : 'ipv6';
  if (Number(prefix) > (family === 'ipv4' ? 32 : 128)) return false;
  const list = new BlockList();
  list.addSubnet(address, Number(prefix), family);
  return list.check(host, family);
}

/**
 * Whether a list of hosts allows a host. An entry is the host's exact name, or a suffix with a leading dot:
 * ".example.com" matches every name below example.com, but not example.com itself. Case and a trailing dot are ignored.
 */
export function isAllowedHost(host: string, allowHosts: readonly string[]): boolean {
  const name = normalized(host);
  return allowHosts.map(normalized).some((entry) => (entry.startsWith('.') ? name.endsWith(entry) : name === entry));
}

function normalized(host: string): string {
  return host.trim().toLowerCase().replace(/\.$/, '');
}
