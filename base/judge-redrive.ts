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
  readonly settled: number;
  readonly refusedAgain: number;
  readonly onTheWay: number;
}

/**
 * Returns the outcomes of a redrive, derived from the sink's present state.
 * @param redriven number of redriven changes, and those that the API listed
 * @param dead the sink's dead letters now
 * @param open number of open deliveries of the same lists. At most this number of redriven changes is still in progress
 */
export function judgeRedrive(
  redriven: { readonly changes: number; readonly shown: readonly RedrivenChange[] },
  dead: readonly RedrivenChange[],
  open: number,
): RedriveOutcome {
  const own = new Set(redriven.shown.map(changeName));
  const refusedAgain = Math.min(redriven.changes, dead.filter((each) => own.has(changeName(each))).length);
  const onTheWay = Math.min(open, redriven.changes - refusedAgain);
  return { settled: redriven.changes - refusedAgain - onTheWay, refusedAgain, onTheWay };
}

/** Returns the number of open deliveries of these lists among a sink's outcomes. */
export function openChanges(
  outcomes: readonly { readonly list: string; readonly state: string; readonly changes: number }[],
  lists: readonly string[],
): number {
  return outcomes
    .filter(({ list, state }) => lists.includes(list) && ['waiting', 'sending', 'retry'].includes(state))
    .reduce((sum, { changes }) => sum + changes, 0);
}

/** Returns a name that identifies a revision of an item. */
export function changeName({ workspace, pigeonholeId, list, key, revision }: RedrivenChange): string {
  return JSON.stringify([workspace, pigeonholeId, list, key, revision]);
}
