/** A change of an item, with all that its removal from the ledger depends on. */
export interface PastChange {
  readonly sequence: number;
  /** The item's change before this one; null: none. */
  readonly previous: number | null;
  readonly hasSnapshot: boolean;
}

/** A delivery of one of these changes. */
export interface PastDelivery {
  readonly sinkId: number;
  readonly sequence: number;
  readonly replay: number;
  readonly state: string;
  /** Whether the person's identity was sent; null: not decided. */
  readonly identity: boolean | null;
  readonly attempts: number;
}

/** The rows of an item that the ledger no longer needs. */
export interface Condensed {
  readonly deliveries: readonly PastDelivery[];
  readonly changes: readonly number[];
  /** The changes whose predecessor is another one now. */
  readonly links: readonly Pick<PastChange, 'sequence' | 'previous'>[];
}

/**
 * Decides what an item's history keeps once its earlier revisions have expired. Pure.
 *
 * A delivery is dropped if a later one of the same sink answers every question about the item as well: whether the sink
 * received it, and with or without the identity. That is a later delivery that arrived, with the same `identity`. A
 * superseded delivery that was never tried says nothing that any later one does not say. What is withheld, dead or in
 * progress stays. A change is dropped with its last delivery, except the latest of `history`.
 * @param history changes of one item in their order; the first may have predecessors that are not given
 */
export function condense(history: readonly PastChange[], deliveries: readonly PastDelivery[]): Condensed {
  const dropped = deliveries.filter((one) => deliveries.some((other) => replaces(other, one)));
  const gone = new Set(dropped);
  const named = new Set(deliveries.filter((one) => !gone.has(one)).map(({ sequence }) => sequence));
  const stays = ({ sequence, hasSnapshot }: PastChange, at: number): boolean =>
    at === history.length - 1 || hasSnapshot || named.has(sequence);
  const kept = history.filter(stays);
  const links = kept
    .map(({ sequence }, at) => ({ sequence, previous: kept[at - 1]?.sequence ?? history[0]?.previous ?? null }))
    .filter((link, at) => link.previous !== kept[at]!.previous);
  return {
    deliveries: dropped,
    changes: history.filter((change, at) => !stays(change, at)).map(({ sequence }) => sequence),
    links,
  };
}

function replaces(later: PastDelivery, one: PastDelivery): boolean {
  if (later.sinkId !== one.sinkId) return false;
  if ((later.sequence - one.sequence || later.replay - one.replay) <= 0) return false;
  if (one.state === 'superseded' && one.identity === null && one.attempts === 0) return true;
  return (
    (one.state === 'superseded' || one.state === 'delivered') &&
    later.state === 'delivered' &&
    (one.identity === null || later.identity === one.identity)
  );
}
