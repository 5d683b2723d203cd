import { ask } from './ask.js';

export interface Part<Item> {
  readonly items: readonly Item[];
  /** Null: there are no more. */
  readonly next: string | null;
}

/** Of one answer of the API. */
const mostAtOnce = 500;
/** More than anybody reads; whoever has more searches. */
const mostOfAll = 4000;

/** The first `wanted` of a long list, in as many parts as that takes. */
export async function firstOf<Item>(path: string, wanted: number, signal: AbortSignal): Promise<Part<Item>> {
  const items: Item[] = [];
  let next: string | null = null;
  do {
    const limit = Math.min(mostAtOnce, wanted - items.length);
    const query: string = `limit=${limit}${next === null ? '' : `&after=${encodeURIComponent(next)}`}`;
    // oxlint-disable-next-line no-await-in-loop -- where a part ends is known when it is there
    const found: Part<Item> = await ask<Part<Item>>(`${path}${path.includes('?') ? '&' : '?'}${query}`, { signal });
    items.push(...found.items);
    ({ next } = found);
  } while (next !== null && items.length < wanted);
  return { items, next };
}

/** A long list, part after part. */
export async function allParts<Item>(path: string, signal: AbortSignal): Promise<readonly Item[]> {
  return (await firstOf<Item>(path, mostOfAll, signal)).items;
}
