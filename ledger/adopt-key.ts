import { randomUUID } from 'node:crypto';
import type { Database } from './drivers/database.js';
import { type KeyPlace, LedgerKey } from './ledger-key.js';
import { LedgerError } from './ledger-error.js';

/** The key, or the check value of the key, in the store. */
export type StoredKey =
  /** The key itself. A version before decision 0048 created the ledger. */
  | { readonly kind: 'inside'; readonly key: LedgerKey }
  /** A check value that identifies the key, which is stored elsewhere. */
  | { readonly kind: 'outside'; readonly check: Buffer };

interface LedgerRow {
  id: string;
  hash_key: Buffer | null;
  subject_key: Buffer | null;
  fingerprint_key: Buffer | null;
  /** Undefined if the store still has the schema of an earlier version. */
  key_check?: Buffer | null;
}

/**
 * Returns the ledger's id and its key or the check value. Also reads a store that is not migrated yet.
 * @returns undefined if the store holds no ledger
 */
export async function readStoredKey(db: Database): Promise<({ id: string } & StoredKey) | undefined> {
  const [row] = await db.query<LedgerRow>('select * from ledger');
  if (row === undefined) return undefined;
  const { id, hash_key: hash, subject_key: subject, fingerprint_key: fingerprint, key_check: check } = row;
  if (check != null) return { id, kind: 'outside', check };
  return { id, kind: 'inside', key: LedgerKey.of({ hash: hash!, subject: subject!, fingerprint: fingerprint! }) };
}

/**
 * Returns the ledger's id, and the key from the place where this process finds it. If the ledger is new and the place
 * has no key, creates one. If several processes do this at the same time, the first to insert the ledger's row decides,
 * and a process with another key is refused.
 *
 * A key that an earlier version left in the store is removed as soon as it is safe outside the store. If the place
 * lasts as long as the store (the folder of an embedded store), or the operator provides the key, this happens
 * immediately. Otherwise this function writes the key to the place but leaves it in the store as well, because a file
 * in a container may be lost. The next start that finds the key in the place removes it from the store.
 */
export async function adoptKey(
  db: Database,
  place: KeyPlace,
  onNotice: (sentence: string) => void,
): Promise<{ id: string; key: LedgerKey }> {
  const found = await place.read();
  const stored = (await readStoredKey(db)) ?? (await makeLedger(db, place, found));
  if (stored.kind === 'outside') {
    const key = found ?? (await place.read()); // another process may just have created the key and the ledger
    if (key === undefined) throw missingKey(place);
    if (!key.check.equals(stored.check)) throw otherKey(place);
    return { id: stored.id, key };
  }
  const { id, key } = stored;
  const kept = found ?? (await place.keep(key));
  if (kept !== undefined && !kept.equals(key)) throw unlikeStoredKey(place);
  if (found !== undefined || (kept !== undefined && place.lastsAsStore)) {
    await removeStoredKey(db, key);
  } else {
    onNotice(
      kept === undefined
        ? `the ledger's key is still in the database, because ${place.name} cannot be written: run "pigeonpost key export FILE" and give the key to every process as LEDGER_KEY`
        : `the ledger's key is now also in ${place.name}: keep that file, and give it to every process. The next start that finds it there removes the key from the database`,
    );
  }
  return { id, key };
}

/** Removes the key from the store, including the old version of its row in the table's file. Safe to run twice. */
export async function removeStoredKey(db: Database, key: LedgerKey): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query('update ledger set key_check = $1 where key_check is null', [key.check]);
    // An update would leave the old version of the row in the table's file, and `vacuum full` keeps it as long as any
    // other session has an older snapshot. A changed column starts a new file with the present rows only.
    await tx.query(
      `alter table ledger alter hash_key type bytea using null, alter subject_key type bytea using null,
         alter fingerprint_key type bytea using null`,
    );
  });
  if (db.kind === 'embedded') await db.script('checkpoint'); // the checkpoint deletes the old file
}

async function makeLedger(db: Database, place: KeyPlace, found: LedgerKey | undefined) {
  const key = found ?? (await place.keep(LedgerKey.generate()));
  if (key === undefined) throw unwritableKey(place);
  await db.query('insert into ledger (id, key_check) values ($1, $2) on conflict (singleton) do nothing', [
    randomUUID(),
    key.check,
  ]);
  return (await readStoredKey(db))!;
}

/** The error for a new ledger whose key cannot be stored. */
export function unwritableKey({ name }: KeyPlace): LedgerError {
  return new LedgerError(
    'key',
    `a new ledger needs a key, and ${name} cannot be written: create one with "openssl rand -base64 32", and set LEDGER_KEY for every process`,
  );
}

export function missingKey({ name }: KeyPlace): LedgerError {
  return new LedgerError(
    'key',
    `the ledger's key is not in ${name}: restore it there, or set LEDGER_KEY. The ledger cannot be used without it. If it is lost, see docs/operations.md, "When the ledger's key is missing"`,
  );
}

export function otherKey({ name }: KeyPlace): LedgerError {
  return new LedgerError(
    'key',
    `the key in ${name} belongs to another ledger: give this process the key with which the ledger was created`,
  );
}

function unlikeStoredKey({ name }: KeyPlace): LedgerError {
  return new LedgerError(
    'key',
    `this ledger already has a key, which differs from the one in ${name}: run "pigeonpost key export FILE" and give that key to every process`,
  );
}
