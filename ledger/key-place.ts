import { link, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { syncFolder } from './drivers/sync-folder.js';
import { LedgerError } from './ledger-error.js';
import { LedgerKey } from './ledger-key.js';

/** The name of the key's file in a data folder, beside the embedded store and never in a backup of it. */
export const ledgerKeyFile = 'ledger.key';

/** The place where a process finds the ledger's key. */
export interface KeyPlace {
  /** Completes "the key is kept in …". */
  readonly name: string;
  /** Undefined: no key is there. @throws {LedgerError} kind `key` when something else is */
  read(): Promise<LedgerKey | undefined>;
  /**
   * Puts a key there, durably, unless one is there already.
   * @returns the key that is there now; undefined when the place cannot be written to
   */
  keep(key: LedgerKey): Promise<LedgerKey | undefined>;
  /** The place lasts exactly as long as the store, so a key may leave the store as soon as it is there. */
  readonly lastsAsStore: boolean;
}

/** A key from the configuration. */
export function givenKey(key: LedgerKey): KeyPlace {
  return {
    name: 'ledgerKey (LEDGER_KEY)',
    read: async () => key,
    keep: async () => key,
    lastsAsStore: true, // the operator has it
  };
}

/** A file that only its owner may read, made at the first start. */
export function keyFile(file: string, { lastsAsStore }: { readonly lastsAsStore: boolean }): KeyPlace {
  const read = async (): Promise<LedgerKey | undefined> => await readKeyFile(file);
  return {
    name: file,
    lastsAsStore,
    read,
    async keep(key) {
      try {
        await writeKeyFile(file, key);
        // Unlike the folder of an embedded store, this folder may contain files under version control.
        if (!lastsAsStore) await writeFile(join(dirname(file), '.gitignore'), '*\n');
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (typeof code !== 'string') throw error;
        if (code !== 'EEXIST') return undefined;
      }
      return await read();
    },
  };
}

/** @returns undefined when there is no such file @throws {LedgerError} kind `key` when it holds no key */
export async function readKeyFile(file: string): Promise<LedgerKey | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new LedgerError('key', `the ledger's key in ${file} cannot be read (${code}): check its permissions`);
  }
  const key = LedgerKey.parse(text);
  if (key === undefined) {
    throw new LedgerError('key', `${file} does not contain a ledger key: restore the original file`);
  }
  return key;
}

/** Writes a new file, whole or not at all. @throws the file system's error; `EEXIST` when there is such a file */
export async function writeKeyFile(file: string, key: LedgerKey): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const part = `${file}.${randomUUID().slice(0, 8)}`;
  try {
    const written = await open(part, 'wx', 0o600);
    try {
      await written.writeFile(key.reveal());
      await written.sync();
    } finally {
      await written.close();
    }
    await link(part, file); // a rename would put it in the place of another process's
    syncFolder(dirname(file));
  } finally {
    await rm(part, { force: true });
  }
}
