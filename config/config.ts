import type { Problem } from './config-error.js';
import type { ListName } from './schema/list-names.js';
import type { ConsentState } from './schema/sinks.js';
import type { StoreSetting } from './schema/store.js';
import type { Secret } from './secret.js';

/**
 * A pigeonpost.yaml that holds nothing wrong: defaults filled in, durations in milliseconds, secrets as Secret, paths
 * absolute. Printing it shows no secret.
 */
export interface Config {
  /** Absolute path of the file. */
  readonly file: string;
  /** Absolute path of the folder that the file lies in; relative paths in sinks' settings are taken from here. */
  readonly folder: string;
  readonly workspaces: Readonly<Record<string, WorkspaceConfig>>;
  readonly syncs: Readonly<Record<string, SyncConfig>>;
  readonly sinks: Readonly<Record<string, SinkConfig>>;
  /** Folders that registrant files are imported from; no two are the same folder. */
  readonly imports: readonly ImportFolder[];
  /** Absent: nobody is told of anything. */
  readonly alerts?: AlertsConfig;
  readonly retention: Retention;
  readonly store: StoreSetting;
  /** To PostgreSQL, of this process, at most. */
  readonly storeConnections: number;
  /** Absent: in a file of the data folder. */
  readonly ledgerKey?: Secret;
  readonly temporal: TemporalConfig;
  readonly server: ServerConfig;
  readonly network: NetworkConfig;
  /** Of the OpenTelemetry collector that traces are sent to; absent: none are made. */
  readonly otlpUrl?: string;
  /** Keys whose values came from the environment or a file: shown to nobody. */
  readonly filledKeys: readonly string[];
  /** What is allowed but probably not meant. */
  readonly warnings: readonly Problem[];
}

export interface WorkspaceConfig {
  /** Without a slash at its end and without `/v2`. */
  readonly baseUrl: string;
  readonly apiKey: Secret;
  /** Of a Team workspace: under which a pigeonhole is created whose file names none. */
  readonly subscriptionId?: number;
  /** By which the service is told the subscription; absent: as the client believes. */
  readonly subscriptionField?: string;
  readonly quota: {
    /** Share of a window's requests, 0 to 1, that reading leaves to imports. */
    readonly reserve: number;
  };
}

/** How long texts are kept. */
export interface Retention {
  /** By list, from the end of the event; a list that is not named is kept. */
  readonly listsMs: Readonly<Record<string, number>>;
  /** Earlier revisions, from the change. */
  readonly changesMs: number;
}

export interface SyncConfig {
  /** A key of `workspaces`. */
  readonly workspace: string;
  readonly pigeonholes: PigeonholeChoice;
  readonly lists: 'auto' | readonly ListName[];
  readonly everyMs: Intervals;
  /** When a missing item counts as deleted. Share: 0 to 1. */
  readonly deletions: {
    readonly settleMs: number;
    readonly confirmMs: number;
    readonly holdAbove: { readonly share: number; readonly items: number };
  };
  /** Names of fields at the top level of an item, by list. */
  readonly drop: Readonly<Partial<Record<ListName, readonly string[]>>>;
  /** Keys of `sinks`, each once. */
  readonly sinks: readonly string[];
}

export type PigeonholeChoice = { readonly ids: readonly number[] } | PigeonholeFilters;

/** A pigeonhole is read when all filters that are given hold; no filter, all pigeonholes. */
export interface PigeonholeFilters {
  readonly status?: readonly PigeonholeStatus[];
  /** Source of a regular expression without flags. */
  readonly name?: string;
  /** YYYY-MM-DD; this day included, in the pigeonhole's own time zone. */
  readonly startsAfter?: string;
  readonly exclude?: readonly number[];
}

export type PigeonholeStatus = 'new' | 'upcoming' | 'live' | 'ended';

