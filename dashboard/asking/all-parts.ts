import { ask } from './ask.js';

interface Part<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
}

/** More than anybody reads; whoever has more searches. */
const mostParts = 8;

/** A long list, part after part. */
export async function allParts<Item>(path: string, signal: AbortSignal): Promise<Item[]> {
  const items: Item[] = [];
  let after: string | null = null;
  for (let part = 0; part < mostParts; part += 1) {
    const query: string = `limit=500${after === null ? '' : `&after=${encodeURIComponent(after)}`}`;
    // oxlint-disable-next-line no-await-in-loop -- where a part ends is known when it is there
    const found: Part<Item> = await ask<Part<Item>>(`${path}${path.includes('?') ? '&' : '?'}${query}`, { signal });
    items.push(...found.items);
    after = found.next;
    if (after === null) break;
  }
  return items;
}
