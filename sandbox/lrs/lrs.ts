import type { CallLimit } from '../serve/call-limit.js';
import type { StatementStore } from './statement-store.js';

/** Credentials for basic authentication. */
export interface LrsAccount {
  readonly username: string;
  readonly password: string;
  /** False: statements that void others are refused with 403. */
  readonly mayVoid?: boolean;
}

export type LrsVersion = '1.0.3' | '2.0.0';

/** Behaviour that the specification leaves to the LRS. */
export interface LrsChoices {
  /** The versions that it accepts, oldest first; requests in another version get 400. A fresh account has 2.0 only. */
  readonly versions: readonly LrsVersion[];
  /** Larger bodies get 413. */
  readonly maxBytes: number;
  /** Longer lists get 413; no limit by default. */
  readonly maxStatements?: number;
  /** More requests in any minute get 429 with Retry-After; no limit by default. */
  readonly requestsPerMinute?: number;
  /**
   * Answer to a stored statement that is sent again with the same content: `accepted` (200 or 204, nothing is stored) or
   * `conflict` (409, as for other content). The specification allows both.
   */
  readonly repeats: 'accepted' | 'conflict';
  /**
   * Rule for comparing two statements with the same id: the comparison requirements of the `specification`, or `exact`
   * equality except for the order of keys. A real LRS was observed to use `exact`: it answers 409 if only the verb's
   * display or the time zone of the same instant differs.
   */
  readonly comparison: 'specification' | 'exact';
  /** A statement that voids a voiding statement: `refused` is 400, `ignored` is stored without effect. */
  readonly voidingOfVoiding: 'ignored' | 'refused';
  /** Delay until a stored statement can be read: an LRS may answer before it has indexed the statement. */
  readonly visibleAfterMs: number;
}

/** One LRS: its statements, credentials and options. */
export interface Lrs {
  readonly store: StatementStore;
  readonly accounts: LrsAccount[];
  /** Access tokens that are valid, with the account that each was issued to. */
  readonly tokens: Map<string, LrsAccount>;
  readonly options: LrsChoices;
  /** Home page of the authorities that the LRS assigns. */
  readonly homePage: string;
  readonly now: () => number;
  readonly requestLimit: CallLimit | undefined;
}

/** A request that the LRS refuses, with the status that the specification gives it (Communication, 3.2). */
export class LrsRefusal extends Error {
  override readonly name = 'LrsRefusal';

  constructor(
    readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 429,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}
