import { Store } from './store.js';

/**
 * State of the connection to the server.
 * - `reached`: the last request was answered
 * - `lost`: no request has been answered since `sinceMs`; the page keeps retrying
 * - `token`: the server requires a token; `refused` if the one it received is not valid
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

/** @param refused the server rejected the token that the page sent */
export function noteTokenWanted(refused: boolean): void {
  const now = connection.value;
  if (now.state !== 'token' || now.refused !== refused) connection.set({ state: 'token', refused });
}

/**
 * Key in the session storage of the token that was entered by hand, kept until the tab is closed. A browser that was
 * signed in by a link needs no token: it sends a cookie, which scripts cannot read.
 */
const key = 'pigeonpost-token';

export function storedToken(): string | null {
  return sessionStorage.getItem(key);
}

export function storeToken(token: string | null): void {
  if (token === null) sessionStorage.removeItem(key);
  else sessionStorage.setItem(key, token);
}
