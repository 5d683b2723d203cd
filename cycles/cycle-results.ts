/**
 * Names a pigeonhole in payloads of workflows and activities. Payloads hold only ids and counts, because everyone with
 * access to Temporal can read them in workflow histories.
 */
export interface PigeonholeName {
  readonly workspace: string;
  readonly pigeonholeId: number;
}

/** Result of one cycle: the work done, and when the next cycle is due. */
export interface CycleResult {
  /** 0: immediately, because there is more to do. */
  readonly nextDueInMs: number;
  /** `waiting`: the workspace waits; `finished`: the configuration no longer names this work, so its workflow ends. */
  readonly state: 'working' | 'waiting' | 'paused' | 'finished';
  /** The reason for the state, such as the cause of a pause. */
  readonly reason?: string;
}

export interface ReadingResult extends CycleResult {
  readonly pages: number;
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
}

export interface DeliveryResult extends CycleResult {
  readonly delivered: number;
  readonly withheld: number;
  readonly failed: number;
}

export interface ImportResult extends CycleResult {
  /** Number of rows that reached a final state in this cycle, created or not. */
  readonly rows: number;
  readonly requests: number;
}

export interface ErasureResult extends CycleResult {
  /** Number of items erased in this cycle. */
  readonly items: number;
  /** Number of places that have not confirmed the erasure yet. */
  readonly open: number;
}

/** Maximum length of a stay (decision 0088). */
const longestStayMs = 120_000;

/** Returns the time that is left of a stay, in whole ms, as timers need it; 0: it is over. */
export type StayTime = () => number;

/**
 * Starts the time of a stay. A stay that is repeated because the configuration has changed has no more time than one that
 * is not, so that it ends before Temporal gives it up. Stays differ by up to a quarter, so that those of a process do not all
 * end together.
 */
export function startStayTime(): StayTime {
  const endsAtMs = performance.now() + longestStayMs * (0.75 + Math.random() / 4);
  return () => Math.max(0, Math.ceil(endsAtMs - performance.now()));
}

/** Result of a stay: an activity that runs cycles for some minutes. */
export interface StayResult {
  /** `finished`: nothing is left to stay with, so the workflow ends. */
  readonly state: 'working' | 'finished';
  /** Why the stay ended. */
  readonly reason: string;
}
