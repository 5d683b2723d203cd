import { ask } from './ask.js';
import { useRef, useState } from 'preact/hooks';
import { type Asked, useAsking } from './use-asked.js';

export interface Part<Item> {
  readonly items: readonly Item[];
  /** Null after the last page. */
  readonly next: string | null;
}

/** Maximum page size of the API. */
const maxPageSize = 500;
/** Maximum number of items shown; a search narrows the list. */
const maxItems = 4000;

/** Reads the first `wanted` items of a list, page by page. */
export async function firstOf<Item>(path: string, wanted: number, signal: AbortSignal): Promise<Part<Item>> {
  const items: Item[] = [];
  let next: string | null = null;
  do {
    const limit = Math.min(maxPageSize, wanted - items.length);
    const query: string = `limit=${limit}${next === null ? '' : `&after=${encodeURIComponent(next)}`}`;
    // oxlint-disable-next-line no-await-in-loop -- each page names the next
    const found: Part<Item> = await ask<Part<Item>>(`${path}${path.includes('?') ? '&' : '?'}${query}`, { signal });
    items.push(...found.items);
    ({ next } = found);
  } while (next !== null && items.length < wanted);
  return { items, next };
}

/** Reads a list page by page, up to `maxItems`. */
export async function allParts<Item>(path: string, signal: AbortSignal): Promise<readonly Item[]> {
  return (await firstOf<Item>(path, maxItems, signal)).items;
}

/**
 * Keeps the first items of a list current; `showMore` extends it. The shorter list stays visible while the longer one
 * loads.
 * @param path must not change
 * @param step number of items at first, and number added each time
 */
export function useParts<Item>(path: string, step: number): { asked: Asked<Part<Item>>; showMore: () => void } {
  const [wanted, setWanted] = useState(step);
  const asked = useAsking(`${path} ${wanted}`, (signal) => firstOf<Item>(path, wanted, signal));
  const last = useRef<Part<Item> | undefined>(undefined);
  last.current = asked.data ?? last.current;
  return { asked: { ...asked, data: last.current }, showMore: () => setWanted(wanted + step) };
}
