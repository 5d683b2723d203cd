import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Consent } from '../ledger/seen-item.js';
import type { PigeonholeClient } from '../pigeonhole/client.js';
import type { Sink } from '../sinks/sink.js';
import type { ServiceGate } from '../requests/service-gate.js';
import type { Clocks } from '../base/lease.js';
import type { RoundQueue } from './round-queue.js';
import type { Wakes } from './wakes.js';
import type { Log } from '../base/log.js';
import type { Tracer } from '../base/tracer.js';

/** Dependencies of the code that runs in a cycle, passed as `deps`. The process creates them and closes them. */
export interface Collaborators {
  readonly ledger: Ledger;
  readonly config: Config;
  /** The configuration's number in the ledger. */
  readonly configuration: number;
  /** Clients of the service by workspace. */
  readonly clients: ReadonlyMap<string, PigeonholeClient>;
  /** Gives each request to the service a permit from its key's quota. One instance for the life of the process. */
  readonly gate: ServiceGate;
  /** Open sinks by name. */
  readonly sinks: ReadonlyMap<string, OpenSink>;
  /** Identifies this process as the owner of a lease. */
  readonly owner: string;
  readonly orchestration: Orchestration;
  /** Ends the waits of activities that stay. */
  readonly wakes: Wakes;
  /** Decides which pigeonholes are read now. One instance for the life of the process. */
  readonly rounds: RoundQueue;
  readonly log: Log;
  /** Aborted when the process shuts down: attempts end at their next safe point. */
  readonly stopping: AbortSignal;
  /** Default: the system's clocks. */
  readonly clocks?: Clocks;
  readonly meters: Meters;
  readonly tracer: Tracer;
  /** Called after each page that the service returned. */
  readonly onPage: () => void;
  /**
   * Called after each cycle, round or stay with its unique name, and with an error message if it threw; null otherwise.
   */
  readonly onCycle: (cycle: string, failure: string | null) => void;
}

/**
 * Runs work with the collaborators of the current configuration. When a new configuration replaces them, work in
 * progress keeps the collaborators it started with; they are closed when that work ends.
 */
export interface InUse {
  use<T>(work: (deps: Collaborators) => Promise<T>): Promise<T>;
}

export interface OpenSink {
  readonly id: number;
  readonly name: string;
  readonly sink: Sink;
  readonly accepts: ReadonlySet<Consent>;
  readonly onConsentWithdrawn: 'keep' | 'forget';
  /** Fingerprint of the sink's whole configuration, secrets included; null when it has none. */
  readonly fingerprint: string | null;
  /** True for a sink with `mode: observe`: it counts the changes that it would send, but sends none. */
  readonly observing: boolean;
  /** Keyed fingerprint of the destination. */
  readonly destination: string;
}

/** Wakes and starts work, in all processes of the ledger. */
export interface Orchestration {
  /** Tells the sinks that there may be something to deliver. Call it after the commit. */
  wakeSinks(names: readonly string[]): Promise<void>;
  /** Tells the readers that `asked` of a pigeonhole, or the current configuration, has changed. */
  wakeReaders(): void;
  /** Gives every selected pigeonhole a reader, and starts and wakes the readers of these pigeonholes. */
  startReading(pigeonholes: readonly { workspace: string; pigeonholeId: number }[]): Promise<void>;
}

/** For processes without workflows. */
export const noOrchestration: Orchestration = {
  wakeSinks: async () => undefined,
  wakeReaders: () => undefined,
  startReading: async () => undefined,
};

/** Counts work for this process's metrics. Labels are names and codes only, never personal data. */
interface Meters {
  /** Records a poll that found new items. @param ageMs age of the newest item, by the service's clock */
  found(list: string, ageMs: number): void;
  /** Records the outcomes of changes sent to a sink. */
  settled(sink: string, outcomes: Readonly<Record<'delivered' | 'dead' | 'retry', number>>): void;
}

/** Meters that count nothing. */
export const noMeters: Meters = { found: () => undefined, settled: () => undefined };
