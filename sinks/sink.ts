import type { z } from 'zod';
import type { Change } from './change.js';
import type { Accounts } from './network/accounts.js';

/**
 * The contract of a destination. The delivery engine (delivering/) owns order, retries, consent and the ledger. It
 * hands over only changes that may be sent. A sink does not retry, wait or keep records of its own.
 *
 * The life of a change: `plan` converts it into an operation (pure: preview and explanation run the same code), the
 * engine commits the start of an attempt, `send` makes the calls, and the engine commits the outcomes. If the process
 * dies between these commits, a sink with `recover` finds out what happened. Other sinks send again, which must be
 * harmless (`repeats: 'harmless'`).
 */
export interface Sink<Op extends Operation = Operation> {
  readonly traits: SinkTraits;
  /**
   * Verifies that the destination would accept operations, without leaving anything there. Returns one line per check;
   * never throws.
   */
  check(signal: AbortSignal): Promise<CheckLine[]>;
  /**
   * Returns one plan per subject, in the same order. Pure: no I/O, no clock, no randomness. Never throws because of a
   * subject.
   */
  plan(subjects: readonly Subject[]): Promise<Planned<Op>[]>;
  /**
   * Makes the calls and returns one outcome per operation, in the same order. Never throws because of a record or a
   * response: a failure is an outcome. When the signal is aborted, calls in progress stop promptly; operations that
   * have not started by then are `unsent`.
   */
  send(operations: readonly Op[], lane: Lane, signal: AbortSignal): Promise<SendResult>;
  /**
   * Finds out what happened to operations that an earlier attempt may have sent: after another process took over the
   * lane, or a minute after an `unknown` outcome. Must only read: the operations are those of the earlier attempt, and
   * the people in them may have withdrawn consent since. A change whose outcome is `unsent` is planned again, with the
   * `object` that was found, if any. `retry` and `pause` mean that the look-up failed and is repeated. After a
   * takeover, it is called before the lane sends anything else, even if there are no operations.
   */
  recover?(operations: readonly Op[], lane: Lane, signal: AbortSignal): Promise<SendResult>;
  /**
   * Plans look-ups for changes that an earlier attempt may have sent, if `plan` now returns no operation for them. The
   * operations are only passed to `recover`, never sent. Pure, like `plan`. `nothing`: the attempt cannot have
   * created anything; `unplannable`: the sink cannot look for it, and leaves it to the operator.
   */
  planLookUp?(subjects: readonly Subject[]): Promise<Planned<Op>[]>;
  /**
   * For sinks that store what they receive (files): removes everything about these items except the change that deleted
   * them. The lane's holder calls it with nothing in flight, after that change is delivered. Never throws. Safe to run
   * twice, even after a process died halfway.
   */
  erase?(erased: ErasedItems, lane: Lane, signal: AbortSignal): Promise<EraseResult>;
  /**
   * Sends one message that is marked as a test, for destinations where it is harmless: it must not look like a record
   * of a person. Never throws. Everything else that a sink receives is a change.
   */
  sendTest?(signal: AbortSignal): Promise<Outcome>;
  /** Lifts the waits that the destination requested, because an operator wants to try now. */
  tryNow?(): void;
  /** Closes connections. The sink is not used afterwards. */
  close(): Promise<void>;
}

/**
 * A change with everything that a sink may use to plan it. Contains nothing about a person whose identity is not
 * visible.
 */
export interface Subject {
  readonly change: Change;
  /** `change.data` as JSON text, if it is sent as the ledger stores it. A sink that sends it whole need not parse it. */
  readonly dataJson?: string | undefined;
  /** The item at its previous change; null if there was none, or it is no longer kept. */
  readonly previous: Fields | null;
  /** The record of the item's attendee; null if there is none or the identity is not visible. */
  readonly attendee: Fields | null;
  /** The item's session, or the session itself; null if there is none or it has not been read yet. */
  readonly session: Fields | null;
  readonly pigeonhole: Fields | null;
  /** The item's `object` from this sink's last outcome; null if there is none yet. */
  readonly object: Fields | null;
  /**
   * Set for the lists in the trait `siblingLists`: the items in which the same attendee answered the same question, and
   * those that `object` names as `members`. Each is in its present state, and has its own decision about the visibility
   * of the person's identity.
   */
  readonly siblings?: readonly Subject[];
  /**
   * The reason to remove what was sent; null if the change is not a removal. The `change.data` of a removal is null.
   * `deleted`: the item was deleted in the service; `consent-withdrawn`, `erased`: the destination is to forget the
   * person, in the way that `onForget` specifies.
   */
  readonly removal: 'deleted' | 'consent-withdrawn' | 'erased' | null;
}

