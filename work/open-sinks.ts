import type { OpenSink } from './collaborators.js';
import type { Config, SinkConfig } from '../config/config.js';
import { normalizedConfig } from '../config/normalized-config.js';
import type { Ledger } from '../ledger/ledger.js';
import { liftChangedCredential } from '../ledger/pauses.js';
import { keptCredentials } from '../ledger/kept-credentials.js';
import { registerSinks } from '../ledger/sinks.js';
import { allSinks } from '../sinks/all-sinks.js';
import type { ConsentState, NetworkSettings, Sink, SinkEnvironment, SinkType } from '../sinks/sink.js';

/** The sinks of a configuration, by name, known to the ledger and open. Whoever opens them closes them. */
export async function openSinks(config: Config, ledger: Ledger): Promise<Map<string, OpenSink>> {
  return await registerOpenSinks(config, ledger, createSinks(config, { credentials: keptCredentials(ledger) }));
}

/** What the sinks of a process share, so that they can send. */
export type SharedBySinks = Pick<SinkEnvironment, 'accounts' | 'credentials'>;

/** The sinks of a configuration, of which the ledger need not know: making them shows that they can be made. */
export function createSinks(config: Config, shared?: SharedBySinks): Map<string, Sink> {
  return new Map(Object.keys(config.sinks).map((name) => [name, createSink(config, name, shared)]));
}

/** Makes the ledger's sinks those of this configuration. */
export async function registerOpenSinks(
  config: Config,
  ledger: Ledger,
  made: ReadonlyMap<string, Sink>,
): Promise<Map<string, OpenSink>> {
  const entries = Object.entries(config.sinks);
  const ids = await registerSinks(
    ledger,
    entries.map(([name, sinkConfig]) => ({
      name,
      type: sinkConfig.type,
      historyMs: historyMs(sinkConfig),
      observing: sinkConfig.mode === 'observe',
      destination: destinationOf(config, ledger, name),
    })),
  );
  const sinks = new Map<string, OpenSink>();
  for (const [name, sinkConfig] of entries) {
    const fingerprint = fingerprintOf(config, ledger, name);
    await liftChangedCredential(ledger, 'sink', name, fingerprint);
    sinks.set(name, {
      id: ids.get(name)!,
      name,
      sink: made.get(name)!,
      accepts: acceptedBy(sinkConfig),
      onConsentWithdrawn: sinkConfig.onConsentWithdrawn,
      fingerprint,
      observing: sinkConfig.mode === 'observe',
      destination: destinationOf(config, ledger, name),
    });
  }
  return sinks;
}

/** Of what is there already, what a new sink takes: null all, 0 nothing. */
export function historyMs({ history }: SinkConfig): number | null {
  if (history === 'all') return null;
  return history === 'none' ? 0 : history.forMs;
}

/** The states of consent whose records the sink takes. */
export function acceptedBy(sinkConfig: SinkConfig): Set<ConsentState> {
  return new Set(sinkConfig.consent?.accept ?? typeOf(sinkConfig).acceptsByDefault);
}

/** Keyed, since an address may hold a token. */
function destinationOf(config: Config, ledger: Ledger, name: string): string {
  const sinkConfig = config.sinks[name]!;
  const text = typeOf(sinkConfig).destination(sinkConfig.settings, { baseFolder: config.folder });
  return ledger.hash.fingerprint(JSON.stringify([sinkConfig.type, text]));
}

/** One sink of a configuration, for a check or for sending. @param shared what it needs for sending */
export function createSink(config: Config, name: string, shared?: SharedBySinks): Sink {
  const sinkConfig = config.sinks[name]!;
  const { onForget, limits } = sinkConfig;
  return typeOf(sinkConfig).create(sinkConfig.settings, {
    name,
    baseFolder: config.folder,
    network: networkSettings(config),
    onForget,
    ...(limits === undefined ? {} : { limits }),
    ...shared,
  });
}

/** How to reach other machines, with the proxy's URL revealed for whoever connects. */
export function networkSettings({ network }: Config): NetworkSettings {
  const { proxy, noProxy, ca, allowHosts } = network;
  return {
    ...(proxy === undefined ? {} : { proxy: proxy.reveal() }),
    ...(noProxy === undefined ? {} : { noProxy }),
    ...(ca === undefined ? {} : { ca }),
    allowHosts,
  };
}

/** Of all that the sink is told, its secrets among it: another one may well mean that a refusal is mended. */
function fingerprintOf(config: Config, ledger: Ledger, name: string): string {
  const alone = { workspaces: {}, syncs: {}, sinks: { [name]: config.sinks[name]! } };
  const document = normalizedConfig(alone, (secret) => ledger.hash.fingerprint(secret));
  return ledger.hash.fingerprint(JSON.stringify(document));
}

function typeOf({ type }: SinkConfig): SinkType {
  const sinkType = allSinks.get(type);
  if (sinkType === undefined)
    throw new Error(`no sink type ${type} is built in: the configuration should have been refused`);
  return sinkType;
}
