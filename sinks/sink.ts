import type { z } from 'zod';
import type { Change } from './change.js';
import type { Accounts } from './network/accounts.js';

/**
 * What every destination implements. The delivery engine (delivering/) owns order, retries, consent and the ledger:
 * it hands over only what may be sent, and a sink does no retrying, no waiting and no bookkeeping of its own.
 *
 * The life of a change: `plan` turns it into operations (pure: the same code previews and explains), the engine
 * commits that an attempt begins, `send` makes the calls, the engine commits the outcomes. An attempt that died in
 * between is settled by `recover` where a sink can tell what became of it, else by sending again, which must be
 * harmless (`repeats: 'harmless'`).
 */
export interface Sink<Op extends Operation = Operation> {
  readonly traits: SinkTraits;
  /** Makes sure that the destination would accept operations, without leaving anything there. One line each; never throws. */
  check(signal: AbortSignal): Promise<CheckLine[]>;
  /** What it would do about each of these, in their order. Pure: no I/O, no clock, no randomness; never throws for one. */
  plan(subjects: readonly Subject[]): Promise<Planned<Op>[]>;
  /**
   * Makes the calls; answers one outcome per operation, in their order. Never throws for a record or an answer: what
   * went wrong is an outcome. Aborting the signal ends open calls soon; operations not begun by then are `unsent`.
   */
  send(operations: readonly Op[], lane: Lane, signal: AbortSignal): Promise<SendResult>;
  /**
   * After a lane was taken over, or a minute after an `unknown`: what became of operations that an earlier attempt may
   * have sent. Only looks: they are as they were planned then, and whoever stands in them may be shown no more. `unsent`
   * is planned anew, with the `object` that was found, if any; `retry` and `pause` say that looking failed: it is done
   * again. At a takeover called before anything else is sent on the lane, also with no operations.
   */
  recover?(operations: readonly Op[], lane: Lane, signal: AbortSignal): Promise<SendResult>;
  /**
   * For changes that an earlier attempt may have sent, and of which the present mapping makes nothing, or fails: what
   * `recover` has to look for, were the mapping as it was. Never sent. Pure, as `plan`. `nothing`: none can have been
   * made; `unplannable`: it cannot be looked for, which is left to a person.
   */
  trace?(subjects: readonly Subject[]): Promise<Planned<Op>[]>;
  /**
   * Where it keeps what it was sent itself (files): takes out all that is there of these items but the change by which they
   * are gone. Called by the lane's holder with nothing in flight, once that change is delivered. Never throws; safe to run
   * twice, also after a process ended in the middle.
   */
  erase?(erased: ErasedItems, lane: Lane, signal: AbortSignal): Promise<EraseResult>;
  /** Forgets how long its destination asked to wait, since an operator wants it tried now. */
  tryNow?(): void;
  /** Closes connections. The sink is not used afterwards. */
  close(): Promise<void>;
}

/** A change, and all else that a sink may look at when it plans. Holds nothing of a person who may not be shown. */
export interface Subject {
  readonly change: Change;
  /** The item at its change before; null: there was none, or it is kept no more. */
  readonly previous: Fields | null;
  /** The record of the person whose item it is; null where there is none, or the person may not be shown. */
  readonly attendee: Fields | null;
  /** The item's session, or the session itself; null where there is none or it was not read yet. */
  readonly session: Fields | null;
  readonly pigeonhole: Fields | null;
  /** What this sink has made of the item before, as its outcomes last said; null: nothing yet. */
  readonly object: Fields | null;
  /**
   * Why what was sent has to go, where it has: `change.data` is null then. `deleted`: the item is gone at its source;
   * `consent-withdrawn`, `erased`: the person is to be forgotten here, as `onForget` says.
   */
  readonly removal: 'deleted' | 'consent-withdrawn' | 'erased' | null;
  /**
   * The item is a canary, invented to try the sink: the digits that every id and text of it holds. What is found by a
   * value without them may be somebody's and is left alone; what was made is taken back whole, whatever `onForget` says.
   */
  readonly canary?: string;
}

export type Fields = Readonly<Record<string, unknown>>;

/** What becomes of one change, before anything is called. */
export type Planned<Op extends Operation = Operation> =
  | { readonly kind: 'send'; readonly operation: Op }
  /** Nothing is to be done at the destination; `reason` is a short stable code, such as `condition`. */
  | { readonly kind: 'nothing'; readonly reason: string }
  /** The mapping failed on this one: parked as a dead letter under `cause`. */
  | { readonly kind: 'unplannable'; readonly cause: string; readonly detail: string };

