import { Store } from './store.js';

/**
 * Whether the server answers, and takes the token.
 * - `reached`: the last request was answered
 * - `lost`: none has been answered since then; it is asked on
 * - `token`: it wants a token, or another one
 */
export type Connection =
  | { readonly state: 'reached' }
  | { readonly state: 'lost'; readonly sinceMs: number; readonly why: string }
  | { readonly state: 'token'; readonly refused: boolean };

export const connection = new Store<Connection>({ state: 'reached' });

export function noteReached(): void {
  if (connection.value.state !== 'reached') connection.set({ state: 'reached' });
}

export function noteLost(why: string): void {
  if (connection.value.state === 'reached') connection.set({ state: 'lost', sinceMs: Date.now(), why });
}

/** @param refused one was presented and not taken */
export function noteTokenWanted(refused: boolean): void {
  const now = connection.value;
  if (now.state !== 'token' || now.refused !== refused) connection.set({ state: 'token', refused });
}

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
