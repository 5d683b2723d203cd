/** Returns the filters in the fragment of an address; those that it lacks are empty. Pure. */
export function filterIn<Name extends string>(hash: string, names: readonly Name[]): Record<Name, string> {
  const asked = new URLSearchParams(hash.split('?', 2)[1] ?? '');
  return Object.fromEntries(names.map((name) => [name, asked.get(name) ?? ''])) as Record<Name, string>;
}

/** Returns the fragment of an address with these filters; empty ones are left out. Pure. */
export function withFilter(hash: string, filter: Readonly<Record<string, string>>): string {
  const asked = new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== '')).toString();
  return `${hash.split('?', 1)[0]}${asked === '' ? '' : `?${asked}`}`;
}
