import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Environment } from '../../config/environment.js';
import type { Database } from '../../ledger/drivers/database.js';
import { openPostgres } from '../../ledger/drivers/postgres.js';
import { markRestored, type RestoredFrom } from '../../ledger/mark-restored.js';
import { migrate } from '../../ledger/migrate.js';
import { type ErasureList, takeOverErasures } from '../../people/forget/erasure-list.js';
import { readStoredKey } from '../../ledger/take-up-key.js';
import type { LedgerKey } from '../../ledger/ledger-key.js';
import { decrypted } from './age.js';
import { BackupError } from './backup-error.js';
import type { BackupBytes } from './backup-store.js';
import type { RestoreTerms } from './restore-embedded.js';
import { runTool, type RunningTool } from './run-tool.js';
import { storeTls } from '../../ledger/drivers/postgres-tls.js';

/**
 * Restores a dump into an empty database. Rows and mark are one transaction, so that a kill never leaves a ledger that
 * would send without an operator's decision. It never overwrites a ledger, so that old and new can be compared.
 * @param terms.erasures whom the ledger kept away before; null: no list was given
 * @returns the number of erasures that were applied again; null: they are not known
 * @throws {BackupError}, {StoreError}; {LedgerError} kind `otherLedger`, when all but the list is restored
 */
export async function restorePostgres(
  file: string,
  store: string,
  mark: Omit<RestoredFrom, 'madeAt'>,
  environment: Environment,
  { erasures, configuredKey, identityFile }: Pick<RestoreTerms, 'erasures' | 'configuredKey' | 'identityFile'>,
): Promise<{ erasures: number | null; keyProblem: string | null }> {
  if (!existsSync(file)) throw new BackupError('missing', `there is no file ${file}`);
  await withDatabase(store, async (db) => {
    const [found] = await db.query<{ tables: number }>(
      'select count(*)::int as tables from pg_tables where schemaname = any (current_schemas(false))',
    );
    if (found!.tables > 0) {
      throw new BackupError(
        'inUse',
        'the database is not empty: create another one (createdb), have "store" or DATABASE_URL name it, and restore there',
      );
    }
  });
  const dump = identityFile === undefined ? file : await decrypted(file, identityFile);
  await runScript(dump, store, markRestored({ ...mark, madeAt: null }), environment);
  return await withDatabase(store, async (db) => {
    await migrate(db);
    const goOn = erasures === null ? null : await takeOverErasures(db, erasures);
    return { erasures: goOn, keyProblem: await keyProblemOf(db, configuredKey) };
  });
}

/** Returns the key problem that would stop the next start, so that the operator sees it during the restore. */
async function keyProblemOf(db: Database, key: LedgerKey | undefined): Promise<string | null> {
  const stored = await readStoredKey(db);
  if (stored === undefined || stored.kind === 'inside') return null;
  if (key === undefined) return "the ledger's key is in no backup: give it as LEDGER_KEY before anything starts";
  return key.check.equals(stored.check)
    ? null
    : 'LEDGER_KEY is not the key of the ledger that was restored: give that key before anything starts';
}

/**
 * Marks a store that was restored by other means: a snapshot of its disk, a provider's point-in-time recovery, pg_restore.
 * @returns as restorePostgres
 * @throws {BackupError} kind `inUse` while processes use it
 */
export async function markRestoredStore(
  db: Database,
  mark: RestoredFrom,
  erasures: ErasureList | null,
): Promise<number | null> {
  await refuseInUse(db);
  await migrate(db);
  await db.script(markRestored(mark));
  return erasures === null ? null : await takeOverErasures(db, erasures);
}

async function refuseInUse(db: Database): Promise<void> {
  if (db.kind === 'embedded') return; // its folder's lock says that nobody else does
  const [found] = await db.query<{ others: number }>(
    `select count(*)::int as others from pg_stat_activity
     where datname = current_database() and application_name = 'pigeonpost' and pid <> pg_backend_pid()`,
  );
  if (found!.others === 0) return;
  throw new BackupError('inUse', 'pigeonpost runs on this database: stop its processes first');
}