export type Fields = Readonly<Record<string, unknown>>;

/** The decision about one change before any call. */
export type Planned<Op extends Operation = Operation> =
  | { readonly kind: 'send'; readonly operation: Op }
  /** The destination needs no call; `reason` is a short stable code, such as `condition`. */
  | { readonly kind: 'nothing'; readonly reason: string }
  /** The mapping failed for this change: it becomes a dead letter under `cause`. */
  | { readonly kind: 'unplannable'; readonly cause: string; readonly detail: string };

/** The calls for one change: plain data without secrets, so that a preview can show it. */
export interface Operation {
  /** The id of the change. */
  readonly changeId: string;
}

/** Items of people to forget, in one pigeonhole. */
export interface ErasedItems {
  /** Keys by list. */
  readonly keys: ReadonlyMap<string, ReadonlySet<string>>;
  /** Ids of questions among them; their texts are also part of other people's items. */
  readonly questions: ReadonlySet<number>;
}

export type EraseResult =
  /**
   * Number of lines or records that were removed or rewritten; `missing`: number of places (such as files) that were
   * written to and are no longer there.
   */
  | { readonly kind: 'erased'; readonly count: number; readonly missing: number }
  | Extract<Result, { readonly kind: 'retry' | 'pause' }>;

export interface SinkTraits {
  /** `item`: changes of one item are delivered in order; `pigeonhole`: all changes of a pigeonhole are. */
  readonly order: 'item' | 'pigeonhole';
  /** Whether plans use more than the change itself; the extra data costs one statement per batch. */
  readonly needsContext: boolean;
  /** Lists in which the sink combines an attendee's answers to one question; its plans use `siblings`. */
  readonly siblingLists?: ReadonlySet<string>;
  /** Log sinks receive every revision, state sinks only the latest. */
  readonly revisions: 'every' | 'latest';
  /**
   * `harmless`: an operation may be sent again after an unknown outcome. `lookUp`: only after `recover` has found out
   * what happened.
   */
  readonly repeats: 'harmless' | 'lookUp';
  /** Maximum number of operations in one `send`. */
  readonly batchSize: number;
}

/** A sink's queue for one pigeonhole. One process at a time holds it. */
export interface Lane {
  readonly workspace: string;
  readonly pigeonholeId: number;
  /** Id of the ledger, so that a destination can be marked as belonging to it. */
  readonly ledgerId: string;
  /** The lane's memory as last committed. */
  readonly memory: Fields;
  /**
   * Merges these keys into the lane's memory and commits them immediately, for an intent that must survive if the
   * process dies during the next call.
   * @throws when another process took over the lane: nothing may be sent then
   */
  remember(memory: Fields): Promise<void>;
  /**
   * Returns the stored `object` of every item, from all lanes of this sink, so that a process that starts knows what
   * other processes wrote. Reads all of them; absent if they are not kept.
   */
  objects?(): AsyncIterable<Fields>;
}

export interface SendResult {
  readonly outcomes: readonly Outcome[];
  /** Merged key by key into the lane's memory and committed with the outcomes; absent: no change. */
  readonly memory?: Readonly<Record<string, unknown>>;
}

/**
 * The meaning of a destination's answer. `detail` is for the operator: at most a sentence, without secret or personal
 * data; the destination's request id belongs there. `object` is committed with it and becomes the subject's `object`
 * (remote ids and states, never personal data); null: nothing is left there; absent: unchanged.
 */
export type Outcome = Result & {
  readonly object?: Fields | null;
  /** Together with `object`: new objects of the item's siblings, by key. */
  readonly siblings?: Readonly<Record<string, Fields>>;
};

export type Result =
  | { readonly kind: 'delivered'; readonly detail?: string }
  /** Failed for now; `afterMs` if the destination requested a wait. */
  | { readonly kind: 'retry'; readonly afterMs?: number; readonly detail: string }
  /** Every delivery would fail: the sink stops and keeps its backlog until the cause is resolved. */
  | { readonly kind: 'pause'; readonly cause: PauseCause; readonly detail: string }
  /**
   * Refused in its present form. Once other deliveries have passed, it becomes a dead letter under `cause`, a short
   * stable code by which dead letters are grouped. Until then, the backlog is kept, because the destination may be
   * refusing everything (decision 0078). `about: 'record'`: only this record is at fault, whatever happens to others
   * (for example, the destination does not know the person).
   */
  | { readonly kind: 'rejected'; readonly cause: string; readonly detail: string; readonly about?: 'record' }
  /**
   * May or may not have happened. If `repeats` is `lookUp`, it is looked up, at least a minute later, before it is sent
   * again.
   */
  | { readonly kind: 'unknown'; readonly detail: string }
  /**
   * Certainly not sent, and not because of the change: due again immediately, or after `afterMs` if the sink postponed
   * it on purpose. If a sink receives only the latest revision, a later one does not wait for that time. With
   * `detail`, the destination refuses this kind of record and accepts others: the change waits and does not count as a
   * failure of the sink.
   */
  | { readonly kind: 'unsent'; readonly afterMs?: number; readonly detail?: string };

