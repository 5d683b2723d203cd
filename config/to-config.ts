import { resolve } from 'node:path';
import { changesKeptByDefaultMs } from './changes-kept-by-default.js';
import type { Problem } from './config-error.js';
import type { AlertsConfig, Config, NetworkConfig, SinkConfig, SyncConfig, TemporalConfig } from './config.js';
import type { PemTexts } from './load-config.js';
import type { EnvironmentProxy } from './environment-defaults.js';
import type { ParsedConfig } from './schema/config-schema.js';

export interface ConfigParts {
  /** Absolute. */
  readonly file: string;
  /** Absolute. */
  readonly folder: string;
  readonly parsed: ParsedConfig;
  /** Of the sinks' own keys, by name of the sink. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly pem: PemTexts;
  readonly environmentProxy: EnvironmentProxy;
  readonly filledKeys: readonly string[];
  readonly warnings: readonly Problem[];
}

/** Puts together what the program sees. Everything was checked before, so nothing can fail here. */
export function toConfig({
  file,
  folder,
  parsed,
  settings,
  pem,
  environmentProxy,
  filledKeys,
  warnings,
}: ConfigParts): Config {
  const { store, server } = parsed;
  return {
    file,
    folder,
    workspaces: parsed.workspaces,
    syncs: mapValues(parsed.syncs, toSync),
    sinks: mapValues(parsed.sinks, (sink, name) => toSink(sink, settings[name])),
    imports: parsed.imports ?? [],
    ...(parsed.alerts === undefined ? {} : { alerts: toAlerts(parsed.alerts) }),
    retention: toRetention(parsed.retention),
    store: store.kind === 'embedded' ? { kind: 'embedded', folder: resolve(folder, store.folder) } : store,
    storeConnections: parsed.storeConnections,
    ...(parsed.ledgerKey === undefined ? {} : { ledgerKey: parsed.ledgerKey }),
    temporal: toTemporal(parsed.temporal, pem),
    server,
    network: toNetwork(parsed.network, pem, environmentProxy),
    ...(parsed.telemetry?.otlp === undefined ? {} : { otlpUrl: parsed.telemetry.otlp }),
    filledKeys,
    warnings,
  };
}

function toRetention(retention: ParsedConfig['retention']): Config['retention'] {
  const { changes, ...lists }: Readonly<Record<string, number | undefined>> = retention ?? {};
  const listsMs = Object.entries(lists).flatMap(([list, ms]) => (ms === undefined ? [] : [[list, ms] as const]));
  return { listsMs: Object.fromEntries(listsMs), changesMs: changes ?? changesKeptByDefaultMs };
}

function toSync({
  workspace,
  pigeonholes,
  lists,
  every,
  deletions,
  drop,
  sinks,
}: ParsedConfig['syncs'][string]): SyncConfig {
  return {
    workspace,
    pigeonholes: Array.isArray(pigeonholes) ? { ids: pigeonholes } : pigeonholes,
    lists,
    everyMs: every,
    deletions: { settleMs: deletions.settle, confirmMs: deletions.confirm, holdAbove: deletions.holdAbove },
    drop,
    sinks,
  };
}

function toSink({ history, ...sink }: ParsedConfig['sinks'][string], settings: unknown): SinkConfig {
  const { type, lists, consent, mode, onConsentWithdrawn, onForget, limits } = sink;
  const far = typeof history === 'number' ? { forMs: history } : history;
  return { type, settings, lists, consent, history: far, mode, onConsentWithdrawn, onForget, limits };
}

function toAlerts({ to, when }: NonNullable<ParsedConfig['alerts']>): AlertsConfig {
  return {
    to,
    when: {
      serviceDown: when['service-down'],
      readingLate: when['reading-late'],
      sinkPaused: when['sink-paused'] ?? false,
      workspacePaused: when['workspace-paused'] ?? false,
      behindMs: when.behind,
      deadLetters: when['dead-letters'],
      withholding: when.withholding,
      deletionsHeld: when['deletions-held'] ?? false,
      quotaShort: when['quota-short'] ?? false,
      importEnded: when['import-ended'] ?? false,
    },
  };
}

function toTemporal({ tls, ...temporal }: ParsedConfig['temporal'], pem: PemTexts): TemporalConfig {
  if (tls === undefined) return { ...temporal, tls: temporal.apiKey === undefined ? undefined : {} };
  return { ...temporal, tls: { ca: pem.temporalCa, certificate: pem.temporalCertificate, key: tls.key } };
}

function toNetwork(network: ParsedConfig['network'], pem: PemTexts, fromEnvironment: EnvironmentProxy): NetworkConfig {
  const proxy = network.proxy === 'none' ? undefined : (network.proxy ?? fromEnvironment.proxy);
  return {
    proxy,
    noProxy: network.noProxy ?? fromEnvironment.noProxy,
    ca: pem.networkCa,
    allowHosts: network.allowHosts,
    maxAnswerMb: network.maxAnswerMb,
  };
}

function mapValues<Value, Result>(
  group: Readonly<Record<string, Value>>,
  change: (value: Value, name: string) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(group).map(([name, value]) => [name, change(value, name)]));
}
