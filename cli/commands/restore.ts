import { counted } from '../../base/words.js';
import { type CliCommand, type Context, confirm, type JsonOption, operatorName } from '../command.js';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { LedgerKey } from '../../worker/key-place-of.js';
import { printResult, whileWaiting } from '../output.js';
import { CommandError, ExitCode, wrongUse } from '../exit-code.js';

const restoreHelp = `
Stop every process first. After the restore, every sink is
paused, because it would otherwise receive again what was
sent after the backup.

Examples:
  pigeonpost restore /backups/pigeonpost-2026-11-20.tar.gz
  pigeonpost restore backup.tar.gz --key-file /safe/ledger.key
  pigeonpost restore backup.tar.gz.age --identity /safe/identity.txt
  pigeonpost restore --mark-only        after pg_restore, a snapshot or point-in-time recovery
  pigeonpost restore --mark-only --erasures erasures.json`;

export function addRestore(program: CliCommand): void {
  program
    .command('restore [file]')
    .description('Replace the ledger with a backup; every sink is paused until you resume it')
    .option('--mark-only', 'only pause the sinks of a store that was restored by other means', false)
    .option('--erasures <file>', 'file that "erasures export" wrote; its people are erased again')
    .option('--key-file <file>', "the ledger's key, if the folder does not have it")
    .option('--identity <file>', 'identity file of age that decrypts a backup made with --encrypt-to')
    .option('--other-ledger', 'allow the backup to replace the store of another ledger', false)
    .option('--yes', 'skip the confirmation', false)
    .json()
    .addHelpText('after', restoreHelp)
    .runs(restore, { offline: 'restore' });
}

interface RestoreOptions extends JsonOption {
  /** Whether to mark a store as restored that was restored by other means. */
  readonly markOnly: boolean;
  /** Path of a file that `erasures export` wrote. */
  readonly erasures?: string | undefined;
  /** Whether the backup may belong to another ledger than the present store. */
  readonly otherLedger: boolean;
  /** Path of a file that `key export` wrote. */
  readonly keyFile?: string | undefined;
  /** Path of the file with the identity that decrypts the backup. */
  readonly identity?: string | undefined;
  readonly yes: boolean;
}

/**
 * `pigeonpost restore <file>`: replaces the ledger with a backup. All sinks, and all imports in progress, are paused
 * until an operator resumes them. People who were forgotten after the backup are forgotten again if a list of them is
 * available. No pigeonpost may run with the store. Exit 0; 1 if nothing was restored; 2 if the command cannot ask for
 * confirmation.
 * @param file undefined only with `markOnly`
 */
async function restore({ config, out }: Context, file: string | undefined, asked: RestoreOptions): Promise<ExitCode> {
  const { loadStoreConfig } = await import('../../operations/command-input.js');
  const { configuredKey } = await import('../../worker/key-place-of.js');
  const { markStoreRestored, readErasureListFile } = await import('../../operations/backup/restore-store.js');
  const { requireBackupFile, restoreEmbedded } = await import('../../operations/backup/restore-embedded.js');
  const { markOnly, yes, json } = asked;
  if ((file === undefined) !== markOnly) {
    throw wrongUse('give a backup file, or --mark-only for a store that was restored by other means');
  }
  const loaded = await loadStoreConfig(config);
  const { store } = loaded;
  if (asked.keyFile !== undefined && (store.kind === 'postgres' || markOnly)) {
    throw wrongUse('--key-file is only for an embedded store: set LEDGER_KEY to the key of a PostgreSQL store');
  }
  if (file !== undefined && store.kind === 'postgres') {
    throw wrongUse(
      `the store of ${config} is a PostgreSQL database: restore it with PostgreSQL's own tools, pg_restore --no-owner --no-privileges --single-transaction --dbname="$DATABASE_URL" ${file}, then run "pigeonpost restore --mark-only" before you start pigeonpost`,
    );
  }
  if (file !== undefined) {
    requireBackupFile(file);
    await requireIdentity(file, asked.identity);
  }
  const where = store.kind === 'postgres' ? 'the database' : store.folder;
  const isThere = store.kind === 'embedded' && existsSync(join(store.folder, 'postgres'));
  const question =
    file === undefined
      ? `Mark ${where} as restored, and pause every sink?`
      : `Restore ${file} into ${where}${isThere ? ', replacing the existing store' : ''}?`;
  if (!yes && !(await confirm(out, question, 'nothing was restored'))) return ExitCode.Failed;
  const list = asked.erasures === undefined ? null : await readErasureListFile(asked.erasures);
  const mark = { sinks: loaded.sinks, by: operatorName() ?? 'local', requestId: randomUUID() };
  const terms = {
    erasures: list,
    otherLedger: asked.otherLedger,
    key: asked.keyFile === undefined ? undefined : await keyIn(asked.keyFile),
    configuredKey: configuredKey(loaded),
    identityFile: asked.identity,
  };
  const restored =
    file === undefined || store.kind === 'postgres'
      ? undefined
      : await whileWaiting(`restoring ${file}`, () => restoreEmbedded(file, store.folder, mark, terms));
  const { erasures, keyProblem } =
    restored === undefined ? await markStoreRestored(store, mark, terms) : { ...restored, keyProblem: null };
  const { facts, replaced = null } = restored ?? {};
  if (json) {
    return printResult(
      out,
      json,
      { restored: true, madeAt: facts?.madeAt ?? null, replaced, erasures, keyProblem },
      [],
    );
  }
  out.line(
    file === undefined
      ? `${where} is marked as restored`
      : `${where} is restored${facts === undefined ? '' : ` as of ${facts.madeAt}`}`,
  );
  if (replaced !== null) out.line(`the previous store is kept in ${replaced}: delete it when you no longer need it`);
  out.note(
    'sinks and imports are paused: run "pigeonpost start", check "pigeonpost status" and "pigeonpost preview", then resume each one',
  );
  out.note(aboutErasures(erasures));
  if (keyProblem !== null) out.note(keyProblem);
  return ExitCode.Done;
}

/**
 * Returns the sentence about people who were forgotten after the backup.
 * @param count their number; null if there is no list of later erasures
 */
function aboutErasures(count: number | null): string {
  if (count === null) {
    return 'people who were forgotten after the backup are stored again: run "pigeonpost restore --mark-only --erasures FILE", or forget them again';
  }
  if (count === 0) return 'no one was forgotten after the backup';
  return `${counted(count, 'erasure')} made after the backup will be repeated at the next start`;
}

async function requireIdentity(file: string, identity: string | undefined): Promise<void> {
  const { isEncrypted, requireDecryptable } = await import('../../operations/backup/age.js');
  const encrypted = await isEncrypted(file);
  if (encrypted && identity === undefined) {
    throw wrongUse(`${file} is encrypted: add --identity FILE with the identity of one of its recipients`);
  }
  if (!encrypted && identity !== undefined) {
    throw wrongUse(`${file} is not encrypted with age: remove --identity`);
  }
  if (encrypted && identity !== undefined) await requireDecryptable(file, identity);
}

async function keyIn(file: string): Promise<LedgerKey> {
  const { readKeyFile } = await import('../../worker/key-place-of.js');
  const key = await readKeyFile(file);
  if (key === undefined) throw new CommandError(ExitCode.NotFound, `${file} does not exist: check the path`);
  return key;
}
