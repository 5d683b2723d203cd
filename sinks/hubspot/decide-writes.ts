import { lifecycleStage, mayMoveStage } from './lifecycle-stage.js';
import type { PropertyWrite } from './operation.js';

/** What stands in a record now, of the properties that were asked for. */
export interface PresentValue {
  /** Empty: there is none. */
  readonly value: string;
  /** When what it tells of happened, as far as is known: for what others wrote, when they wrote it. Unix time in ms. */
  readonly happenedAtMs: number;
}

/** Whether a write cannot be decided without the present value. */
export function needsPresent({ name, policy }: PropertyWrite): boolean {
  return policy !== 'always' || name === lifecycleStage;
}

/** Whether deciding takes the time of the present value as well. */
export function needsHistory({ policy }: PropertyWrite): boolean {
  return policy === 'if-newer';
}

/**
 * Which properties are written. Pure. `always` writes what differs or is not known; `if-empty` and `if-newer` are never
 * used to clear anything, for what stands there may be another's. A lifecycle stage only moves forward.
 * @param present by property; absent: not read, or there is no such record yet
 */
export function decideWrites(
  writes: readonly PropertyWrite[],
  present: ReadonlyMap<string, PresentValue>,
  happenedAtMs: number,
): Map<string, string> {
  const decided = writes.filter((write) => {
    const { name, value, policy } = write;
    const now = present.get(name);
    if (now !== undefined && now.value === value) return false;
    const empty = now === undefined || now.value === '';
    if (name === lifecycleStage && !mayMoveStage(now?.value ?? '', value)) return false;
    switch (policy) {
      case 'always':
        return true;
      case 'if-empty':
        return empty && value !== '';
      case 'if-newer':
        return value !== '' && (empty || happenedAtMs > now.happenedAtMs);
    }
  });
  return new Map(decided.map(({ name, value }) => [name, value]));
}
