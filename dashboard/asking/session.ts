/**
 * The token that a person entered, for as long as this tab is open. A browser that a link has signed in needs none: it
 * sends a cookie, which no script can read.
 */
const key = 'pigeonpost-token';

export function storedToken(): string | null {
  return sessionStorage.getItem(key);
}

export function storeToken(token: string | null): void {
  if (token === null) sessionStorage.removeItem(key);
  else sessionStorage.setItem(key, token);
}
