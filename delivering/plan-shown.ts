import { whileIdentityHidden } from '../base/delivery-words.js';
import type { Planned, Sink, Subject } from '../sinks/sink.js';
import { isLacking } from './recent-decisions.js';
import type { Settlement } from './send-batch.js';

/** Whether the sink may see the identity of a change's person. */
interface Shown {
  readonly identity: boolean;
}

/**
 * Plans subjects for which the engine decided whether the identity is visible.
 * @param shown one element per subject, in the same order
 */
export async function planShown(
  sink: Pick<Sink, 'plan'>,
  subjects: readonly Subject[],
  shown: readonly Shown[],
): Promise<Planned[]> {
  const planned = await sink.plan(subjects);
  return planned.map((plan, index) => withHiddenReason(plan, shown[index]!));
}

/**
 * If the mapping found no value for a change whose identity is hidden, lets the reason say so: whatever the sink is, the
 * mapping cannot be blamed for it. Pure.
 */
export function withHiddenReason<Result extends Planned | Settlement>(result: Result, { identity }: Shown): Result {
  if (identity || result.kind !== 'nothing' || !isLacking(result.reason)) return result;
  return { ...result, reason: whileIdentityHidden(result.reason) };
}
