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
  /** The name of the place in messages; it completes "the key is kept in …". */
  readonly name: string;
  /**
   * Reads the key.
   * @returns undefined if no key is there
   * @throws {LedgerError} kind `key` if the place holds something else
   */
  read(): Promise<LedgerKey | undefined>;
  /**
   * Stores a key durably, unless the place already has one.
   * @returns the key that is there now; undefined if the place cannot be written to
   */
  keep(key: LedgerKey): Promise<LedgerKey | undefined>;
  /**
   * True if the place lasts as long as the store. A key may then be removed from the store as soon as it is in this
   * place.
   */
  readonly lastsAsStore: boolean;
}

/** Returns the place for a key from the configuration. */
export function givenKey(key: LedgerKey): KeyPlace {
  return {
    name: 'ledgerKey (LEDGER_KEY)',
    read: async () => key,
    keep: async () => key,
    lastsAsStore: true, // the operator has it
  };
}

/** Returns the place for a key in a file that only its owner may read. The first start creates the file. */
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

/** @returns undefined if the file does not exist @throws {LedgerError} kind `key` if it holds no key */
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

/** Writes a new file, completely or not at all. @throws the file system's error; `EEXIST` if the file exists */
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
    await link(part, file); // a rename would replace the file of another process
    syncFolder(dirname(file));
  } finally {
    await rm(part, { force: true });
  }
}
