/** A page of a long list of the API. */
export interface Part<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
}

/** Request for one page. */
export interface PartAsked {
  readonly limit: number;
  /** `next` of the previous page. */
  readonly after?: string | undefined;
}

export function partQuery({ limit, after }: PartAsked): string {
  return new URLSearchParams({ limit: String(limit), ...(after === undefined ? {} : { after }) }).toString();
}

/** Maximum page size of the API. */
const maxPageSize = 500;

/** Reads the first `limit` items of a list, page by page, and returns whether there are more. */
export async function firstOfList<Item>(
  limit: number,
  ask: (part: PartAsked) => Promise<Part<Item>>,
): Promise<{ readonly items: readonly Item[]; readonly more: boolean }> {
  const items: Item[] = [];
  let after: string | null | undefined;
  while (items.length < limit && after !== null) {
    // oxlint-disable-next-line no-await-in-loop -- each page names the next
    const part: Part<Item> = await ask({ limit: Math.min(limit - items.length, maxPageSize), after });
    items.push(...part.items);
    after = part.next;
  }
  return { items, more: after !== null };
}

/** Printed if the list has more items than were requested. */
export const thereIsMore = 'there are more: raise --limit to show them';
