import type { z } from 'zod';
import type { Problem } from './config-error.js';
import type { EnvironmentProxy } from './environment-defaults.js';
import type { PemTexts } from './pem-files.js';
import type { ParsedConfig, commonSinkShape } from './schema/config-schema.js';
import { absoluteStore, type StoreSetting } from './schema/process.js';
import type { Secret } from './secret.js';

/** The output of a schema, read-only at every level. Secrets stay as they are. */
type Frozen<Value> = Value extends Secret
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly Frozen<Item>[]
    : Value extends object
      ? { readonly [Key in keyof Value]: Frozen<Value[Key]> }
      : Value;

/**
 * A valid pigeonpost.yaml: defaults filled in, durations in milliseconds, secrets as Secret, paths absolute. The types
 * follow from the schemas in `schema/`, which also document the keys. Printing it shows no secret.
 */
export interface Config {
  /** Absolute path of the file. */
  readonly file: string;
  /** Text of the file, in which secrets may be written. */
  readonly source: Secret;
  /** Absolute path of the folder that contains the file. Relative paths in the settings of sinks start here. */
  readonly folder: string;
  readonly workspaces: Readonly<Record<string, WorkspaceConfig>>;
  readonly syncs: Readonly<Record<string, SyncConfig>>;
  readonly sinks: Readonly<Record<string, SinkConfig>>;
  /** Folders to import registrant files from; no two are the same folder. */
  readonly imports: readonly ImportFolder[];
  /** Nightly exports; no two have the same sink. */
  readonly exports: readonly NightlyExport[];
  /** Absent: no alerts are sent. */
  readonly alerts?: AlertsConfig;
  readonly retention: Retention;
  readonly store: StoreSetting;
  readonly storeConnections: number;
  /** Absent: the key is in a file of the data folder. */
  readonly ledgerKey?: Secret;
  readonly temporal: TemporalConfig;
  readonly server: ServerConfig;
  readonly network: NetworkConfig;
  /** URL of the OpenTelemetry collector; absent: no traces are made. */
  readonly otlpUrl?: string;
  /** Keys whose values came from the environment or a file. Their values are never shown. */
  readonly filledKeys: readonly string[];
  /** Settings that are allowed but probably a mistake. */
  readonly warnings: readonly Problem[];
}

type WorkspaceConfig = Frozen<ParsedConfig['workspaces'][string]>;
export type SyncConfig = Frozen<ParsedConfig['syncs'][string]>;
/** The pigeonholes that a sync selects: by ID, or all that match every filter. */
export type PigeonholeChoice = SyncConfig['pigeonholes'];
export type Intervals = SyncConfig['everyMs'];
export type ImportFolder = Frozen<NonNullable<ParsedConfig['imports']>[number]>;
export type NightlyExport = Frozen<NonNullable<ParsedConfig['exports']>[number]>;
export type AlertsConfig = Frozen<NonNullable<ParsedConfig['alerts']>>;
export type AlertReceiver = AlertsConfig['to'][number];
type TemporalConfig = Frozen<ParsedConfig['temporal']>;
export type ServerConfig = Frozen<ParsedConfig['server']>;

export type SinkConfig = Frozen<z.output<z.ZodObject<typeof commonSinkShape>>> & {
  /** The sink's own keys, as the schema of its type returns them. */
  readonly settings: unknown;
};

type NetworkConfig = Frozen<Omit<ParsedConfig['network'], 'proxy'>> & {
  /** A URL; a Secret, because it may contain a password. */
  readonly proxy?: Secret;
};

/** Retention times of payloads. */
export interface Retention {
  /** By list, counted from the end of the event; other lists are kept. */
  readonly listsMs: Readonly<Record<string, number>>;
  /** Earlier revisions, counted from the change. */
  readonly changesMs: number;
  /** The log of attempts, each counted from the attempt. */
  readonly attemptsMs: number;
}

/** Default of `retention.changes`: earlier revisions are removed after this time. */
export const defaultChangesMs = 30 * 24 * 60 * 60_000;
/** Default of `retention.attempts`. */
export const defaultAttemptsMs = 7 * 24 * 60 * 60_000;

interface ConfigParts extends Pick<Config, 'file' | 'source' | 'folder' | 'filledKeys' | 'warnings'> {
  readonly parsed: ParsedConfig;
  /** The sinks' own keys, by name of the sink. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly pem: PemTexts;
  readonly environmentProxy: EnvironmentProxy;
}

/** Combines the parts of a configuration. They were checked before, so nothing can fail here. */
export function toConfig({ parsed, settings, pem, environmentProxy, ...about }: ConfigParts): Config {
  const {
    store,
    telemetry,
    imports = [],
    exports: nightly = [],
    retention,
    sinks,
    temporal,
    network,
    ...same
  } = parsed;
  const { proxy = environmentProxy.proxy, noProxy = environmentProxy.noProxy } = network;
  const tls =
    temporal.tls === undefined
      ? temporal.apiKey && {}
      : { ca: pem.temporalCa, certificate: pem.temporalCertificate, key: temporal.tls.key };
  return {
    ...about,
    ...same,
    sinks: Object.fromEntries(
      Object.entries(sinks).map(([name, sink]) => [name, toSink(sink as CommonSink, settings[name])]),
    ),
    imports,
    exports: nightly,
    retention: toRetention(retention),
    store: absoluteStore(store, about.folder),
    temporal: { ...temporal, tls },
    network: { ...network, proxy: proxy === 'none' ? undefined : proxy, noProxy, ca: pem.networkCa },
    ...(telemetry?.otlp === undefined ? {} : { otlpUrl: telemetry.otlp }),
  };
}

type CommonSink = Omit<SinkConfig, 'settings'>;

/** Returns the keys that all sinks share. The sink's own keys are in `settings`, as their schema returns them. */
function toSink(sink: CommonSink, settings: unknown): SinkConfig {
  const { type, lists, consent, history, mode, onConsentWithdrawn, onForget, limits, audit } = sink;
  return { type, settings, lists, consent, history, mode, onConsentWithdrawn, onForget, limits, audit };
}

function toRetention(retention: ParsedConfig['retention']): Retention {
  const { changes, attempts, ...lists }: Readonly<Record<string, number | undefined>> = retention ?? {};
  const listsMs = Object.entries(lists).flatMap(([list, ms]) => (ms === undefined ? [] : [[list, ms] as const]));
  return {
    listsMs: Object.fromEntries(listsMs),
    changesMs: changes ?? defaultChangesMs,
    attemptsMs: attempts ?? defaultAttemptsMs,
  };
}
