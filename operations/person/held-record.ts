interface Revision {
  readonly revision: number;
  readonly kind: string;
  readonly sinks: readonly {
    readonly sink: string;
    readonly state: string;
    readonly identity: boolean | null;
    readonly at: string | null;
  }[];
}

/**
 * Returns the revision of a person's own record that a sink received last, with the instant; null: it received none, or has
 * been asked to remove it since. A record is sent with the identity or as its removal (`PersonRule`). Pure.
 * @param revisions oldest first
 */
export function heldRecord(
  revisions: readonly Revision[],
  sink: string,
): { readonly revision: number; readonly at: string | null } | null {
  for (const { revision, kind, sinks } of revisions.toReversed()) {
    const received = sinks.findLast((each) => each.sink === sink && each.state === 'delivered');
    if (received === undefined) continue;
    return kind === 'deleted' || received.identity === false ? null : { revision, at: received.at };
  }
  return null;
}
