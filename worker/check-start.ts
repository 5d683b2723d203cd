import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { tryToListen } from '../api/listen.js';
import { messageOf } from '../base/errors.js';
import type { Config } from '../config/config.js';
import { refuseOlderConfiguration } from '../ledger/configurations.js';
import type { Database } from '../ledger/drivers/database.js';
import { refuseWithoutEmbeddedStore } from '../ledger/drivers/embedded.js';
import { lockFolder, refuseUnwritable } from '../ledger/drivers/folder-lock.js';
import { openDatabase } from '../ledger/drivers/open-database.js';
import { StoreError } from '../ledger/drivers/store-error.js';
import { KeyedHash } from '../ledger/keyed-hash.js';
import { refuseOtherCluster } from '../ledger/identity.js';
import { refuseUnmigratable } from '../ledger/migrate.js';
import { type CheckResult, checkOf } from '../operations/checks.js';
import { documentOf } from '../operations/editions.js';
import { type BinarySources, findBinary } from './embedded-temporal/find-binary.js';
import { failureKindOf } from './failure-kind.js';
import { refuseUnwritableToken } from './instance-file.js';
import { keyForStart } from './key-place-of.js';

// Finds what stops a start, without starting: each step of `startProcess` that can refuse has a function beside it
// that throws the same error and changes nothing. A new refusal of a start belongs here as well.

/** Makes a check. An error that would stop a start becomes its result, with the same sentence; any other is thrown. */
async function attempt(
  about: Pick<ReturnType<typeof checkOf>, 'ok' | 'failed' | 'unknown'>,
  run: () => string | Promise<string>,
): Promise<CheckResult> {
  try {
    return about.ok(await run());
  } catch (error) {
    const kind = failureKindOf(error);
    if (kind === undefined) throw error;
    return kind === 'unreachable' ? about.unknown(messageOf(error)) : about.failed(messageOf(error));
  }
}

/** The machine and the processes on it, as far as checks need them. */
export interface CheckSurroundings {
  readonly binarySources: BinarySources;
  /** Returns whether the pigeonpost of this configuration runs, as far as a command can find out. */
  readonly isRunning: () => Promise<boolean>;
}

/** Checks the store, Temporal, and what the ledger requires of both. */
export async function checkBackends(
  config: Config,
  { binarySources, isRunning }: CheckSurroundings,
): Promise<CheckResult[]> {
  let db: Database | undefined;
  let hasLedger = false;
  const store = await attempt(checkOf('backends:store', 'store'), async () => {
    try {
      db = await openExisting(config);
    } catch (error) {
      const isLocked = error instanceof StoreError && error.kind === 'locked';
      if (isLocked && (await isRunning())) return 'in use by the running pigeonpost of this configuration';
      throw error;
    }
    if (db === undefined) return `${folderOf(config)} does not exist yet; the first start creates it`;
    await refuseUnmigratable(db);
    const key = await keyForStart(db, config);
    hasLedger = key !== undefined;
    // An embedded store accepts any configuration, and any Temporal, because no other process uses it.
    if (key !== undefined && db.kind === 'postgres') {
      await refuseOlderConfiguration({ db }, documentOf(config, { hash: new KeyedHash(key.keys) }));
    }
    return db.kind === 'embedded' ? `${folderOf(config)} can be used` : 'PostgreSQL answers';
  });
  const bound = hasLedger && db?.kind === 'postgres' ? db : null;
  try {
    return [
      store,
      await attempt(checkOf('backends:temporal', 'temporal'), () => checkTemporal(config, binarySources, bound)),
    ];
  } finally {
    await db?.close();
  }
}

/**
 * Opens the store as a start would.
 * @returns undefined if the folder of an embedded store does not exist yet, but can be created
 * @throws {StoreError}
 */
async function openExisting({ store }: Config): Promise<Database | undefined> {
  if (store.kind === 'postgres') return await openDatabase({ kind: 'postgres', url: store.url.reveal() });
  refuseWithoutEmbeddedStore();
  if (existsSync(join(store.folder, 'postgres'))) return await openDatabase(store);
  refuseUnwritable(store.folder);
  if (existsSync(store.folder)) await (await lockFolder(store.folder)).release();
  return undefined;
}

function folderOf({ store }: Config): string {
  return store.kind === 'embedded' ? store.folder : '';
}

/** @param bound the store whose ledger accepts one Temporal only; null: there is none */
async function checkTemporal(
  { temporal }: Config,
  binarySources: BinarySources,
  bound: Database | null,
): Promise<string> {
  if (temporal.address === 'embedded') {
    await findBinary({ ...binarySources, onlyLook: true }, () => undefined);
    return 'the embedded server is available';
  }
  // imported here because loading the Temporal modules takes a second
  const { connectTemporal } = await import('./connect-temporal.js');
  const connections = await connectTemporal(temporal.address, temporal);
  await connections.close();
  const { namespace } = temporal;
  if (bound !== null) await refuseOtherCluster({ db: bound }, { clusterId: connections.clusterId, namespace });
  return `${temporal.address} answers, namespace ${namespace}`;
}

/** Checks the addresses at which a start serves the API and the probes, and the file of the API's token. */
export async function checkServer(config: Config): Promise<CheckResult[]> {
  const { server } = config;
  const { probes } = server;
  const results = [
    await attempt(checkOf('server', 'server'), async () => {
      await tryToListen({ ...server, key: 'server' });
      return `port ${server.port} of ${server.host} is free`;
    }),
  ];
  if (probes !== undefined) {
    const checked = await attempt(checkOf('server:probes', 'server.probes'), async () => {
      await tryToListen({ ...probes, key: 'server.probes' });
      return `port ${probes.port} of ${probes.host} is free`;
    });
    results.push(checked);
  }
  return [...results, ...checkToken(config)];
}

/** Checks the file of the API's token. Returns nothing if the configuration has a token, or if the file can be used. */
function checkToken(config: Config): CheckResult[] {
  if (config.server.token !== undefined) return [];
  try {
    refuseUnwritableToken(config);
    return [];
  } catch (error) {
    if (failureKindOf(error) === undefined) throw error;
    return [checkOf('server:token', 'server').failed(messageOf(error))];
  }
}
