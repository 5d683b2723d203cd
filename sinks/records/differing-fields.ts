import { decideValues, type PresentValues, type ValueRules, type ValueWrite } from './decide-values.js';

/**
 * Returns the names of the fields that writing the values again would change. Pure. The decision is the one of a write,
 * so that a policy leaves the same fields to others in an audit as in a delivery.
 * @param present the present values; a field that is missing here counts as empty
 * @param happenedAtMs event time of the values, Unix time in ms
 */
export function differingFields(
  writes: readonly ValueWrite[],
  present: PresentValues,
  happenedAtMs: number,
  rules: ValueRules,
): string[] {
  // A value that this sink wrote is written again in a delivery, even if it is the same.
  const compared = new Map(
    writes.map(({ name }) => {
      const key = name.toLowerCase();
      const { value = null, happenedAtMs: atMs = Number.NEGATIVE_INFINITY } = present.get(key) ?? {};
      return [key, { value, happenedAtMs: atMs }];
    }),
  );
  const all: PresentValues = new Map([...present, ...compared]);
  return [...decideValues(writes, all, happenedAtMs, rules).keys()];
}
