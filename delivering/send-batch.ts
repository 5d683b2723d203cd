import type { Lane, Operation, Outcome, Planned, SendResult } from '../sinks/sink.js';
import { type ConfirmHeld, whileHeld } from '../base/lease.js';

/** A lane under its holder's lease. */
export interface LeasedLane {
  readonly lane: Lane;
  /** Aborted when the lane is lost, or the process ends. */
  readonly signal: AbortSignal;
  /** Called before each call to the destination (`onlyWhileHeld`). */
  readonly confirm: ConfirmHeld;
}

/** The result for one planned change: the sink's outcome, or the plan's reason for not sending it. */
export type Settlement = Outcome | Exclude<Planned, { kind: 'send' }>;

export interface Settlements {
  readonly settlements: readonly Settlement[];
  readonly memory: SendResult['memory'];
}

/**
 * Passes the planned operations to the sink while the lease holds. Returns a settlement for every planned change, in
 * their order.
 * @param carryOut the sink's `send` or `recover`
 */
export async function sendPlanned(
  planned: readonly Planned[],
  { lane, signal, confirm }: LeasedLane,
  carryOut: (operations: readonly Operation[], lane: Lane, signal: AbortSignal) => Promise<SendResult>,
): Promise<Settlements> {
  const operations = planned.flatMap((each) => (each.kind === 'send' ? [each.operation] : []));
  const { outcomes, memory } = await whileHeld(confirm, () => carryOut(operations, lane, signal));
  const left = [...outcomes];
  const settlements = planned.map((each): Settlement => {
    if (each.kind !== 'send') return each;
    return left.shift() ?? { kind: 'unknown', detail: 'the sink returned no outcome' };
  });
  return { settlements, memory };
}