/** What one change makes a sink call: plain data without secrets, so that it can be shown without being sent. */
export interface Operation {
  /** The change that it carries out. */
  readonly changeId: string;
}

/** Items of people who are forgotten, in one pigeonhole. */
export interface ErasedItems {
  /** Keys by list. */
  readonly keys: ReadonlyMap<string, ReadonlySet<string>>;
  /** Ids of questions among them, whose texts stand in the items of others as well. */
  readonly questions: ReadonlySet<number>;
}

export type EraseResult =
  /** Lines or records that were taken out or rewritten; `missing`: places that are not where they were written. */
  | { readonly kind: 'erased'; readonly count: number; readonly missing: number }
  | Extract<Result, { readonly kind: 'retry' | 'pause' }>;

export interface SinkTraits {
  /** `item`: changes of one item go in order; `pigeonhole`: all changes of a pigeonhole do. */
  readonly order: 'item' | 'pigeonhole';
  /** Whether its plans look at more than the change itself: reading that costs a statement a batch. */
  readonly looksAround: boolean;
  /** Log sinks want every revision, state sinks only the latest. */
  readonly revisions: 'every' | 'latest';
  /** `harmless`: an operation may be sent again after an unknown outcome. `lookUp`: only after `recover` has said what became of it. */
  readonly repeats: 'harmless' | 'lookUp';
  /** Most operations given to one `send`. */
  readonly batchSize: number;
  /** What to know of a canary here; absent: it is taken like any item, and nothing of it stays. */
  readonly canary?: CanaryTraits;
}

/** How a destination takes an invented item that is taken back (decision 0036). */
export interface CanaryTraits {
  /** What stays there of one that was taken back, as a sentence; absent: nothing. */
  readonly stays?: string;
  /** Causes under which it refuses a person whom it does not know, and only after all else has passed. */
  readonly refusesUnknown?: readonly string[];
  /** What an attempt that died has made is found by sending it again, and by nothing else. */
  readonly foundBySending?: true;
}

/** A sink's work in one pigeonhole, done by one holder at a time. */
export interface Lane {
  readonly workspace: string;
  readonly pigeonholeId: number;
  /** Identifies the ledger, so that a destination can be marked as its own. */
  readonly ledgerId: string;
  /** What the sink asked to have remembered on this lane, as last committed. */
  readonly memory: Fields;
  /**
   * Commits more of it at once, key by key: what has to be known should the process end in the next call (an intent).
   * @throws when the lane was taken over: nothing may be sent then
   */
  remember(memory: Fields): Promise<void>;
  /**
   * What this sink has made of items, on all its lanes, as its outcomes last said: for what a process that begins has to
   * know of what others wrote. Reads all of it; absent: it is not kept.
   */
  made?(): AsyncIterable<Fields>;
}

export interface SendResult {
  readonly outcomes: readonly Outcome[];
  /** Committed with the outcomes, key by key over what was remembered; absent: nothing to change. */
  readonly memory?: Readonly<Record<string, unknown>>;
}

/**
 * What a destination's answer means. `detail` is for a person: no secret, no personal data, at most a sentence; the
 * destination's request id belongs there. `object` is committed with it: what the sink will find as the subject's
 * `object` (remote ids and states, never personal data); null: nothing is left there; absent: as it was.
 */
export type Outcome = Result & { readonly object?: Fields | null };

export type Result =
  | { readonly kind: 'delivered'; readonly detail?: string }
  /** Failed for now; afterMs when the destination said how long to wait. */
  | { readonly kind: 'retry'; readonly afterMs?: number; readonly detail: string }
  /** Nothing would pass: the sink stops and keeps its backlog until the cause is gone. */
  | { readonly kind: 'pause'; readonly cause: PauseCause; readonly detail: string }
  /**
   * Refused as it is: parked as a dead letter under `cause`, a short stable code that groups them, once others have
   * passed. Until then the destination may refuse everything (decision 0078), and the backlog is kept. `about: 'record'`:
   * this record alone is at fault whatever becomes of others, such as a person whom the destination does not know.
   */
  | { readonly kind: 'rejected'; readonly cause: string; readonly detail: string; readonly about?: 'record' }
  /** May or may not have happened: looked up before it is sent again, no sooner than a minute later. */
  | { readonly kind: 'unknown'; readonly detail: string }
  /**
   * Certainly not sent, and no fault of its own: due again at once, or after so long where the sink has put it off on
   * purpose. Where a sink wants only the latest revision, a later one does not wait for that. With `detail`, the
   * destination refuses this kind of record and accepts others: the change waits and counts as no failure of the sink.
   */
  | { readonly kind: 'unsent'; readonly afterMs?: number; readonly detail?: string };

