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

/**
 * Returns the address of an endpoint that may itself be a secret, such as one that an automation service gave out: like
 * `shownAddress`, and without each part of the path that looks like a token, because it has letters and digits and at least 16
 * characters.
 */
export function withoutTokens(address: string | URL): string {
  const shown = shownAddress(address);
  const [path = '', ...query] = shown.split('?');
  const parts = path.split('/').map((part, at) => (at > 2 && isToken(part) ? secretPart : part));
  return [parts.join('/'), ...query].join('?');
}

function isToken(part: string): boolean {
  return part.length >= 16 && /\d/.test(part) && /[a-z]/i.test(part);
}
