import type { z } from 'zod';
import type { Change, ErasedItems } from './change.js';
import type { Choices } from './connect.js';
import type { Accounts } from './network/accounts.js';
import type { Causes, Reasons } from './reasons.js';

/**
 * The contract of a destination. The delivery engine (delivering/) owns order, retries, consent and the ledger. It
 * hands over only changes that may be sent. A sink does not retry, wait or keep its own records.
 *
 * A change is delivered in four steps. `plan` converts it into an operation (`plan` is pure, so that `pigeonpost
 * preview` can run the same code). The engine commits the start of an attempt. `send` makes the calls. The engine
 * commits the outcomes. If the process dies between the two commits, a sink with `recover` finds out what happened. A
 * sink without `recover` sends the operation again, which must be harmless (`repeats: 'harmless'`).
 */
export interface Sink<Op extends Operation = Operation> {
  readonly traits: SinkTraits;
  /**
   * Checks whether the destination would accept operations, without changing anything there. Returns one line per
   * check; never throws.
   */
  check(signal: AbortSignal): Promise<CheckLine[]>;
  /**
   * Returns one plan per subject, in the same order. Pure: no I/O, no clock, no randomness. Never throws because of a
   * subject.
   */
  plan(subjects: readonly Subject[]): Promise<Planned<Op>[]>;
  /**
   * Returns the calls of an operation in their order, as a preview shows them. A call that depends on the answer of an
   * earlier one, such as a look-up, contains `{id}` where the answer is not known. Contains no secret. Pure.
   */
  preview(operation: Op): readonly PreviewedCall[];
  /**
   * Makes the calls and returns one outcome per operation, in the same order. Never throws because of a record or a
   * response: it reports a failure as an outcome. When the signal is aborted, calls in progress stop promptly, and
   * operations that have not started are `unsent`.
   */
  send(operations: readonly Op[], lane: Lane, signal: AbortSignal): Promise<SendResult>;
  /**
   * Finds out what happened to operations that an earlier attempt may have sent. The engine calls it after a process
   * took over the lane, and a minute after an `unknown` outcome. It must not send anything, because people in these
   * operations may have withdrawn consent since the earlier attempt. If the outcome is `unsent`, the engine plans the
   * change again, with the `object` that `recover` found, if any. `retry` and `pause` mean that the look-up failed and
   * must be repeated. After a takeover, the engine calls `recover` before the lane sends anything else, even if there
   * are no operations. A sink that needs no look-up stores in `object` that the destination may have more of the item
   * than `object` says: if the person must be forgotten later, nothing may be left there unnoticed.
   */
  recover?(operations: readonly Op[], lane: Lane, signal: AbortSignal): Promise<SendResult>;
  /**
   * Plans look-ups for changes that an earlier attempt may have sent, if `plan` now returns no operation for them. The
   * engine passes the operations only to `recover` and never sends them. Pure, like `plan`. `nothing` means that the
   * attempt cannot have created anything. `unplannable` means that the sink cannot look the change up, so the operator
   * has to decide.
   */
  planLookUp?(subjects: readonly Subject[]): Promise<Planned<Op>[]>;
  /**
   * Removes everything about these items except the change that deleted them. Only sinks that keep every change in
   * files implement this method. The process that holds the lane calls it after that change was delivered, while no
   * delivery is in progress. Never throws. May run again after it succeeded or was interrupted.
   */
  erase?(erased: ErasedItems, lane: Lane, signal: AbortSignal): Promise<EraseResult>;
  /**
   * Reads what the destination holds of these items now. Returns one result per entry, in the same order. Only reads:
   * the engine calls it in an audit, while no delivery of the lane is in progress. Never throws because of a record or a
   * response. When the signal is aborted, calls in progress stop promptly, and entries that were not read are `retry`.
   * Absent: the destination cannot be read, so the sink cannot be audited.
   */
  readBack?(wanted: readonly ReadBack<Op>[], lane: Lane, signal: AbortSignal): Promise<readonly HeldResult[]>;
  /**
   * Returns the names of the fields or parts in which the destination differs from what the operation writes or, for
   * `expected: 'absence'`, the names of what its removal would still remove. Never returns values. Leaves out what the
   * mapping does not write and what its policy leaves to others (`if-empty`, a newer value under `if-newer`). Ignores
   * the id and the replay of a change, so that a replayed line equals the original one. Pure. Required with `readBack`.
   * @param held the `held` of a result of this sink
   */
  compareHeld?(operation: Op, held: unknown): readonly string[];
  /**
   * Called before a repair sends the missing revisions of a lane, while no delivery is in progress: accepts the
   * destination as it is now, such as a file that was cut, so that later writes continue from there. May run again.
   * Absent: not needed.
   */
  acceptHeld?(
    lane: Lane,
    signal: AbortSignal,
  ): Promise<Extract<Result, { readonly kind: 'delivered' | 'retry' | 'pause' }>>;
  /**
   * Removes what a repair cannot remove by sending an operation: further `copies` of an item and, in a log, revisions
   * with `expected: 'absence'`. Called while no delivery of the lane is in progress. Verifies before each removal that
   * the object still has our mark. Returns one outcome per entry, in the same order. May run again.
   */
  removeHeld?(extras: readonly ExtraHeld<Op>[], lane: Lane, signal: AbortSignal): Promise<readonly Outcome[]>;
  /**
   * Stores a whole file, beside what the sink writes for changes. A second file of the same name replaces the first in one
   * step, so that a reader sees all of one of them. Never throws, except what `bytes` throws. May run again. Absent: the
   * destination is no place for files.
   * @param name path of letters, digits and `.-_`, such as `acme/101/2026-11-29.xlsx`
   */
  putFile?(file: WholeFile, ledgerId: string, signal: AbortSignal): Promise<FileResult>;
  /** Removes a file that `putFile` stored. Never throws. May run again. Required with `putFile`. */
  removeFile?(name: string, signal: AbortSignal): Promise<FileResult>;
  /**
   * Sends one message that is marked as a test. Absent if the destination could mistake the message for a record of a
   * person. Never throws. This is the only call that sends something other than a change.
   */
  sendTest?(signal: AbortSignal): Promise<Outcome>;
  /**
   * Returns the values that the destination offers for a field of the type's form (`connect.ts`), such as the channels of
   * Slack. Only reads. Never throws. Absent: it offers none.
   */
  choices?(field: string, signal: AbortSignal): Promise<Choices>;
  /** Ends the waits that the destination requested, because an operator wants pigeonpost to try now. */
  tryNow?(): void;
  /** Closes connections. The sink is not used afterwards. */
  close(): Promise<void>;
}

