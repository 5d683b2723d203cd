import type { Lane, Operation, Outcome, Planned, SendResult, Sink } from '../sinks/sink.js';
import { type ConfirmHeld, whileHeld } from '../sinks/while-held.js';

/** A lane under its holder's lease. */
export interface HeldLane {
  readonly lane: Lane;
  /** Aborted when the lane is lost, or the process ends. */
  readonly signal: AbortSignal;
  /** Called before each call to the destination. */
  readonly confirm: ConfirmHeld;
}

/** The result for one planned change: the sink's outcome, or the plan's reason for no call. */
export type Settlement = Outcome | Exclude<Planned, { kind: 'send' }>;

export interface Settlements {
  readonly settlements: readonly Settlement[];
  readonly memory: SendResult['memory'];
}

/**
 * Passes the planned operations to the sink. Returns a settlement for every planned change, in their order.
 * @param how `recover`: an earlier attempt may have sent it
 */
export async function sendPlanned(
  sink: Sink,
  planned: readonly Planned[],
  how: 'send' | 'recover',
  held: HeldLane,
): Promise<Settlements> {
  const operations = planned.flatMap((each): Operation[] => (each.kind === 'send' ? [each.operation] : []));
  const { outcomes, memory } = await whileHeld(held.confirm, () => carryOut(sink, operations, how, held));
  let next = 0;
  return {
    settlements: planned.map((each) => {
      if (each.kind !== 'send') return each;
      next += 1;
      return outcomes[next - 1] ?? { kind: 'unknown', detail: 'the sink gave no outcome' };
    }),
    memory,
  };
}

async function carryOut(
  sink: Sink,
  operations: readonly Operation[],
  how: 'send' | 'recover',
  { lane, signal }: HeldLane,
): Promise<SendResult> {
  if (how === 'send') return operations.length === 0 ? { outcomes: [] } : await sink.send(operations, lane, signal);
  if (sink.recover !== undefined) return await sink.recover(operations, lane, signal);
  return { outcomes: operations.map(() => ({ kind: 'unsent' })) };
}
