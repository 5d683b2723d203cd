import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Consent } from '../ledger/seen-item.js';
import type { PigeonholeClient } from '../pigeonhole/client.js';
import type { Sink } from '../sinks/sink.js';
import type { Meters, Tracer } from '../base/telemetry.js';
import type { ServiceGate } from './asking/service-gate.js';
import type { Clocks } from '../base/stopwatch.js';

/** What activities work with: put together by the process, closed by it. */
export interface Collaborators {
  readonly ledger: Ledger;
  readonly config: Config;
  /** The number under which the ledger knows this configuration. */
  readonly configuration: number;
  /** By workspace. */
  readonly clients: ReadonlyMap<string, PigeonholeClient>;
  /** The way to the service: each request takes a permit of its key's quota. One for the life of the process. */
  readonly gate: ServiceGate;
  /** By name. */
  readonly sinks: ReadonlyMap<string, OpenSink>;
  /** This process among all that ever held a lease. */
  readonly owner: string;
  readonly orchestration: Orchestration;
  readonly log: Log;
  /** Aborted when the process is to stop: attempts end at their next safe point. */
  readonly stopping: AbortSignal;
  /** Of this process; absent: those of the system. */
  readonly clocks?: Clocks;
  /** What this process counts. */
  readonly meters: Meters;
  /** Where its time goes. */
  readonly tracer: Tracer;
  /** Called after every page that the service gave. */
  readonly onPage: () => void;
  /** Called after every turn, with what names it among all: why it failed as a whole (the store, the process), or null. */
  readonly onTurn: (turn: string, failure: string | null) => void;
}

/**
 * The collaborators of the current configuration. Another configuration takes their place as a whole: work that has
 * begun goes on with those that it was given, and these are closed when it is over.
 */
export interface InUse {
  use<T>(work: (to: Collaborators) => Promise<T>): Promise<T>;
}

export interface OpenSink {
  readonly id: number;
  readonly name: string;
  readonly sink: Sink;
  readonly accepts: ReadonlySet<Consent>;
  readonly onConsentWithdrawn: 'keep' | 'forget';
  /** Of its credentials; null when it has none. */
  readonly fingerprint: string | null;
  /** It sends nothing until a person approves what it would send. */
  readonly observing: boolean;
  /** Keyed fingerprint of where it sends to. */
  readonly destination: string;
}

/** How an activity reaches workflows: signals that only wake, and starts that may find the workflow running. */
export interface Orchestration {
  wakeSinks(names: readonly string[]): Promise<void>;
  startReading(pigeonholes: readonly { workspace: string; pigeonholeId: number }[]): Promise<void>;
}

/** One structured line an event of interest: ids, counts, outcomes; never names, answers or texts. */
export interface Log {
  debug(facts: Readonly<Record<string, unknown>>, event: string): void;
  info(facts: Readonly<Record<string, unknown>>, event: string): void;
  warn(facts: Readonly<Record<string, unknown>>, event: string): void;
  error(facts: Readonly<Record<string, unknown>>, event: string): void;
}