export interface Intervals {
  readonly live: number;
  /**
   * The longest interval of a live pigeonhole's lists outside their session times. `live` or less: none slows down. Absent: neither `quiet` nor
   * `live` is stated, and the default slows down.
   */
  readonly quiet?: number;
  /** The longest interval after the end; absent: `ended` is not stated, and the default slows down. */
  readonly longestEnded?: number;
  readonly new: number;
  readonly upcoming: number;
  readonly ended: number;
  readonly sweep: number;
  /** Instead of `live`, for single lists. */
  readonly lists: Readonly<Partial<Record<ListName, number>>>;
}

export interface SinkConfig {
  readonly type: string;
  /** What the schema of the sink's type made of the sink's own keys. */
  readonly settings: unknown;
  /** Absent: all that the sink can use. */
  readonly lists?: readonly ListName[];
  /** Absent: what the sink's type accepts by default. */
  readonly consent?: { readonly accept: readonly ConsentState[]; readonly basis?: string };
  /** Of what the ledger holds already, how much a new sink is given: everything, nothing, or what was found lately. */
  readonly history: 'all' | 'none' | { readonly forMs: number };
  /** `observe`: counts what it would send, and sends nothing until a person approves. */
  readonly mode: 'send' | 'observe';
  /** What becomes of what was sent when someone withdraws consent. */
  readonly onConsentWithdrawn: 'keep' | 'forget';
  /** What removing a person at the destination means. */
  readonly onForget: 'clear-our-fields' | 'delete' | 'manual';
  /** Where the account's limits differ from what the vendor grants by default. */
  readonly limits?: { readonly per10s?: number; readonly perDay?: number };
}

export interface ImportFolder {
  /** A key of `workspaces`. */
  readonly workspace: string;
  /** An id; or the source of a regular expression without flags: then the folder has one sub-folder per id. */
  readonly pigeonhole: number | { readonly name: string };
  /** As it is written; relative paths are taken from `Config.folder`. */
  readonly folder: string;
  /** Columns and their fields, or the name of a saved mapping; absent: columns are named as the fields are. */
  readonly map?: string | Readonly<Record<string, string>>;
}

export interface AlertsConfig {
  readonly to: readonly AlertReceiver[];
  /** An occasion that is not there, or false, is told to nobody. */
  readonly when: {
    readonly serviceDown: boolean;
    readonly readingLate: boolean;
    readonly sinkPaused: boolean;
    readonly workspacePaused: boolean;
    readonly behindMs?: number;
    /** Of one sink. */
    readonly deadLetters?: number;
    readonly withholding: boolean;
    readonly deletionsHeld: boolean;
    readonly quotaShort: boolean;
    readonly importEnded: boolean;
  };
}

export type AlertReceiver =
  | { readonly type: 'slack'; readonly token: Secret; readonly channel: string; readonly baseUrl?: string }
  | { readonly type: 'webhook'; readonly url: string; readonly secret: Secret }
  | {
      readonly type: 'smtp';
      readonly host: string;
      readonly port: number;
      /** Off loopback, mail may be sent without TLS. */
      readonly allowPlainText?: boolean;
      readonly username?: string;
      readonly password?: Secret;
      readonly from: string;
      readonly to: string;
    };

export interface TemporalConfig {
  /** `embedded`, or host:port. */
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly maxCachedWorkflows: number;
  readonly apiKey?: Secret;
  /** Present when TLS is used, also when it is for the API key's sake alone. PEM texts. */
  readonly tls?: { readonly ca?: string; readonly certificate?: string; readonly key?: Secret };
}

export interface ServerConfig {
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  readonly token?: Secret;
  /** Where people reach it, without a slash at its end. */
  readonly publicUrl?: string;
  readonly maxConnectionsPerAddress?: number;
  /** Where `/healthz` and `/readyz` are answered besides; absent: nowhere. */
  readonly probes?: { readonly host: string; readonly port: number };
}

export interface NetworkConfig {
  /** A URL; a Secret, since it may hold a password. */
  readonly proxy?: Secret;
  /** As NO_PROXY lists hosts. */
  readonly noProxy?: string;
  /** PEM text. */
  readonly ca?: string;
  /** In lower case; one that begins with a dot means all hosts below it. */
  readonly allowHosts: readonly string[];
  /** Largest answer of the service that is read, in MiB. */
  readonly maxAnswerMb: number;
}
