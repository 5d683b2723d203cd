import { Store, useStore } from './store.js';
import type { CallerView } from '../../api/tokens.js';

/**
 * State of the connection to the server.
 * - `reached`: the last request was answered
 * - `lost`: no request has been answered since `sinceMs`; the page keeps retrying
 * - `token`: the server requires a token; `refused` if the one it received is not valid
 */
type Connection =
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

/** Records that the server requires a token. @param refused whether the server rejected the token that the page sent */
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

/**
 * Number of milliseconds by which this machine's clock is behind the server's. Ages such as "3 s ago" use the server's
 * clock.
 */
let behindMs = 0;

/** Smaller differences are ignored, because the `Date` header has whole seconds and responses take time to arrive. */
const minDifferenceMs = 3000;

export function learnServerTime(dateHeader: string | null): void {
  const at = Date.parse(dateHeader ?? '');
  if (Number.isNaN(at)) return;
  const found = at - Date.now();
  behindMs = Math.abs(found) > minDifferenceMs ? found : 0;
}

export function serverNow(): number {
  return Date.now() + behindMs;
}

/** The caller as the server knows it; null until the server has responded. */
export const caller = new Store<CallerView | null>(null);

type Right = 'read' | 'import' | 'operate' | 'personal' | 'administer';

/** Whether the caller has this right. Used to hide buttons for actions that the server would refuse. */
export function useMay(right: Right): boolean {
  return useStore(caller)?.rights.includes(right) ?? false;
}
