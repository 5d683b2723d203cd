import type { Outcome } from '../sink.js';
import type { Verdict } from './classify.js';
import type { HttpOperation, MadeRecord, Step } from './operation.js';

/** One step of an operation, and what became of it. */
export class Task {
  verdict: Verdict | { readonly kind: 'unsent'; readonly afterMs?: number } | undefined;
  /** The record that was there before, where one was found. */
  foundId: string | number | undefined;
  /** `find` was answered. */
  isLookedUp = false;

  constructor(
    readonly operation: HttpOperation,
    readonly step: Step,
  ) {}

  /** Steps with the same key go in order. */
  get orderKey(): string {
    return `${this.step.record} ${this.operation.itemKey}`;
  }

  get isSettled(): boolean {
    return this.verdict?.kind === 'delivered' || this.verdict?.kind === 'rejected';
  }
}

const worstFirst = ['pause', 'retry', 'unsent', 'rejected', 'delivered'] as const;

/**
 * What became of an operation: the worst of its steps. The object says what stands there, step by step, so that what
 * was delivered is not sent again with the rest.
 */
export function outcomeOf(
  { made, notForgotten }: HttpOperation,
  tasks: readonly Task[],
  keepsObjects: boolean,
): Outcome {
  const records: Record<string, MadeRecord> = { ...made };
  for (const task of tasks) note(records, task);
  const outcomes = tasks.map(resultOf);
  const worst = worstFirst
    .map((kind) => outcomes.find((each) => each.kind === kind))
    .find((each) => each !== undefined);
  const isRejected = worst?.kind === 'delivered' && notForgotten !== undefined;
  const outcome: Outcome = isRejected ? { kind: 'rejected', ...notForgotten } : (worst ?? { kind: 'unsent' });
  if (!keepsObjects || JSON.stringify(records) === JSON.stringify(made)) return outcome;
  return { ...outcome, object: Object.keys(records).length === 0 ? null : records };
}

/** @param records what stands at the receiver, changed here */
function note(records: Record<string, MadeRecord>, { step, verdict, foundId }: Task): void {
  if (foundId !== undefined) records[step.record] = { id: foundId, found: true };
  if (verdict?.kind === 'missing') delete records[step.record];
  if (verdict?.kind !== 'delivered') return;
  if (step.purpose === 'delete' || step.purpose === 'forget') {
    delete records[step.record];
    return;
  }
  const before = records[step.record];
  const id = verdict.id ?? before?.id;
  records[step.record] = { ...before, sent: step.sent, ...(id !== undefined && { id }) };
}

function resultOf({ verdict, foundId }: Task): Exclude<Outcome, { kind: 'unknown' }> {
  // Planned again, now that it is known what is there.
  if (verdict === undefined || verdict.kind === 'missing' || foundId !== undefined) return { kind: 'unsent' };
  if (verdict.kind === 'unsent') return verdict;
  const { id: _, ...result } = verdict;
  return result;
}

/** A task waits for those before it with the same key: each wave has every key once. */
export function wavesOf(tasks: readonly Task[]): Task[][] {
  const waves: Task[][] = [];
  const next = new Map<string, number>();
  for (const task of tasks) {
    const at = next.get(task.orderKey) ?? 0;
    next.set(task.orderKey, at + 1);
    (waves[at] ??= []).push(task);
  }
  return waves;
}
