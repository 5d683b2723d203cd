import type { Lane, Operation, Outcome, Planned, SendResult, Sink } from '../sinks/sink.js';

/** What became of a planned change: the sink's outcome, or why it was not handed over. */
export type Settlement = Outcome | Exclude<Planned, { kind: 'send' }>;

export interface Settlements {
  readonly settlements: readonly Settlement[];
  readonly memory: SendResult['memory'];
}

/**
 * Hands over what was planned to be sent, and answers for everything that was planned, in its order.
 * @param how `recover`: an earlier attempt may have sent it
 */
export async function sendPlanned(
  sink: Sink,
  planned: readonly Planned[],
  how: 'send' | 'recover',
  lane: Lane,
  signal: AbortSignal,
): Promise<Settlements> {
  const operations = planned.flatMap((each): Operation[] => (each.kind === 'send' ? [each.operation] : []));
  const { outcomes, memory } = await carryOut(sink, operations, how, lane, signal);
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
  lane: Lane,
  signal: AbortSignal,
): Promise<SendResult> {
  if (how === 'send') return operations.length === 0 ? { outcomes: [] } : await sink.send(operations, lane, signal);
  if (sink.recover !== undefined) return await sink.recover(operations, lane, signal);
  return { outcomes: operations.map(() => ({ kind: 'unsent' })) };
}
