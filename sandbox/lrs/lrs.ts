import type { CallLimit } from '../serve/call-limit.js';
import type { StatementStore } from './statement-store.js';

/** Credentials for basic authentication. */
export interface LrsAccount {
  readonly username: string;
  readonly password: string;
  /** False: statements that void others are refused with 403. */
  readonly mayVoid?: boolean;
}

/** Where the specification lets an LRS choose. */
export interface LrsChoices {
  /** The one version that it speaks: requests in another are 400. A fresh account speaks 2.0. */
  readonly version: '1.0.3' | '2.0.0';
  /** Larger bodies are 413. */
  readonly maxBytes: number;
  /** Longer lists are 413; no limit by default. */
  readonly maxStatements?: number;
  /** More requests in any minute are 429 with Retry-After; no limit by default. */
  readonly requestsPerMinute?: number;
  /**
   * A statement that is stored already, sent again with the same content: `accepted` (nothing is stored, 200 or 204), or
   * `conflict` (409 as for other content, which the specification allows).
   */
  readonly repeats: 'accepted' | 'conflict';
  /**
   * When two statements with one id are the same: by the comparison requirements of the `specification`, or only when
   * they are `exact`ly alike but for the order of keys, as a real LRS was seen to have it (another display of the verb,
   * another time zone of the same instant: 409).
   */
  readonly comparison: 'specification' | 'exact';
  /** A statement that voids a voiding statement: `refused` is 400, `ignored` is stored without effect. */
  readonly voidingOfVoiding: 'ignored' | 'refused';
  /** How long after it was stored a statement can be read: an LRS may answer before it is there. */
  readonly visibleAfterMs: number;
}

/** One LRS: what it holds and how it chose. */
export interface Lrs {
  readonly store: StatementStore;
  readonly accounts: LrsAccount[];
  /** Access tokens that are valid, with the account that each was issued to. */
  readonly tokens: Map<string, LrsAccount>;
  readonly options: LrsChoices;
  /** Of the authorities that it assigns. */
  readonly homePage: string;
  readonly now: () => number;
  readonly requestLimit: CallLimit | undefined;
}