/**
 * `credential`: new credentials lift it; `gone`: the destination asked pigeonpost to stop; `destination`: the
 * destination has changed.
 */
type PauseCause = 'credential' | 'gone' | 'destination';

export interface CheckLine {
  readonly ok: boolean;
  /** A sentence: what was found and, if not ok, what to do. */
  readonly text: string;
}

/** The registration of a sink type: one line in all-sinks.ts. */
export interface SinkType<Config = unknown> {
  readonly type: string;
  /** Validates the sink's own keys in pigeonpost.yaml; config/ validates the keys that all sinks share. */
  readonly configSchema: z.ZodType<Config>;
  /** Consent states whose records are sent if the configuration names none (docs/sinks.md). */
  readonly acceptsByDefault: readonly ConsentState[];
  /** The lists whose changes it uses in this configuration; only these are read for it. */
  lists(config: Config): readonly string[] | 'all';
  /** Other data that the mapping uses, and that has to be read for it. */
  joins?(config: Config): readonly Join[];
  /**
   * Identifies the destination: the same text means the same place. May contain a secret (a token in a URL), so it is
   * only compared as a keyed fingerprint. An operator's approval is bound to it.
   */
  destination(config: Config, environment: Pick<SinkEnvironment, 'baseFolder'>): string;
  create(config: Config, environment: SinkEnvironment): Sink;
}

export type Join = 'attendees' | 'sessions' | 'pigeonholes';

export type ConsentState = 'obtained' | 'refused' | 'not-asked' | 'not-known';

/** The environment that a process provides to all its sinks. */
export interface SinkEnvironment {
  /** The name in pigeonpost.yaml. */
  readonly name: string;
  /** The folder of the configuration file; relative paths start here. */
  readonly baseFolder: string;
  readonly network: NetworkSettings;
  /**
   * The clock that all processes share: Unix time in ms. Absent if the configuration is only checked; then this
   * process's own clock counts.
   */
  readonly now?: () => number;
  /** State that the process's sinks share by account; absent: this sink shares nothing. */
  readonly accounts?: Accounts;
  /** Storage for credentials that change with use; absent if the configuration is only checked. */
  readonly credentials?: KeptCredentials;
  /** The account's limits if they differ from the vendor's default. */
  readonly limits?: { readonly per10s?: number; readonly perDay?: number };
  /** The treatment of a forgotten person's data at the destination. */
  readonly onForget?: 'clear-our-fields' | 'delete' | 'manual';
}

/**
 * Credentials that change with use, such as a refresh token that its vendor replaces at each use: stored encrypted in
 * the ledger, for all its processes (decision 0076). Each is identified by the credential that the operator
 * configured.
 */
export interface KeptCredentials {
  /** The clock of the storage, which all processes share: Unix time in ms. */
  nowMs(): number;
  /** @returns undefined if nothing was ever claimed; `text` is null if nothing is stored yet */
  read(configured: string): Promise<KeptCredential | undefined>;
  /**
   * Gives this process the exclusive right to replace the credential for `forMs`.
   * @returns undefined while another process replaces it
   */
  claim(configured: string, forMs: number): Promise<KeptCredential | undefined>;
  /**
   * Stores a replacement and ends the claim.
   * @returns false if another process has replaced that version
   */
  replace(configured: string, version: number, text: string): Promise<boolean>;
  /** Ends the claim without a replacement. */
  release(configured: string): Promise<void>;
}

export interface KeptCredential {
  readonly version: number;
  readonly text: string | null;
}

/** The key `network` of pigeonpost.yaml. */
export interface NetworkSettings {
  readonly proxy?: string;
  /** Hosts reached without the proxy, in the form of NO_PROXY. */
  readonly noProxy?: string;
  /** Certificates (PEM) trusted in addition to the system's. */
  readonly ca?: string;
  /** Hosts allowed behind a proxy, where addresses cannot be checked when connecting. */
  readonly allowHosts: readonly string[];
}

/** Returns a JSON object as fields; empty for anything else. */
export function fieldsOf(found: unknown): Fields {
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as Fields) : {};
}

/** Whether the reason for a removal is to forget a person, and not that the item was deleted. */
export function forgetsPerson(removal: Subject['removal']): boolean {
  return removal === 'consent-withdrawn' || removal === 'erased';
}
