import { useState } from 'preact/hooks';

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
