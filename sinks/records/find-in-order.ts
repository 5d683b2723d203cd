import { groupBy } from '../../base/grouping.js';

/**
 * Searches for records in the order of their `match`: the first look-up that finds a record decides. Searches that need
 * the same look-up are looked up together.
 * @param looksOf the look-ups of a search, in order; null: the item has no value for it
 * @param isLeft whether nothing was found or decided yet
 * @param lookUp makes a look-up for searches of which each has a value for it. `position` is its index in `looksOf`
 */
export async function findInOrder<S, Look extends { readonly kind: string }>(
  searches: readonly S[],
  looksOf: (search: S) => readonly (Look | null)[],
  isLeft: (search: S) => boolean,
  lookUp: (group: readonly { readonly search: S; readonly look: Look }[], kind: string) => Promise<void>,
): Promise<void> {
  const looks = new Map(searches.map((search) => [search, looksOf(search)]));
  const longest = Math.max(0, ...[...looks.values()].map(({ length }) => length));
  for (let position = 0; position < longest; position += 1) {
    const wanted = searches.flatMap((search) => {
      const look = looks.get(search)![position];
      return look == null || !isLeft(search) ? [] : [{ search, look }];
    });
    for (const [kind, group] of groupBy(wanted, ({ look }) => look.kind)) await lookUp(group, kind);
  }
}
