import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isEncrypted, requireDecryptable } from '../../operations/backup/age.js';
import { readErasureListFile, markStoreRestored, restoreStore } from '../../operations/backup/restore-store.js';
import { configuredKey, type LedgerKey, readKeyFile } from '../../worker/key-place-of.js';
import { loadOfflineConfig } from '../../operations/load-process-config.js';
import { askYesOrNo } from '../ask-yes-or-no.js';
import { askedBy } from '../asked-by.js';
import type { Context } from '../context.js';
import { CommandError, ExitCode } from '../exit-code.js';

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
 * `pigeonpost restore <file>`: the ledger as it was, with every sink and every import under way paused until a person
 * resumes them, and with whoever was forgotten since forgotten again, as far as that is known. Nothing may run meanwhile.
 * Exit 0, 1 when it is not done, 2 without an answer.
 */
export async function restore({ config, out }: Context, asked: RestoreArguments): Promise<ExitCode> {
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
  if (file !== undefined) await requireIdentity(file, asked.identity);
  const where = store.kind === 'postgres' ? 'the database' : store.folder;
  const isThere = store.kind === 'embedded' && existsSync(join(store.folder, 'postgres'));
  const question =
    file === undefined
      ? `Mark ${where} as restored, and pause every sink?`
      : `Restore ${file} into ${where}${isThere ? ', in the place of the store that is there' : ''}?`;
  if (!(yes || (await agreed(question)))) {
    out.note('nothing is done');
    return ExitCode.Failed;
  }
  const list = asked.erasures === undefined ? null : await readErasureListFile(asked.erasures);
  const mark = { sinks: loaded.sinks, by: askedBy() ?? 'local', requestId: randomUUID() };
  const terms = {
    erasures: list,
    otherLedger: asked.otherLedger,
    key: asked.keyFile === undefined ? undefined : await keyIn(asked.keyFile),
    configuredKey: configuredKey(loaded),
    identityFile: asked.identity,
  };
  const done =
    file === undefined ? await markStoreRestored(store, mark, list) : await restoreStore(file, store, mark, terms);
  const { facts, replaced = null, erasures, keyProblem = null } = done;
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
  out.note('sinks and imports are paused: start, look at "pigeonpost status" and "preview", then resume each');
  out.note(aboutErasures(erasures));
  if (keyProblem !== null) out.note(keyProblem);
  return ExitCode.Done;
}

/** @param count null: nobody knows who was forgotten since the backup */
function aboutErasures(count: number | null): string {
  if (count === null) {
    return 'whoever was forgotten after the backup is in it again: "restore --mark-only --erasures FILE", or forget them anew';
  }
  if (count === 0) return 'nobody was forgotten after the backup';
  return `${count === 1 ? 'one erasure was' : `${count} erasures were`} made after the backup: from the next start on they are carried out again`;
}

async function requireIdentity(file: string, identity: string | undefined): Promise<void> {
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
  const key = await readKeyFile(file);
  if (key === undefined) throw new CommandError(ExitCode.NotFound, `there is no file ${file}`);
  return key;
}

async function agreed(question: string): Promise<boolean> {
  const answer = await askYesOrNo(question);
  if (answer !== undefined) return answer;
  throw new CommandError(ExitCode.WrongUse, 'there is no terminal to ask at: add --yes to confirm');
}
