/** What the webhook receiver counts by itself, from what arrived. */
export interface ReceiverSummary {
  readonly deliveries: number;
  /** Requests that were not taken, by status. */
  readonly refused: Readonly<Record<string, number>>;
  readonly lists: Readonly<Record<string, ReceivedList>>;
}

export interface ReceivedList {
  readonly items: number;
  readonly repeats: number;
  readonly differingRepeats: number;
  readonly outOfOrder: number;
  readonly missingRevisions: number;
}

export async function receiverSummary(receiverUrl: string): Promise<ReceiverSummary> {
  const answer = await fetch(new URL('/_control/summary', receiverUrl), { signal: AbortSignal.timeout(30_000) });
  if (!answer.ok) throw new Error(`the webhook receiver answered HTTP ${answer.status} when asked for its summary`);
  return (await answer.json()) as ReceiverSummary;
}

/** What a receiver may not see, whatever was killed when; a sentence each. Pure. */
export function receivingProblems(summary: ReceiverSummary): string[] {
  const lists = Object.entries(summary.lists).flatMap(([list, counts]) => [
    ...sentence(counts.differingRepeats, `repeats of changes of ${list} were not byte for byte the same`),
    ...sentence(counts.outOfOrder, `changes of ${list} came after a later revision of their item`),
    ...sentence(counts.missingRevisions, `revisions of ${list} were jumped over`),
  ]);
  const refused = Object.entries(summary.refused).flatMap(([status, n]) =>
    sentence(n, `requests were refused with ${status}`),
  );
  return [...lists, ...refused];
}

function sentence(n: number, what: string): string[] {
  return n === 0 ? [] : [`${n} ${what}`];
}
