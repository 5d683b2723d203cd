import { createHmac, randomBytes, timingSafeEqual, randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { SigningKey } from '../base/ed25519.js';
import { whyNotWritable } from '../base/writable-folder.js';
import type { LedgerKeys } from './keyed-hash.js';
import { link, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from './drivers/embedded-folder.js';
import { LedgerError } from './ledger-error.js';

/** Length of the key, and of each of the three keys derived from it, with which a ledger hashes, in bytes. */
const keyBytes = 32;

/**
 * The secret key of a ledger, from which all its hashes of personal data are computed. Anyone who has both the key and
 * the store can find the people behind anonymous items by trying all attendee ids. The key is therefore never in the
 * store or in a backup (decision 0048).
 *
 * Its text is base64 or base64url of 32 random bytes.
 */
export class LedgerKey {
  readonly #bytes: Buffer;

  private constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  static generate(): LedgerKey {
    return new LedgerKey(randomBytes(keyBytes));
  }

  /** Parses the text of a key, ignoring white space around it. @returns undefined if the text is not a key */
  static parse(text: string): LedgerKey | undefined {
    const trimmed = text.trim();
    if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(trimmed)) return undefined;
    const bytes = Buffer.from(trimmed, 'base64'); // Node accepts both alphabets
    return bytes.length === keyBytes ? new LedgerKey(bytes) : undefined;
  }

  get keys(): LedgerKeys {
    return { hash: this.#derive('hash'), subject: this.#derive('subject'), fingerprint: this.#derive('fingerprint') };
  }

  /** A check value, which the ledger stores to recognize its key. It reveals nothing of the key. */
  get check(): Buffer {
    return this.#derive('key check');
  }

  /** The key with which this instance signs statements (decision 0110). It follows from the ledger's key. */
  get signing(): SigningKey {
    return new SigningKey(this.#derive('signature'));
  }

  #derive(purpose: string): Buffer {
    return createHmac('sha256', this.#bytes).update(`ledger ${purpose}`).digest();
  }

  equals(other: LedgerKey): boolean {
    return timingSafeEqual(this.#bytes, other.#bytes);
  }

  /**
   * Returns the secret text of the key. Write it only to the key's file, or to the terminal of the operator who exports
   * the key.
   */
  reveal(): string {
    return this.#bytes.toString('base64url');
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}

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
  /** Whether `keep` could store a key there. Changes nothing. */
  mayKeep(): boolean;
}

/** Returns the place for a key from the configuration. */
export function givenKey(key: LedgerKey): KeyPlace {
  return {
    name: 'ledgerKey (LEDGER_KEY)',
    read: async () => key,
    keep: async () => key,
    mayKeep: () => true,
  };
}

/**
 * Returns the place for a key in a file that only its owner may read. The first start creates the file.
 * @param isBesideSources true if the folder may contain files under version control; git then ignores the folder
 */
export function keyFile(file: string, { isBesideSources }: { readonly isBesideSources: boolean }): KeyPlace {
  const read = async (): Promise<LedgerKey | undefined> => await readKeyFile(file);
  return {
    name: file,
    read,
    mayKeep: () => whyNotWritable(dirname(file)) === undefined,
    async keep(key) {
      try {
        await writeKeyFile(file, key);
        if (isBesideSources) await writeFile(join(dirname(file), '.gitignore'), '*\n');
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
