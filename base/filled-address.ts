type Value = string | number;

/**
 * Returns an address such as `/api/sinks/{name}/lanes` with its parameters filled in, and with the query parameters
 * that have a value. Pure.
 */
export function filledAddress(
  path: string,
  {
    params = {},
    query = {},
  }: {
    readonly params?: Readonly<Record<string, Value>>;
    readonly query?: Readonly<Record<string, Value | undefined>>;
  },
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name]!));
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size === 0 ? filled : `${filled}?${given.toString()}`;
}
