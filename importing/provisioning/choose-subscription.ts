import type { Subscription } from '../../pigeonhole/wire-entities.js';

/** `id` null: none is sent, for a Personal workspace has none. */
export type ChosenSubscription =
  | { readonly id: number | null; readonly name: string | null; readonly endDate: string | null }
  | { readonly problem: string };

/**
 * The subscription under which a pigeonhole is created. Pure.
 * @param wanted as the file or the configuration has it, by name or id; null: neither names one
 * @param there those of the workspace; none: it is a Personal one
 */
export function chooseSubscription(wanted: string | number | null, there: readonly Subscription[]): ChosenSubscription {
  if (there.length === 0) {
    if (wanted === null) return { id: null, name: null, endDate: null };
    return { problem: 'this workspace has no subscriptions, as a Personal one: leave the subscription out' };
  }
  const names = there.map(({ id, name }) => `${JSON.stringify(name ?? '')} (${id})`).join(', ');
  if (wanted === null) {
    return { problem: `this is a Team workspace: choose one of its subscriptions, ${names}` };
  }
  const matching = there.filter(({ id, name }) =>
    typeof wanted === 'number' ? id === wanted : name?.trim() === wanted.trim(),
  );
  const [found, another] = matching;
  if (found === undefined) return { problem: `there is no such subscription in this workspace; there are: ${names}` };
  if (another !== undefined) {
    return {
      problem: `several subscriptions have this name: write the id of one, ${matching.map(({ id }) => id).join(' or ')}`,
    };
  }
  return { id: found.id, name: found.name ?? null, endDate: found.endDate ?? null };
}
