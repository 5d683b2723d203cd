import { z } from 'zod';

/** A file that is to take the place of the one that the process was started with; none: that one, as it stands now. */
export const candidateSchema = z.strictObject({
  /** Absolute path, by which messages name it. */
  file: z.string().min(1).max(4096).optional(),
  /** What stands in it. */
  text: z.string().max(1_000_000).optional(),
});
export type Candidate = z.infer<typeof candidateSchema>;

/** The absolute path of the file that a person means: only the process's own is ever read. */
export const applySchema = z.strictObject({ file: z.string().min(1).max(4096) });

/** What a configuration changes, and what it causes. */
export interface ConfigurationPlan {
  /** The number of the one that is current. */
  readonly current: number;
  readonly changes: readonly ConfigurationChange[];
  /** Pigeonholes that a sync begins or ceases to read. */
  readonly pigeonholes: readonly SelectionChange[];
  /** What is sent because of it, beside what is found from now on. */
  readonly deliveries: readonly CausedDeliveries[];
  /** What stays at a sink that is sent it no more: nothing is taken back. */
  readonly kept: readonly KeptItems[];
  /** Keys that take effect at the next start. */
  readonly atNextStart: readonly string[];
  /** What is allowed but probably not meant. */
  readonly warnings: readonly string[];
}

export interface ConfigurationChange {
  readonly kind: 'added' | 'changed' | 'removed';
  readonly what: 'workspace' | 'sync' | 'sink';
  readonly name: string;
  /** Of what is changed: the keys. */
  readonly keys: readonly ChangedKey[];
  /** Of what is removed or comes back: what that means. */
  readonly note: string | null;
}

export interface ChangedKey {
  readonly key: string;
  /** JSON of the values; absent where it could hold a secret. */
  readonly from?: string;
  readonly to?: string;
}

export interface SelectionChange {
  readonly sync: string;
  readonly workspace: string;
  readonly added: readonly number[];
  readonly removed: readonly number[];
  /** Of the added: never read before, so that nobody knows what they hold. */
  readonly unread: number;
}

/**
 * - `history`: the sink is new there
 * - `list-added`: it gets a list that it did not get before
 * - `released`: what was withheld for `reason` is withheld no more
 * - `since-watermark`: it was left out for a while, and gets what it missed
 */
export type DeliveryCause = 'history' | 'list-added' | 'released' | 'since-watermark';

export interface CausedDeliveries {
  readonly sink: string;
  readonly list: string;
  readonly cause: DeliveryCause;
  /** Of `released`: what they were withheld for. */
  readonly reason: string | null;
  readonly changes: number;
  /** Not sent on purpose, by reason. */
  readonly withheld: Readonly<Record<string, number>>;
  /** The sink observes: they are counted, and not sent. */
  readonly observed: boolean;
}

export interface KeptItems {
  readonly sink: string;
  readonly list: string;
  /** Why no later change of it is sent: `list-not-wanted`, or a state of consent such as `consent-not-asked`. */
  readonly reason: string;
  readonly items: number;
}

export interface AppliedConfiguration {
  readonly number: number;
  /** False: the file is the current configuration already. */
  readonly changed: boolean;
  readonly plan: ConfigurationPlan;
}
