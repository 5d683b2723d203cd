import type { OpenSink } from '../cycles/collaborators.js';
import type { Config, SinkConfig } from '../config/config.js';
import { normalizedConfig } from '../config/normalized-config.js';
import type { Ledger } from '../ledger/ledger.js';
import { liftChangedCredential } from '../ledger/pauses.js';
import { keptCredentials } from '../ledger/kept-credentials.js';
import { registerSinks } from '../ledger/sinks.js';
import { allSinks } from '../sinks/all-sinks.js';
import { Accounts } from '../sinks/network/accounts.js';
import type { ConsentState, NetworkSettings, Sink, SinkEnvironment, SinkType } from '../sinks/sink.js';

/** Returns the resources that sinks share with those of other processes on the same ledger. */
export function sharedThroughLedger(ledger: Ledger): Pick<SharedBySinks, 'credentials' | 'now'> {
  return { credentials: keptCredentials(ledger), now: ledger.clock.nowMs };
}

/** Resources that the sinks of a process share for sending. */
type SharedBySinks = Pick<SinkEnvironment, 'credentials' | 'now'> & Partial<Pick<SinkEnvironment, 'accounts'>>;

/** For sinks that only check or plan. They share nothing, so the clock of the process is sufficient. */
const unshared: SharedBySinks = { now: Date.now };

/**
 * Creates the sinks of a configuration without registering them in the ledger. Throws if their settings cannot be used.
 */
export function createSinks(config: Config, shared = unshared): Map<string, Sink> {
  return new Map(Object.keys(config.sinks).map((name) => [name, createSink(config, name, shared)]));
}

/** Registers the created sinks in the ledger; sinks that are no longer configured are archived there. */
export async function registerOpenSinks(
  config: Config,
  ledger: Ledger,
  created: ReadonlyMap<string, Sink>,
): Promise<Map<string, OpenSink>> {
  const registered = Object.entries(config.sinks).map(([name, sinkConfig]) => ({
    name,
    type: sinkConfig.type,
    historyMs: historyMs(sinkConfig),
    observing: sinkConfig.mode === 'observe',
    destination: destinationOf(config, ledger, name),
  }));
  const ids = await registerSinks(ledger, registered);
  const sinks = new Map<string, OpenSink>();
  for (const { name, observing, destination } of registered) {
    const sinkConfig = config.sinks[name]!;
    const fingerprint = fingerprintOf(config, ledger, name);
    await liftChangedCredential(ledger, 'sink', name, fingerprint);
    sinks.set(name, {
      id: ids.get(name)!,
      name,
      sink: created.get(name)!,
      accepts: acceptedBy(sinkConfig),
      onConsentWithdrawn: sinkConfig.onConsentWithdrawn,
      fingerprint,
      observing,
      destination,
    });
  }
  return sinks;
}

/** Returns how far back a new sink receives existing changes, in ms: null for all of them, 0 for none. */
export function historyMs({ history }: SinkConfig): number | null {
  if (history === 'all') return null;
  return history === 'none' ? 0 : history.forMs;
}

/** Returns the consent states whose records the sink accepts. */
export function acceptedBy(sinkConfig: SinkConfig): Set<ConsentState> {
  return new Set(sinkConfig.consent?.accept ?? typeOf(sinkConfig).acceptsByDefault);
}

/** Returns a fingerprint of the destination. It is keyed, because the destination's URL may contain a token. */
export function destinationOf(config: Config, ledger: Ledger, name: string): string {
  const sinkConfig = config.sinks[name]!;
  const text = typeOf(sinkConfig).destination(sinkConfig.settings, { baseFolder: config.folder });
  return ledger.hash.fingerprint(JSON.stringify([sinkConfig.type, text]));
}

/** Creates one sink of a configuration. @param shared needed for sending, not for checking */
export function createSink(config: Config, name: string, shared = unshared): Sink {
  const sinkConfig = config.sinks[name]!;
  const { onForget, limits } = sinkConfig;
  return typeOf(sinkConfig).create(sinkConfig.settings, {
    name,
    baseFolder: config.folder,
    network: networkSettings(config),
    accounts: new Accounts(), // of this sink only, unless `shared` replaces it
    onForget,
    limits,
    ...shared,
  });
}

/** Returns the network settings for outgoing connections, with the proxy's URL revealed. */
export function networkSettings({ network }: Config): NetworkSettings {
  const { proxy, noProxy, ca, allowHosts } = network;
  return { proxy: proxy?.reveal(), noProxy, ca, allowHosts };
}

/**
 * Returns a fingerprint of the sink's whole configuration, secrets included. When it changes, the sink is resumed if it
 * was paused because of a refused credential: the change may have corrected the credential.
 */
export function fingerprintOf(config: Pick<Config, 'sinks'>, ledger: Ledger, name: string): string {
  const sink: SinkConfig = { ...config.sinks[name]!, audit: 'never' }; // the interval of audits says nothing about sending
  const onlyThisSink = { workspaces: {}, syncs: {}, sinks: { [name]: sink } };
  const document = normalizedConfig(onlyThisSink, (secret) => ledger.hash.fingerprint(secret));
  return ledger.hash.fingerprint(JSON.stringify(document));
}

function typeOf({ type }: SinkConfig): SinkType {
  const sinkType = allSinks.get(type);
  if (sinkType === undefined)
    throw new Error(`unknown sink type ${type}: loading the configuration should have rejected it`);
  return sinkType;
}