/** `credential`: lifted by other credentials; `gone`: the destination asked to stop; `destination`: it is not what it was. */
export type PauseCause = 'credential' | 'gone' | 'destination';

export interface CheckLine {
  readonly ok: boolean;
  /** A sentence: what was found and, when not ok, what to do. */
  readonly text: string;
}

/** How a sink type is made known: one line in all-sinks.ts. */
export interface SinkType<Config = unknown> {
  readonly type: string;
  /** Checks the sink's own keys in pigeonpost.yaml; the keys that all sinks share are config/'s. */
  readonly configSchema: z.ZodType<Config>;
  /** Consent states whose records are sent when the configuration names none (docs/sinks.md). */
  readonly acceptsByDefault: readonly ConsentState[];
  /** The lists whose changes it can use as it is configured; only these are read for it. */
  lists(config: Config): readonly string[] | 'all';
  /** What else its mapping looks at, and has to be read for that. */
  joins?(config: Config): readonly Join[];
  /**
   * What tells one destination from another: the same text, the same place. May hold a secret (a token in a URL), so
   * it is only ever compared as a keyed fingerprint. A person's approval is bound to it.
   */
  destination(config: Config, environment: Pick<SinkEnvironment, 'baseFolder'>): string;
  create(config: Config, environment: SinkEnvironment): Sink;
}

export type Join = 'attendees' | 'sessions' | 'pigeonholes';

export type ConsentState = 'obtained' | 'refused' | 'not-asked' | 'not-known';

/** What a process gives to all its sinks. */
export interface SinkEnvironment {
  /** The name in pigeonpost.yaml. */
  readonly name: string;
  /** Relative folders are taken from here: the folder of the configuration file. */
  readonly baseFolder: string;
  readonly network: NetworkSettings;
  /** What the process's sinks share by account; absent: this one shares nothing. */
  readonly accounts?: Accounts;
  /** Where credentials are kept that change with use; absent where nothing is sent, as in a check of a file. */
  readonly credentials?: KeptCredentials;
  /** Where the account's limits differ from what the vendor grants by default. */
  readonly limits?: { readonly per10s?: number; readonly perDay?: number };
  /** What removing a person at the destination means. */
  readonly onForget?: 'clear-our-fields' | 'delete' | 'manual';
}

/**
 * Credentials that change with use, such as a refresh token that its vendor replaces at each use: kept encrypted in the
 * ledger, for all its processes (decision 0076). Each is known by the credential that the operator configured.
 */
export interface KeptCredentials {
  /** @returns undefined when nothing was ever claimed; `text` is null when nothing was kept yet */
  read(configured: string): Promise<KeptCredential | undefined>;
  /** Lets this process replace it. @returns undefined when another process does that now */
  claim(configured: string, forMs: number): Promise<KeptCredential | undefined>;
  /** Keeps a replacement and ends the claim. @returns false when another process has replaced that version */
  replace(configured: string, version: number, text: string): Promise<boolean>;
  /** Ends the claim without a replacement. */
  release(configured: string): Promise<void>;
}

export interface KeptCredential {
  readonly version: number;
  readonly text: string | null;
}

/** How to reach other machines: `network` in pigeonpost.yaml. */
export interface NetworkSettings {
  readonly proxy?: string;
  /** Hosts that are reached without the proxy, as NO_PROXY lists them. */
  readonly noProxy?: string;
  /** Certificates (PEM) trusted in addition to the system's. */
  readonly ca?: string;
  /** Behind a proxy addresses cannot be checked when connecting: only these hosts are allowed there. */
  readonly allowHosts: readonly string[];
}

/** A JSON object; empty for anything else. */
export function fieldsOf(found: unknown): Fields {
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as Fields) : {};
}

/** Whether a removal is of a person, who is to be forgotten, and not only of an item that is there no more. */
export function forgetsPerson(removal: Subject['removal']): boolean {
  return removal === 'consent-withdrawn' || removal === 'erased';
}
