/**
 * What workflows and activities say to each other. Ids and counts only: histories are plain text to whoever runs
 * Temporal.
 */
export interface PigeonholeName {
  readonly workspace: string;
  readonly pigeonholeId: number;
}

/** The end of one turn: what it did, and when the next one is due. */
export interface Turn {
  /** 0: at once, there is more to do. */
  readonly nextDueInMs: number;
  /** `waiting`: the workspace waits; `finished`: nothing names this work any more, its workflow ends. */
  readonly state: 'working' | 'waiting' | 'paused' | 'finished';
  /** Why it waits or is paused. */
  readonly reason?: string;
}

export interface ReadingTurn extends Turn {
  readonly pages: number;
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
}

export interface DeliveryTurn extends Turn {
  readonly delivered: number;
  readonly withheld: number;
  readonly failed: number;
}

export interface ImportTurn extends Turn {
  /** That came to an end in this turn, created or not. */
  readonly rows: number;
  readonly requests: number;
}

export interface ErasureTurn extends Turn {
  /** Items that were erased in this turn. */
  readonly items: number;
  /** Places that have not answered yet. */
  readonly open: number;
}

/** What a person may ask of running work by a signal. */
export type WorkRequest = 'pause' | 'resume' | 'poll-now' | 'sweep';