export interface WholeFile {
  readonly name: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

export type FileResult = Extract<Result, { readonly kind: 'delivered' | 'retry' | 'pause' }>;

/**
 * A change with everything that a sink may use to plan it. Contains nothing about a person whose identity is not
 * visible.
 */
export interface Subject {
  readonly change: Change;
  /**
   * `change.data` as JSON text, if it is sent as the ledger stores it. A sink that sends it whole need not parse it.
   */
  readonly dataJson?: string | undefined;
  /** The item as the previous change left it; null if there was none, or if the ledger no longer keeps it. */
  readonly previous: Fields | null;
  /** The record of the item's attendee; null if there is no record or the person's identity is not visible. */
  readonly attendee: Fields | null;
  /**
   * The session to which the item belongs, or the item itself if it is a session; null if there is none or pigeonpost
   * has not read it yet.
   */
  readonly session: Fields | null;
  readonly pigeonhole: Fields | null;
  /** The item's `object` from this sink's last outcome; null if there is none yet. */
  readonly object: Fields | null;
  /**
   * True if the item was deleted and the sink certainly received no revision of it. Known only with the traits
   * `needsContext` and `revisions: 'every'`.
   */
  readonly neverSent?: boolean;
  /**
   * Set for an audit and for a repair: plan everything that the mapping writes, even if `object` says that the
   * destination already has it.
   */
  readonly again?: true;
  /**
   * Set for the lists in the trait `siblingLists`: the other items in which the same attendee answered the same
   * question, and the items that `object` names as `members`. Each is in its current revision. The engine decides for
   * each of them separately whether the person's identity is visible.
   */
  readonly siblings?: readonly Subject[];
  /**
   * The reason to remove what was sent; null if the change is not a removal. The `change.data` of a removal is null.
   * `deleted`: the item was deleted in the service. `consent-withdrawn` and `erased`: the sink must remove the person's
   * data from the destination as `onForget` specifies.
   */
  readonly removal: 'deleted' | 'consent-withdrawn' | 'erased' | null;
}

export type Fields = Readonly<Record<string, unknown>>;

/** The decision about one change before any call. */
export type Planned<Op extends Operation = Operation> =
  | { readonly kind: 'send'; readonly operation: Op }
  /** The destination needs no call; the sink type declares the `reason`, a short stable code. */
  | { readonly kind: 'nothing'; readonly reason: string }
  /** The mapping failed for this change, so the change becomes a dead letter with this `cause`, which the sink type declares. */
  | { readonly kind: 'unplannable'; readonly cause: string; readonly detail: string };

/** The calls for one change: plain data without secrets. `Sink.preview` shows it to people. */
export interface Operation {
  /** The id of the change. */
  readonly changeId: string;
}

/** An item (`revisions: 'latest'`) or a revision of an item (`'every'`), and what the destination should hold of it. */
export interface ReadBack<Op extends Operation = Operation> {
  /**
   * The change that was last delivered. For a log: the delivered revision; the destination may have it with the id of a
   * replay.
   */
  readonly change: Omit<Change, 'data'>;
  /**
   * - `content`: what `operation` writes.
   * - `presence`: a revision of a log whose content the ledger no longer has. Only `held` or `missing` matters.
   * - `absence`: nothing. For a log: this revision must not be there, because the person was erased. Otherwise, the
   *   destination should hold what the removal leaves (such as a row that is marked as deleted).
   *
   * In a log, a change that deletes an item is `content`.
   */
  readonly expected: 'content' | 'presence' | 'absence';
  /**
   * The plan of the change (with `again`, the item's present `object`, and the identity as it was sent). With
   * `absence`: the plan of the removal. Null with `presence`, in a log with `absence`, and if the plan leaves the removal
   * to an operator.
   */
  readonly operation: Op | null;
  readonly object: Fields | null;
  readonly removal: Subject['removal'];
}

/** The state of one entry at the destination. */
export type HeldResult =
  | (HeldFacts & {
      readonly kind: 'held';
      /** The data that `compareHeld` needs. Kept in memory only; it may contain personal data. */
      readonly held: unknown;
      /**
       * The user or integration that last changed it, if the vendor tells: an id or a kind, never a name or an e-mail
       * address.
       */
      readonly changedBy?: string;
      /** Time of the last change, if the vendor tells: ISO 8601, UTC. */
      readonly changedAt?: string;
    })
  /** The destination has nothing of the item, or of this revision. */
  | (HeldFacts & { readonly kind: 'missing' })
  /**
   * The destination refuses to show this item, for example because a permission is missing. `cause` is one of the sink
   * type's declared causes.
   */
  | { readonly kind: 'unreadable'; readonly cause: string; readonly detail: string }
  /** Not read, but a later attempt may succeed. */
  | Extract<Result, { readonly kind: 'retry' | 'pause' }>;

interface HeldFacts {
  /**
   * Ids of further objects at the destination that carry our mark of the item, for example because a
   * colleague duplicated a record. `removeHeld` removes them.
   */
  readonly copies?: readonly string[];
  /**
   * The item's object as the destination really has it, for example without the id of a record that was deleted there.
   * A repair stores it before it plans the item again. Absent: the stored one is right.
   */
  readonly object?: Fields | null;
}

/** Copies that a repair removes, or in a log a revision that it removes (`expected: 'absence'`). */
export interface ExtraHeld<Op extends Operation = Operation> extends ReadBack<Op> {
  readonly copies: readonly string[];
}

/** One call as a preview shows it. */
export interface PreviewedCall {
  /** The HTTP method, or a word such as `append` or `upsert`. */
  readonly method: string;
  /** The URL without secrets, the path of a file, or the name of a table. */
  readonly address: string;
  /** JSON or text; null if there is none. In a batch, the part of this item. */
  readonly body: unknown;
}

export type EraseResult =
  /**
   * `count`: number of lines or records that the sink removed or rewrote. `missing`: number of places (such as files)
   * to which the sink wrote and which no longer exist.
   */
  | { readonly kind: 'erased'; readonly count: number; readonly missing: number }
  | Extract<Result, { readonly kind: 'retry' | 'pause' }>;

export interface SinkTraits {
  /** The scope within which changes are delivered in order: one item, or the whole pigeonhole. */
  readonly order: 'item' | 'pigeonhole';
  /**
   * Whether `plan` uses more than the change itself. The engine reads the additional data with one statement per batch.
   */
  readonly needsContext: boolean;
  /** Lists in which the sink combines an attendee's answers to one question; its plans use `siblings`. */
  readonly siblingLists?: ReadonlySet<string>;
  /**
   * `every`: the sink receives all revisions of an item, like a log. `latest`: only the latest, like a table of
   * records.
   */
  readonly revisions: 'every' | 'latest';
  /**
   * After an unknown outcome, a sink with `harmless` may send the operation again without a look-up. A sink with
   * `lookUp` may send it again only after `recover` has found out what happened.
   */
  readonly repeats: 'harmless' | 'lookUp';
  /** Maximum number of operations in one `send`. */
  readonly batchSize: number;
}

/** A sink's queue for one pigeonhole. One process at a time holds it. */
export interface Lane {
  readonly workspace: string;
  readonly pigeonholeId: number;
  /** Id of the ledger. A sink can mark its destination with it, to detect that another ledger writes there as well. */
  readonly ledgerId: string;
  /** The lane's memory as last committed: values that the sink stores between two calls. */
  readonly memory: Fields;
  /**
   * Merges these keys into the lane's memory and commits them immediately. A sink stores an intent in this way before a
   * call, so that the intent survives if the process dies during the call.
   * @throws when another process took over the lane: nothing may be sent then
   */
  remember(memory: Fields): Promise<void>;
  /**
   * Returns the stored `object` of every item, from all lanes of this sink, so that a new process knows what other
   * processes wrote. Absent if the objects are not stored.
   */
  objects?(): AsyncIterable<Fields>;
}

export interface SendResult {
  readonly outcomes: readonly Outcome[];
  /**
   * The engine merges these keys into the lane's memory and commits them together with the outcomes. Absent: no change.
   */
  readonly memory?: Readonly<Record<string, unknown>>;
}

/**
 * The meaning of a destination's answer. `detail` is for the operator: at most one sentence, with the destination's
 * request id, without secret or personal data. `answer` is what the destination says itself, as `answerExcerpt` cut it.
 * The engine stores it with the delivery only: it is never part of a log, a metric, an alert or a history, because no
 * rule recognizes every name that a stranger's text may contain. The engine commits `object` together with the outcome, and passes it to
 * later plans as the subject's `object`. It holds remote ids and states, never personal data. Null: the destination has
 * nothing of this item any more. Absent: unchanged.
 */
export type Outcome = Result & {
  readonly object?: Fields | null;
  /** Together with `object`: new objects of the item's siblings, by key. */
  readonly siblings?: Readonly<Record<string, Fields>>;
};

export type Result =
  | { readonly kind: 'delivered'; readonly detail?: string }
  /** Failed, but may succeed later. `afterMs`: the wait that the destination requested, if any. */
  | { readonly kind: 'retry'; readonly afterMs?: number; readonly detail: string; readonly answer?: string }
  /** Every delivery would fail, so the sink stops and keeps its backlog until the cause is resolved. */
  | { readonly kind: 'pause'; readonly cause: PauseCause; readonly detail: string }
  /**
   * The destination refused the record in its present form. Once other deliveries have succeeded, the change becomes a
   * dead letter. `cause` is a short stable code that groups dead letters; the sink type declares it. Until other deliveries have succeeded, the
   * change stays in the backlog, because the destination may refuse everything (decision 0078). `about: 'record'` says
   * that only this record can be at fault (for example, the destination does not know the person), so the change
   * becomes a dead letter immediately.
   */
  | {
      readonly kind: 'rejected';
      readonly cause: string;
      readonly detail: string;
      readonly answer?: string;
      readonly about?: 'record';
    }
  /**
   * The operation may or may not have happened. If `repeats` is `lookUp`, the engine calls `recover`, at least a minute
   * later, before it sends the operation again.
   */
  | { readonly kind: 'unknown'; readonly detail: string }
  /**
   * The operation was certainly not sent, for a reason that is not a fault in the change. It is due again immediately,
   * or after `afterMs` if the sink postponed it on purpose. If the sink receives only the latest revision, a later
   * revision is sent without that wait. `detail` is set if the destination refuses this kind of record and accepts
   * others. The change then waits, and the sink does not count as failing.
   */
  | { readonly kind: 'unsent'; readonly afterMs?: number; readonly detail?: string };

/**
 * `credential`: the destination refuses the credentials. `gone`: the destination told pigeonpost to stop (for example
 * with HTTP 410). `destination`: the destination has changed and no longer fits the configuration.
 */
type PauseCause = 'credential' | 'gone' | 'destination';

export interface CheckLine {
  /** Whether the sink can send as configured. */
  readonly ok: boolean;
  /** With `ok`: an operator should decide whether this is intended. */
  readonly warning?: true;
  /** A sentence that says what the check found and, if not ok, what to do. */
  readonly text: string;
}

/** The registration of a sink type: one line in all-sinks.ts. */
export interface SinkType<Config = unknown> {
  readonly type: string;
  /** Validates the sink's own keys in pigeonpost.yaml; config/ validates the keys that all sinks share. */
  readonly configSchema: z.ZodType<Config>;
  /**
   * The sink receives the records of people with these consent states, unless the configuration names others
   * (docs/sinks.md).
   */
  readonly acceptsByDefault: readonly ConsentState[];
  /**
   * The keys in pigeonpost.yaml that say which items are sent and as what. The page lets people edit them, so they hold no
   * address and no credential. Empty: items are sent as they are.
   */
  readonly mappingKeys: readonly string[];
  /** The reasons with which `plan` sends nothing. */
  readonly reasons: Reasons;
  /** The causes with which its changes become dead letters, without those of failed mappings (`mapping: …`). */
  readonly causes: Causes;
  /**
   * Returns true if the destination passes changes on to others, so that a removal notifies it and does not show that
   * the data is gone. Absent: it does not.
   * @param config undefined if the sink is no longer configured
   */
  forwards?(config: Config | undefined): boolean;
  /** The lists whose changes the sink uses with this configuration. Only these lists are read for it. */
  lists(config: Config): readonly string[] | 'all';
  /** Other data that the mapping uses and that pigeonpost therefore has to read. */
  joins?(config: Config): readonly Join[];
  /**
   * Identifies the destination: two sinks with the same text write to the same place. The text may contain a secret (a
   * token in a URL), so pigeonpost stores and compares only a keyed fingerprint of it. An operator's approval is valid
   * for this destination only.
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
   * The clock that all processes share: Unix time in ms. If pigeonpost only checks the configuration, this is the clock
   * of the process.
   */
  readonly now: () => number;
  /** Time limit of a request, in ms. Absent: the sink's own. */
  readonly requestTimeoutMs?: number;
  /** State that sinks of this process share if they use the same account. */
  readonly accounts: Accounts;
  /** Storage for credentials that change with use. Absent if pigeonpost only checks the configuration. */
  readonly credentials?: KeptCredentials;
  /** The account's rate limits, if they differ from the vendor's defaults. */
  readonly limits?: { readonly per10s?: number; readonly perDay?: number };
  readonly onForget: OnForget;
}

/** The key `onForget`: how to treat a forgotten person's data at the destination. */
export type OnForget = 'clear-our-fields' | 'delete' | 'manual';

/**
 * Stores credentials that change with use, such as a refresh token that the vendor replaces at each use. They are
 * stored encrypted in the ledger, so that all processes of the ledger use the same ones (decision 0076). `configured`
 * is the credential in pigeonpost.yaml; it identifies the stored one.
 */
export interface KeptCredentials {
  /** The clock of the storage, which all processes share: Unix time in ms. */
  nowMs(): number;
  /**
   * @returns undefined if no process has claimed this credential yet; `text` is null if it was claimed but nothing is
   * stored
   */
  read(configured: string): Promise<KeptCredential | undefined>;
  /**
   * Gives this process the exclusive right to replace the credential during the next `forMs` milliseconds.
   * @returns undefined if another process holds an unexpired claim
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
  /**
   * Hosts that pigeonpost may reach through the proxy. Behind a proxy, it cannot check the address to which a name
   * resolves.
   */
  readonly allowHosts: readonly string[];
}

/** Returns the value if it is a JSON object, otherwise an empty object. */
export function fieldsOf(found: unknown): Fields {
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as Fields) : {};
}

/** Whether the change is a removal because a person must be forgotten (and not because the item was deleted). */
export function forgetsPerson(removal: Subject['removal']): boolean {
  return removal === 'consent-withdrawn' || removal === 'erased';
}
