import { outcomeUnknown } from './dead-letters.js';
import type { Lane, Operation, Outcome, Planned, SendResult, Sink, Subject } from '../sinks/sink.js';
import { type ConfirmHeld, whileHeld } from '../base/while-held.js';

/** A lane under its holder's lease. */
export interface LeasedLane {
  readonly lane: Lane;
  /** Aborted when the lane is lost, or the process ends. */
  readonly signal: AbortSignal;
  /** Called before each call to the destination. */
  readonly confirm: ConfirmHeld;
}

/** The result for one planned change: the sink's outcome, or the plan's reason for not sending it. */
export type Settlement = Outcome | Exclude<Planned, { kind: 'send' }>;

export interface Settlements {
  readonly settlements: readonly Settlement[];
  readonly memory: SendResult['memory'];
}

/**
 * Passes the planned operations to the sink. Returns a settlement for every planned change, in their order.
 * @param how `recover`: an earlier attempt may have sent these operations
 */
export async function sendPlanned(
  sink: Sink,
  planned: readonly Planned[],
  how: 'send' | 'recover',
  held: LeasedLane,
): Promise<Settlements> {
  const operations = planned.flatMap((each): Operation[] => (each.kind === 'send' ? [each.operation] : []));
  const { outcomes, memory } = await whileHeld(held.confirm, () => carryOut(sink, operations, how, held));
  let next = 0;
  return {
    settlements: planned.map((each) => {
      if (each.kind !== 'send') return each;
      next += 1;
      return outcomes[next - 1] ?? { kind: 'unknown', detail: 'the sink returned no outcome' };
    }),
    memory,
  };
}

async function carryOut(
  sink: Sink,
  operations: readonly Operation[],
  how: 'send' | 'recover',
  { lane, signal }: LeasedLane,
): Promise<SendResult> {
  if (how === 'send') return operations.length === 0 ? { outcomes: [] } : await sink.send(operations, lane, signal);
  if (sink.recover !== undefined) return await sink.recover(operations, lane, signal);
  return { outcomes: operations.map(() => ({ kind: 'unsent' })) };
}

/**
 * Finds out what happened to changes that an earlier attempt may have sent. The mapping or related items may have
 * changed since then, so that the plan now drops a change, although the earlier attempt may have created an object for
 * it. Therefore, the sink first looks for the object with its `planLookUp` plan. If it finds one, the change is planned
 * again with that object.
 */
export async function recoverSent(sink: Sink, subjects: readonly Subject[], held: LeasedLane): Promise<Settlements> {
  const planned = await sink.plan(subjects);
  const isDropped = planned.map(({ kind }) => kind !== 'send');
  const lookUps = await tracesOf(
    sink,
    subjects.filter((_, index) => isDropped[index]),
  );
  const plans = planned.map((plan, index) => (isDropped[index] ? (lookUps.shift() ?? plan) : plan));
  const found = await sendPlanned(sink, plans, 'recover', held);
  return {
    ...found,
    settlements: found.settlements.map((each, index) => (isDropped[index] ? settleTrace(each, planned[index]!) : each)),
  };
}

/**
 * Plans look-ups for changes that the plan now drops. Returns none if the sink has no `planLookUp`: either sending
 * again is harmless, or the sink finds its objects by other means.
 */
async function tracesOf(sink: Sink, subjects: readonly Subject[]): Promise<Planned[]> {
  if (sink.traits.repeats !== 'lookUp' || sink.planLookUp === undefined || subjects.length === 0) return [];
  return [...(await sink.planLookUp(subjects))];
}

/**
 * Returns the settlement of a change that the plan now drops: the plan's own reason if the look-up found nothing at the
 * destination. Pure.
 */
function settleTrace(found: Settlement, planned: Planned): Settlement {
  if (planned.kind === 'send') return found;
  switch (found.kind) {
    case 'nothing':
      return planned;
    case 'unplannable':
      return found === planned ? planned : { kind: 'rejected', cause: outcomeUnknown, detail: found.detail };
    case 'unsent':
      return found.object === undefined ? planned : found;
    case 'delivered':
      return { kind: 'unsent', ...('object' in found && { object: found.object }) };
    default:
      return found;
  }
}
