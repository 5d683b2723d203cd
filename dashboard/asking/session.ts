/**
 * The token that was given, for as long as this tab is open: it stands in no cookie, which a foreign page could make the
 * browser send, and in no lasting storage.
 */
const key = 'pigeonpost-token';

export function storedToken(): string | null {
  return sessionStorage.getItem(key);
}

export function storeToken(token: string | null): void {
  if (token === null) sessionStorage.removeItem(key);
  else sessionStorage.setItem(key, token);
}
