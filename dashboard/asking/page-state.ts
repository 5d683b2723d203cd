import { useEffect, useState } from 'preact/hooks';
import type { CallerView } from '../../api/tokens.js';

/** A value that several parts of the page watch, such as whether the server answers. */
export class Store<Value> {
  #value: Value;
  readonly #watchers = new Set<(value: Value) => void>();

  constructor(value: Value) {
    this.#value = value;
  }

  get value(): Value {
    return this.#value;
  }

  /** Notifies the watchers if the value is new. */
  set(value: Value): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const watcher of this.#watchers) watcher(value);
  }

  /** @returns a function that stops watching */
  watch(watcher: (value: Value) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }
}

export function useStore<Value>(store: Store<Value>): Value {
  const [value, setValue] = useState(store.value);
  useEffect(() => {
    setValue(store.value);
    return store.watch((next) => setValue(() => next));
  }, [store]);
  return value;
}

const kept = new Map<string, unknown>();

/** Works like `useState`, but keeps the value while other pages are shown, until the tab is closed or reloaded. */
export function useRemembered<Value>(key: string, first: Value): [Value, (value: Value) => void] {
  const [value, setValue] = useState<Value>(kept.has(key) ? (kept.get(key) as Value) : first);
  return [
    value,
    (next) => {
      kept.set(key, next);
      setValue(() => next);
    },
  ];
}

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

type Right = 'read' | 'import' | 'operate' | 'personal' | 'erase' | 'administer';

/** Whether the caller has this right. Used to hide buttons for actions that the server would refuse. */
export function useMay(right: Right): boolean {
  return useStore(caller)?.rights.includes(right) ?? false;
}
