import { chunksOf } from '../../base/grouping.js';

/** The meaning of a call for the records that it contained. It says who is at fault if the call failed. */
export type PartReply<T> =
  /**
   * The destination judged the records. `accepted`: it accepted at least one of them. `again`: one of these is at fault,
   * and the destination did not say which. All others have their results. A call with one record decides it, so its
   * `again` is empty.
   */
  | { readonly accepted: boolean; readonly again: readonly T[] }
  /** The destination or the account is at fault, or the time is over: other calls would fail too. */
  | 'over';

/** The records that have no result, because no more calls were made. */
export interface Unsettled<T> {
  readonly left: readonly T[];
  /** Whether the destination refused so many calls that it probably refuses everything. */
  readonly refusesAll: boolean;
}

/**
 * Maximum number of refused calls. Finding one faulty record among 200 costs nine. If there are many more, the
 * destination has probably changed, and further halving would cost a call for each record.
 */
const MAX_REFUSALS = 60;
/**
 * If this number of records was refused, each in a call of its own, and no record was accepted, the next calls have the
 * last and the middle one of the other records. They show whether the destination refuses everything, or only records
 * that happen to be in front.
 */
const PROBED_AFTER = 3;
const PROBES = 2;

/**
 * Sends a batch to a destination that accepts a call only as a whole. One faulty record makes it refuse the others as
 * well, without saying which one it is. The call is therefore repeated in halves until the faulty record is in a call of
 * its own. Every call must be harmless to repeat after a refusal. The calls are made one after another.
 *
 * Stops after a call that the destination or the account made fail, and after too many refusals.
 * @param parts the records of the first calls
 * @param send makes a call, and stores the results of the records that it decides
 * @param mayContinue checked before each call
 */
export async function sendInParts<T>(
  parts: readonly (readonly T[])[],
  send: (part: readonly T[]) => Promise<PartReply<T>>,
  mayContinue: () => boolean = () => true,
): Promise<Unsettled<T>> {
  let queue = parts.filter(({ length }) => length > 0);
  let [refusals, refusedAlone, hasAccepted] = [0, 0, false];
  while (queue.length > 0) {
    const refusesAll = refusals >= MAX_REFUSALS || (!hasAccepted && refusedAlone >= PROBED_AFTER + PROBES);
    if (refusesAll || !mayContinue()) return { left: queue.flat(), refusesAll };
    const [part, ...others] = queue as [readonly T[], ...(readonly T[])[]];
    const reply = await send(part);
    if (reply === 'over') return { left: queue.flat(), refusesAll: false };
    const { accepted, again } = reply;
    hasAccepted ||= accepted;
    if (again.length > 0 || !accepted) refusals += 1;
    if (part.length === 1 && !accepted) refusedAlone += 1;
    queue = [...halvesOf(again), ...others];
    if (!hasAccepted && part.length === 1 && refusedAlone === PROBED_AFTER) queue = withProbes(queue);
  }
  return { left: [], refusesAll: false };
}

/** Returns the halves of a refused part, of which the first may have one record more. */
export function halvesOf<T>(part: readonly T[]): T[][] {
  return chunksOf(part, Math.max(1, Math.ceil(part.length / 2)));
}

/** Puts the last and the middle record in front, each in a part of its own. */
function withProbes<T>(queue: readonly (readonly T[])[]): (readonly T[])[] {
  const records = queue.flat();
  const places = [...new Set([records.length - 1, records.length >> 1])].filter((at) => at >= 0);
  const probes = places.map((at) => records.slice(at, at + 1));
  const probed = new Set(probes.flat());
  return [...probes, ...queue.map((part) => part.filter((each) => !probed.has(each)))].filter(
    ({ length }) => length > 0,
  );
}
