import { useEffect, useState } from 'preact/hooks';

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
