/** Identity of a dead letter, independent of its cause. */
export interface RedrivenChange {
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly list: string;
  readonly key: string;
  readonly revision: number;
}

/** Outcomes of redriven dead letters; the three add up to the number that was redriven. */
export interface RedriveOutcome {
  readonly done: number;
  readonly refusedAgain: number;
  readonly onTheWay: number;
}

/**
 * @param redriven how many, and which as far as they were shown
 * @param dead the sink's dead letters now
 * @param open how many deliveries of the same list are on their way now: an upper bound of ours
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
