/**
 * Whether a host is on a list of hosts: by its exact name, or by a suffix that begins with a dot (".example.com"
 * stands for every name below example.com, not for example.com itself). Case does not matter, nor a dot at the end.
 */
export function isAllowedHost(host: string, allowHosts: readonly string[]): boolean {
  const name = normalized(host);
  return allowHosts.map(normalized).some((entry) => (entry.startsWith('.') ? name.endsWith(entry) : name === entry));
}

function normalized(host: string): string {
  return host.trim().toLowerCase().replace(/\.$/, '');
}
