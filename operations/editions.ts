import type { Collaborators, InUse } from '../cycles/collaborators.js';
import { LedgerError } from '../ledger/ledger-error.js';
import type { Config } from '../config/config.js';
import { normalizedConfig, type Json } from '../config/normalized-config.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Accounts } from '../sinks/network/accounts.js';
import { shownText } from './configurations/shown-text.js';
import { liftRefusedKeys, type OnRequest, openClients } from '../requests/clients.js';
import { createSinks, registerOpenSinks, sharedThroughLedger } from '../delivering/open-sinks.js';
import { shownPigeonholes, stillChosen } from '../reading/discover.js';
import {
  archiveSelections,
  changedSyncs,
  type RegisteredSync,
  registerSyncs,
  selectionsOf,
} from '../ledger/pigeonholes.js';

/** Everything that one configuration has opened. */
export interface Edition {
  readonly deps: Collaborators;
  /** Closes its clients and sinks; called once, when nothing uses them any more. */
  close(): Promise<void>;
}

interface Counted extends Edition {
  users: number;
  isRetired: boolean;
}

/**
 * The collaborators of a running process, replaced as a whole when the configuration changes. A cycle keeps the edition
 * that it started with; a replaced edition is closed after the last cycle that uses it.
 */
export class Editions implements InUse {
  #current: Counted;
  #closing: Promise<unknown> = Promise.resolve();
  /** Switches this process to the current configuration if it can. Set once, before work starts. */
  catchUp: () => Promise<boolean> = () => Promise.resolve(false);

  constructor(
    first: Edition,
    private readonly onCloseFailure: (error: unknown) => void,
  ) {
    this.#current = { ...first, users: 0, isRetired: false };
  }

  get current(): Collaborators {
    return this.#current.deps;
  }

  /**
   * Runs work with the current collaborators. Whenever the work fails because another configuration is current, this
   * process adopts that configuration, if it can, and runs the work again. A stay takes minutes, so this may happen
   * several times. It ends, because each time the number of the configuration is greater.
   * @throws as `work`
   */
  async use<T>(work: (deps: Collaborators) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await this.#useOnce(work);
      } catch (error) {
        const isStale = error instanceof LedgerError && error.kind === 'configuration';
        if (!isStale || !(await this.catchUp())) throw error;
      }
    }
  }

  /** New work uses these collaborators; work in progress keeps its own. */
  replace(next: Edition): void {
    const before = this.#current;
    this.#current = { ...next, users: 0, isRetired: false };
    before.isRetired = true;
    this.#closeIfUnused(before);
  }

  /** Closes everything. Call it when no new work can start. */
  async close(): Promise<void> {
    this.#current.isRetired = true;
    this.#closeIfUnused(this.#current);
    await this.#closing;
  }

  async #useOnce<T>(work: (deps: Collaborators) => Promise<T>): Promise<T> {
    const edition = this.#current;
    edition.users += 1;
    try {
      return await work(edition.deps);
    } finally {
      edition.users -= 1;
      this.#closeIfUnused(edition);
    }
  }

  #closeIfUnused(edition: Counted): void {
    if (!edition.isRetired || edition.users > 0) return;
    const closing = edition.close().catch(this.onCloseFailure);
    this.#closing = Promise.all([this.#closing, closing]);
  }
}

/** Everything that the editions of a process have in common. */
export interface Shared extends Omit<Collaborators, 'config' | 'configuration' | 'clients' | 'sinks'> {
  readonly accounts: Accounts;
  /** Absent: requests are not counted. */
  readonly onRequest?: OnRequest;
}

/**
 * Returns a configuration in the form that processes compare. Secrets are replaced by the ledger's keyed fingerprints.
 */
export function documentOf(config: Config, ledger: Pick<Ledger, 'hash'>): Json {
  return normalizedConfig(config, (secret) => ledger.hash.fingerprint(secret));
}

/**
 * Opens everything that a configuration names. The configuration becomes current only if all of it can be opened.
 * @param makeCurrent writes the configuration to the ledger with the text to keep of its file, or finds it there, and returns
 *   its number
 * @throws errors of opening and of `makeCurrent`; then nothing stays open
 */
export async function openEdition(
  config: Config,
  shared: Shared,
  makeCurrent: (document: Json, text: string | null) => Promise<number>,
): Promise<Edition> {
  const { ledger, log, onRequest } = shared;
  const clients = openClients(config, { log, onRequest, now: ledger.clock.nowMs });
  const closers: (() => Promise<void>)[] = [...clients.values()].map((client) => () => client.close());
  const close = async (): Promise<void> => void (await Promise.all(closers.map((each) => each())));
  try {
    const made = createSinks(config, { accounts: shared.accounts, ...sharedThroughLedger(ledger) });
    closers.push(...[...made.values()].map((sink) => () => sink.close()));
    const configuration = await makeCurrent(documentOf(config, ledger), shownText(config));
    await liftRefusedKeys(config, ledger);
    await adoptSyncs(config, ledger);
    const sinks = await registerOpenSinks(config, ledger, made);
    return { deps: { ...shared, config, configuration, clients, sinks }, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Stores the configuration's syncs in the ledger. If the selection of a sync has changed, the pigeonholes that it no
 * longer selects leave it, whatever their status. A removed sync is archived. Pigeonholes and syncs return when the
 * configuration selects or names them again. A second run changes nothing. The syncs are stored last, so the next run
 * completes an interrupted one.
 */
export async function adoptSyncs(config: Config, ledger: Ledger): Promise<void> {
  const syncs = registered(config);
  for (const sync of await changedSyncs(ledger, syncs)) {
    await archiveSelections(ledger, sync, await leavingSync(config, ledger, sync));
  }
  await registerSyncs(ledger, syncs);
}

/** Returns the pigeonholeNumbers of the pigeonholes that a sync reads and no longer selects. */
async function leavingSync(config: Config, ledger: Ledger, sync: string): Promise<number[]> {
  const { workspace, pigeonholes: choice } = config.syncs[sync]!;
  const shown = new Map((await shownPigeonholes(ledger, workspace)).map((pigeonhole) => [pigeonhole.id, pigeonhole]));
  return (await selectionsOf(ledger, sync))
    .filter((row) => row.workspace !== workspace || !stillChosen(choice, row.pigeonholeId, shown.get(row.pigeonholeId)))
    .map(({ pigeonholeNumber }) => pigeonholeNumber);
}

/** Returns a configuration's syncs as the ledger stores them. */
export function registered(config: Config): RegisteredSync[] {
  return Object.entries(config.syncs).map(([name, { workspace, pigeonholes }]) => ({
    name,
    workspace,
    choice: JSON.stringify(pigeonholes),
  }));
}
