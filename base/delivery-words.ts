import { counted, grouped } from './words.js';

/*
 * Texts about deliveries, which the API, the dashboard and the CLI show. Those about reasons and causes are in
 * `sinks/reason-words.ts`.
 */

const outcomes: Readonly<Record<string, string>> = {
  delivered: 'delivered',
  withheld: 'withheld',
  superseded: 'superseded by a later revision',
  dead: 'dead letter',
  retry: 'failed, will be retried',
  waiting: 'queued',
  sending: 'being sent, outcome unknown',
  behind: 'not processed yet',
  unwanted: 'not sent: this sink does not receive the list',
  passed: 'not sent: the configuration at that time did not send it to this sink',
};

/**
 * Returns the state of a delivery in words.
 * @param others the other deliveries of the same revision to the same sink
 */
export function outcomeText(
  { state, reason, replay }: { readonly state: string; readonly reason: string | null; readonly replay: string | null },
  others: readonly { readonly state: string; readonly reason: string | null }[] = [],
): string {
  if (state === 'delivered' && reason === 'by-replay') return 'not delivered at first, but later by a replay';
  if (state === 'behind' && reason === 'observe') return 'not sent';
  const outcome = outcomes[state] ?? state;
  if (replay === null) return outcome;
  const isAgain = others.some((other) => other.state === 'delivered' && other.reason !== 'by-replay');
  return state === 'delivered' && isAgain ? 'delivered again by a replay' : `${outcome} by a replay`;
}

/** Whether a sink with these properties only counts what it would send. Pure. */
export function isObserving<Sink extends { readonly observation: object | null; readonly approval: object | null }>(
  sink: Sink,
): sink is Sink & { readonly observation: NonNullable<Sink['observation']> } {
  return sink.observation !== null && sink.approval === null;
}

/** Progress of a replay at a sink. */
interface ReplayProgress {
  /** Number of items to send; null if it is not known. */
  readonly total: number | null;
  readonly sent: number;
  /** Number of items passed to the sink; `open` of them are not settled. */
  readonly taken: number;
  readonly open: number;
}

/** Returns `4,231 of 18,331 sent again, 12 withheld or refused, 3 in progress`. Omits what is 0. */
export function replayWords({ total, sent, taken, open }: ReplayProgress): string {
  const inProgress = open === 0 ? [] : [`${grouped(open)} in progress`];
  if (total === null) return [`${counted(taken, 'item')} so far`, ...inProgress].join(', ');
  const others = taken - open - sent;
  const notSent = others <= 0 ? [] : [`${grouped(others)} withheld or refused`];
  return [`${grouped(sent)} of ${grouped(total)} sent again`, ...notSent, ...inProgress].join(', ');
}
