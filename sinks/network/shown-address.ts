/** Replaces a secret in an address that people see. */
const secretPart = '(secret)';

/**
 * Returns an address without user, password and the values of its query, which can contain tokens.
 * @param isSecret whether the address is a secret itself: then only its origin is shown
 */
export function shownAddress(
  address: string | URL,
  { isSecret = false }: { readonly isSecret?: boolean } = {},
): string {
  const { origin, pathname, searchParams } = new URL(address);
  if (isSecret) return `${origin}/${secretPart}`;
  const query = [...searchParams.keys()].map((name) => `${name}=${secretPart}`).join('&');
  return `${origin}${pathname}${query === '' ? '' : `?${query}`}`;
}
