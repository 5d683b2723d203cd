import type { Command } from 'commander';
import { type Run } from '../command-options.js';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { LedgerKey } from '../../worker/key-place-of.js';
import { confirm, operatorName } from '../operator.js';
import type { Context } from '../context.js';
import { CommandError, ExitCode } from '../exit-code.js';

const restoreHelp = `
Stop every process first. Afterwards every sink is paused:
it would receive again what was sent after the backup.

Examples:
  pigeonpost restore /backups/pigeonpost-2026-11-20.tar.gz
  pigeonpost restore backup.tar.gz --key-file /safe/ledger.key
  pigeonpost restore backup.tar.gz.age --identity /safe/identity.txt
  pigeonpost restore --mark-only        after pg_restore, a snapshot or point-in-time recovery
  pigeonpost restore --mark-only --erasures erasures.json`;

/** Adds `pigeonpost restore`. */
export function addRestore(program: Command, run: Run): void {
  program
    .command('restore [file]')
    .description('Replace the ledger with a backup; every sink is paused until you resume it')
    .option('--mark-only', 'a store restored by other means: only the sinks are paused', false)
    .option('--erasures <file>', 'file of "erasures export", whose people are forgotten again')
    .option('--key-file <file>', "the ledger's key, if the folder does not have it")
    .option('--identity <file>', 'identity file of age that decrypts a backup made with --encrypt-to')
    .option('--other-ledger', 'replacement of a store that holds another ledger', false)
    .option('--yes', 'no confirmation', false)
    .option('--json', 'one JSON document', false)
    .addHelpText('after', restoreHelp)
    .action((file: string | undefined, options: Omit<RestoreArguments, 'file'>) =>
      run((context) => restore(context, { file, ...options })),
    );
}

export interface RestoreArguments {
  /** Undefined with `markOnly` alone. */
  readonly file: string | undefined;
  /** The store was restored by other means: it is only marked. */
  readonly markOnly: boolean;
  /** A file of `erasures export`. */
  readonly erasures?: string | undefined;
  /** The backup may be of another ledger than the one that is there. */
  readonly otherLedger: boolean;
  /** A file of `key export`. */
  readonly keyFile?: string | undefined;
  /** A file with the identity that decrypts the backup. */
  readonly identity?: string | undefined;
  readonly yes: boolean;
  readonly json: boolean;
}

/**
 * `pigeonpost restore <file>`: the ledger as it was, with every sink and every import in progress paused until a person
 * resumes them; people who were forgotten since are forgotten again, if a list of them is known. No process may run.
 * Exit 0, 1 when it is not done, 2 without an answer.
 */
export async function restore({ config, out }: Context, asked: RestoreArguments): Promise<ExitCode> {
  const { loadOfflineConfig } = await import('../../operations/load-process-config.js');
  const { configuredKey } = await import('../../worker/key-place-of.js');
  const { markStoreRestored, readErasureListFile } = await import('../../operations/backup/restore-store.js');
  const { restoreEmbedded } = await import('../../operations/backup/restore-embedded.js');
  const { file, markOnly, yes, json } = asked;
  if ((file === undefined) !== markOnly) {
    throw new CommandError(
      ExitCode.WrongUse,
      'give the file of a backup, or --mark-only for a store that was restored by other means',
    );
  }
  const loaded = await loadOfflineConfig(config);
  const { store } = loaded;
  if (asked.keyFile !== undefined && (store.kind === 'postgres' || markOnly)) {
    throw new CommandError(
      ExitCode.WrongUse,
      '--key-file is for a backup of an embedded store: give the key of a database as LEDGER_KEY',
    );
  }
  if (file !== undefined && store.kind === 'postgres') {
    throw new CommandError(
      ExitCode.WrongUse,
      `the store of ${config} is a PostgreSQL database: restore it with PostgreSQL's own tools, pg_restore --no-owner --no-privileges --single-transaction --dbname="$DATABASE_URL" ${file}, then run "pigeonpost restore --mark-only" before you start pigeonpost`,
    );
  }
  if (file !== undefined) await requireIdentity(file, asked.identity);
  const where = store.kind === 'postgres' ? 'the database' : store.folder;
  const isThere = store.kind === 'embedded' && existsSync(join(store.folder, 'postgres'));
  const question =
    file === undefined
      ? `Mark ${where} as restored, and pause every sink?`
      : `Restore ${file} into ${where}${isThere ? ', in the place of the store that is there' : ''}?`;
  if (!(yes || (await confirm(question)))) {
    out.note('nothing is done');
    return ExitCode.Failed;
  }
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
      : await restoreEmbedded(file, store.folder, mark, terms);
  const { erasures, keyProblem } =
    restored === undefined ? await markStoreRestored(store, mark, terms) : { ...restored, keyProblem: null };
  const { facts, replaced = null } = restored ?? {};
  if (json) {
    out.line(JSON.stringify({ restored: true, madeAt: facts?.madeAt ?? null, replaced, erasures, keyProblem }));
    return ExitCode.Done;
  }
  out.line(
    file === undefined
      ? `${where} is marked as restored`
      : `${where} is as it was${facts === undefined ? '' : ` at ${facts.madeAt}`}`,
  );
  if (replaced !== null) out.line(`what was there is kept in ${replaced}: delete it when you need it no more`);
  out.note('sinks and imports are paused: start, check "pigeonpost status" and "preview", then resume each');
  out.note(aboutErasures(erasures));
  if (keyProblem !== null) out.note(keyProblem);
  return ExitCode.Done;
}

/** @param count null: nobody knows who was forgotten since the backup */
function aboutErasures(count: number | null): string {
  if (count === null) {
    return 'people who were forgotten after the backup are in it again: run "restore --mark-only --erasures FILE", or forget them again';
  }
  if (count === 0) return 'nobody was forgotten after the backup';
  return `${count === 1 ? 'one erasure was' : `${count} erasures were`} made after the backup: from the next start on they are carried out again`;
}

async function requireIdentity(file: string, identity: string | undefined): Promise<void> {
  const { isEncrypted, requireDecryptable } = await import('../../operations/backup/age.js');
  const encrypted = await isEncrypted(file);
  if (encrypted && identity === undefined) {
    throw new CommandError(
      ExitCode.WrongUse,
      `${file} is encrypted: add --identity FILE with the identity of one of its recipients`,
    );
  }
  if (!encrypted && identity !== undefined && existsSync(file)) {
    throw new CommandError(ExitCode.WrongUse, `${file} is not encrypted by age: leave --identity out`);
  }
  if (encrypted && identity !== undefined) await requireDecryptable(file, identity);
}

async function keyIn(file: string): Promise<LedgerKey> {
  const { readKeyFile } = await import('../../worker/key-place-of.js');
  const key = await readKeyFile(file);
  if (key === undefined) throw new CommandError(ExitCode.NotFound, `there is no file ${file}`);
  return key;
}
