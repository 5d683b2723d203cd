import type { Lane, Operation, Outcome, Planned, Sink, SendResult } from '../sinks/sink.js';
import { type ConfirmHeld, whileHeld } from '../base/lease.js';
import type { ShownChange } from './candidates.js';
import { sendApart } from './send-apart.js';

/** A lane under its holder's lease. */
export interface LeasedLane {
  readonly lane: Lane;
  /** Aborted when the lane is lost, or the process ends. */
  readonly signal: AbortSignal;
  /** Called before each call to the destination (`onlyWhileHeld`). */
  readonly confirm: ConfirmHeld;
  /** True if the last batch of the lane failed. */
  readonly isFailing: boolean;
}

/** The result for one planned change: the sink's outcome, or the plan's reason for not sending it. */
export type Settlement = Outcome | Exclude<Planned, { kind: 'send' }>;

export interface Settlements {
  readonly settlements: readonly Settlement[];
  readonly memory: SendResult['memory'];
}

/**
 * Passes the operations of planned changes to the sink while the lease holds. Returns a settlement for every change, in
 * their order. If the lane or one of the records failed before, and the lane need not deliver all its changes in order,
 * the batch is sent in parts, so that one record cannot hold back the others (`sendApart`).
 * @param planned the plan of each change
 */
export async function sendBatch(
  sink: Sink,
  changes: readonly ShownChange[],
  planned: readonly Planned[],
  { lane, signal, confirm, isFailing }: LeasedLane,
): Promise<Settlements> {
  const operations = operationsOf(planned);
  if (operations.length === 0) return toSettlements(planned, { outcomes: [] });
  const result = await whileHeld(confirm, async () => {
    const sent = changes.filter((_, index) => planned[index]!.kind === 'send');
    const hasFailed = isFailing || sent.some(({ attempts }) => attempts > 0);
    if (!hasFailed || sink.traits.order === 'pigeonhole') return await sink.send(operations, lane, signal);
    return await sendApart(operations, { lane, signal, changes: sent, isFailing }, sink.send.bind(sink));
  });
  return toSettlements(planned, result);
}

/** Returns the operations of the plans that have one. */
export function operationsOf(planned: readonly Planned[]): Operation[] {
  return planned.flatMap((each) => (each.kind === 'send' ? [each.operation] : []));
}

/** Returns a settlement for each plan: the outcome of its operation, or the plan itself if it has none. */
export function toSettlements(planned: readonly Planned[], { outcomes, memory }: SendResult): Settlements {
  const left = [...outcomes];
  const settlements = planned.map((each): Settlement => {
    if (each.kind !== 'send') return each;
    return left.shift() ?? { kind: 'unknown', detail: 'the sink returned no outcome' };
  });
  return { settlements, memory };
}
