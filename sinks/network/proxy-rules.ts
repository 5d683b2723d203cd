import { BlockList, isIP, isIPv4 } from 'node:net';

/**
 * Whether a URL bypasses the proxy. Loopback always does, as in Go and newer versions of curl: the proxy's loopback is
 * another machine. Entries of the list, separated by commas or spaces: `*`, a host (with all names below it, with or
 * without a leading dot), an address, a network (10.0.0.0/8), each with or without `:port`.
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
 * Whether a list of hosts contains a host: by its exact name, or by a suffix with a leading dot (".example.com"
 * matches every name below example.com, not example.com itself). Case and a trailing dot do not matter.
 */
export function isAllowedHost(host: string, allowHosts: readonly string[]): boolean {
  const name = normalized(host);
  return allowHosts.map(normalized).some((entry) => (entry.startsWith('.') ? name.endsWith(entry) : name === entry));
}

function normalized(host: string): string {
  return host.trim().toLowerCase().replace(/\.$/, '');
}
