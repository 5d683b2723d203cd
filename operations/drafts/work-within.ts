/**
 * Works on a list in parts until a time is over: the first part is one item, and each further one is twice as large as the
 * part before it. So a list of quick items needs few parts, and slow items exceed the time by little.
 * @param isOver whether the time is over
 * @returns the results of the parts, in order
 */
export async function workWithin<Item, Result>(
  items: readonly Item[],
  work: (part: readonly Item[]) => Promise<readonly Result[]>,
  isOver: () => boolean,
): Promise<Result[]> {
  const results: Result[] = [];
  let done = 0;
  for (let size = 1; done < items.length && !isOver(); size *= 2) {
    // One after another, because the time is limited.
    results.push(...(await work(items.slice(done, done + size))));
    done += size;
  }
  return results;
}