/** `pg_restore` writes SQL, `psql` carries it out, and the mark after it, in one transaction. */
async function runScript(
  source: string | BackupBytes,
  store: string,
  mark: string,
  environment: Environment,
): Promise<void> {
  const { url, variables } = postgresTool(store, environment);
  const otherwise =
    'install PostgreSQL\'s client programs; or restore where they are (pg_restore --no-owner --no-privileges --exit-on-error --dbname="$DATABASE_URL" FILE), then run "pigeonpost restore --mark-only" before anything starts';
  const dump = runTool({
    command: 'pg_restore',
    args: ['--no-owner', '--no-privileges', '--file=-', ...(typeof source === 'string' ? [source] : [])],
    environment: variables,
    stdio: [typeof source === 'string' ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    otherwise,
  });
  const psql = runTool({
    command: 'psql',
    // "sqlstate": what it says otherwise quotes rows. Its own --single-transaction would commit what a kill cut off.
    args: ['--no-psqlrc', '--quiet', '--set=ON_ERROR_STOP=1', '--set=VERBOSITY=sqlstate', url],
    environment: variables,
    stdio: ['pipe', 'ignore', 'pipe'],
    otherwise,
  });
  const into = psql.child.stdin!;
  into.on('error', () => undefined); // psql has ended: it says why
  const begun = Promise.all([once(dump.child, 'spawn'), once(psql.child, 'spawn')]);
  try {
    await begun.catch(() => Promise.all([dump.done, psql.done]));
    const given = typeof source === 'string' ? Promise.resolve() : give(source, dump);
    given.catch(() => dump.child.kill());
    into.write('begin;\n');
    for await (const bytes of dump.child.stdout!) {
      if (!into.write(bytes)) await Promise.race([once(into, 'drain'), psql.done]);
    }
    await given; // a backup that was cut off says so, and not that the program was ended for it
    await dump.done; // before the commit: without it everything is rolled back
    into.end(`\nreset search_path;\n${mark}\ncommit;\n`);
    await psql.done;
  } catch (error) {
    dump.child.kill();
    psql.child.kill();
    await Promise.allSettled([dump.done, psql.done]);
    throw error;
  }
}

/** @throws what reading throws. A program that has ended says itself why. */
async function give(bytes: BackupBytes, { child, done }: RunningTool): Promise<void> {
  const into = child.stdin!;
  into.on('error', () => undefined);
  for await (const piece of bytes) {
    if (!into.write(piece)) await Promise.race([once(into, 'drain'), done]);
  }
  into.end();
}

async function withDatabase<T>(store: string, use: (db: Database) => Promise<T>): Promise<T> {
  const db = await openPostgres({ url: store });
  try {
    await refuseInUse(db);
    return await use(db);
  } finally {
    await db.close();
  }
}

/** Variables that are passed on: those that a program needs to be found, to connect and for its language. */
const passedOn = /^(PATH|HOME|LANG|LC_.*|TZ|PG.*)$/;

/** A store's URL as PostgreSQL's own programs are given it: without the password, which others on this machine would see. */
export function postgresTool(
  store: string,
  environment: Environment,
): { readonly url: string; readonly variables: Environment } {
  const url = new URL(store);
  const password = url.searchParams.get('password') ?? decodeURIComponent(url.password);
  url.password = '';
  url.searchParams.delete('password');
  protect(url, store);
  const variables = Object.fromEntries(Object.entries(environment).filter(([name]) => passedOn.test(name)));
  return { url: url.href, variables: password === '' ? variables : { ...variables, PGPASSWORD: password } };
}

/** CA bundles of common distributions, because the programs accept "system" only from version 16. */
const systemAuthorities = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/cert.pem',
];

/** Sets the TLS options of the store, because the programs' own default accepts any server, even without encryption. */
function protect(url: URL, store: string): void {
  const { mode } = storeTls(store);
  const isLocal = mode === 'disable' && !url.searchParams.has('sslmode');
  for (const name of ['ssl', 'uselibpqcompat']) url.searchParams.delete(name);
  if (isLocal) return;
  url.searchParams.set('sslmode', mode === 'no-verify' ? 'require' : mode);
  if (mode === 'no-verify') url.searchParams.delete('sslrootcert'); // with one, "require" verifies
  if (mode.startsWith('verify') && !url.searchParams.has('sslrootcert')) {
    url.searchParams.set('sslrootcert', systemAuthorities.find((path) => existsSync(path)) ?? 'system');
  }
}
