import { useState } from 'preact/hooks';

const kept = new Map<string, unknown>();

/** As `useState`, and what was chosen is still chosen when one comes back to the page. Until the tab is closed. */
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
