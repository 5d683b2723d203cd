import type { Collaborators } from '../work/collaborators.js';
import type { Config } from '../config/config.js';
import { normalizedConfig, type Json } from '../config/normalized-config.js';
import type { Ledger } from '../ledger/ledger.js';
import { keptCredentials } from '../ledger/kept-credentials.js';
import type { Accounts } from '../sinks/network/accounts.js';
import { adoptSyncs } from './adopt-syncs.js';
import type { Edition } from './editions.js';
import { liftRefusedKeys, type OnRequest, openClients } from '../work/open-clients.js';
import { createSinks, registerOpenSinks } from '../work/open-sinks.js';

/** What all editions of a process share. */
export interface Shared extends Omit<Collaborators, 'config' | 'configuration' | 'clients' | 'sinks'> {
  readonly accounts: Accounts;
  /** Absent: requests are not counted. */
  readonly onRequest?: OnRequest;
}

/** A configuration as processes compare it, secrets as the ledger's keyed fingerprints. */
export function documentOf(config: Config, ledger: Ledger): Json {
  return normalizedConfig(config, (secret) => ledger.hash.fingerprint(secret));
}

/**
 * Opens what a configuration names, and only when all of that can be opened makes it the current one.
 * @param makeCurrent writes it to the ledger, or finds it there, and gives its number
 * @throws what opening or `makeCurrent` throws; then nothing stays open
 */
export async function openEdition(
  config: Config,
  shared: Shared,
  makeCurrent: (document: Json) => Promise<number>,
): Promise<Edition> {
  const { ledger, log, onRequest } = shared;
  const clients = openClients(config, { log, onRequest, now: ledger.clock.nowMs });
  const closers: (() => Promise<void>)[] = [...clients.values()].map((client) => () => client.close());
  const close = async (): Promise<void> => void (await Promise.all(closers.map((each) => each())));
  try {
    const made = createSinks(config, { accounts: shared.accounts, credentials: keptCredentials(ledger) });
    closers.push(...[...made.values()].map((sink) => () => sink.close()));
    const configuration = await makeCurrent(documentOf(config, ledger));
    await liftRefusedKeys(config, ledger);
    await adoptSyncs(config, ledger);
    const sinks = await registerOpenSinks(config, ledger, made);
    return { to: { ...shared, config, configuration, clients, sinks }, close };
  } catch (error) {
    await close();
    throw error;
  }
}
