/** Identifies a dead letter, whatever its cause. */
export interface RedrivenChange {
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly list: string;
  readonly key: string;
  readonly revision: number;
}

/** Number of redriven dead letters by outcome; the three add up to the number redriven. */
export interface RedriveOutcome {
  readonly done: number;
  readonly refusedAgain: number;
  readonly onTheWay: number;
}

/**
 * Returns the outcomes of a redrive, derived from the sink's present state.
 * @param redriven number of redriven changes, and those that the API listed
 * @param dead the sink's dead letters now
 * @param open number of open deliveries of the same list. At most this number of redriven changes is still in progress
 */
export function judgeRedrive(
  redriven: { readonly changes: number; readonly shown: readonly RedrivenChange[] },
  dead: readonly RedrivenChange[],
  open: number,
): RedriveOutcome {
  const own = new Set(redriven.shown.map(nameOf));
  const refusedAgain = Math.min(redriven.changes, dead.filter((each) => own.has(nameOf(each))).length);
  const onTheWay = Math.min(open, redriven.changes - refusedAgain);
  return { done: redriven.changes - refusedAgain - onTheWay, refusedAgain, onTheWay };
}

function nameOf({ workspace, pigeonholeId, list, key, revision }: RedrivenChange): string {
  return JSON.stringify([workspace, pigeonholeId, list, key, revision]);
}
