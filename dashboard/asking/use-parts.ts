import { useRef, useState } from 'preact/hooks';
import { firstOf, type Part } from './all-parts.js';
import { type Asked, useAsking } from './use-asked.js';

/**
 * The beginning of a long list, kept current, and longer when more is asked for. While the longer one is on its way the
 * shorter one stays.
 * @param path stays the same
 * @param step how many at first, and how many more each time
 */
export function useParts<Item>(path: string, step: number): { asked: Asked<Part<Item>>; showMore: () => void } {
  const [wanted, setWanted] = useState(step);
  const asked = useAsking(`${path} ${wanted}`, (signal) => firstOf<Item>(path, wanted, signal));
  const last = useRef<Part<Item> | undefined>(undefined);
  last.current = asked.data ?? last.current;
  return { asked: { ...asked, data: last.current }, showMore: () => setWanted(wanted + step) };
}
