import { randomUUID } from 'node:crypto';
import type { Database } from './drivers/database.js';
import type { KeyPlace } from './key-place.js';
import { LedgerError } from './ledger-error.js';
import { LedgerKey } from './ledger-key.js';

/** The key, or the check value of the key, in the store. */
export type StoredKey =
  /** A version before decision 0048 has made the ledger: its key is in the store. */
  | { readonly kind: 'inside'; readonly key: LedgerKey }
  /** Identifies the key, which is stored elsewhere. */
  | { readonly kind: 'outside'; readonly check: Buffer };

interface LedgerRow {
  id: string;
  hash_key: Buffer | null;
  subject_key: Buffer | null;
  fingerprint_key: Buffer | null;
  /** Absent in the schema of an earlier version. */
  key_check?: Buffer | null;
}

/** Reads a store that is not migrated yet as well. @returns undefined when it holds no ledger */
export async function readStoredKey(db: Database): Promise<({ id: string } & StoredKey) | undefined> {
  const [row] = await db.query<LedgerRow>('select * from ledger');
  if (row === undefined) return undefined;
  const { id, hash_key: hash, subject_key: subject, fingerprint_key: fingerprint, key_check: check } = row;
  if (check != null) return { id, kind: 'outside', check };
  return { id, kind: 'inside', key: LedgerKey.of({ hash: hash!, subject: subject!, fingerprint: fingerprint! }) };
}

/**
 * The ledger's identity and the key from its place. A new ledger gets a new key where the place has none. Several
 * processes may do this at the same time: the one that makes the ledger's row decides, and a process with another key
 * is refused.
 *
 * A key that is still in the store leaves it when it is certain to last outside: at once in the folder of an embedded
 * store, or when the operator gives it. Elsewhere it is written to the place and leaves at the next start that finds it
 * there, because a file in a container may be gone by then.
 */
export async function adoptKey(
  db: Database,
  place: KeyPlace,
  onNotice: (sentence: string) => void,
): Promise<{ id: string; key: LedgerKey }> {
  const found = await place.read();
  const stored = (await readStoredKey(db)) ?? (await makeLedger(db, place, found));
  if (stored.kind === 'outside') {
    const key = found ?? (await place.read()); // another process may just have made both
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

/** Takes the key out of the store, and out of what its file still holds of the row before. Safe to run twice. */
export async function removeStoredKey(db: Database, key: LedgerKey): Promise<void> {
  await db.query(
    `update ledger set hash_key = null, subject_key = null, fingerprint_key = null, key_check = $1 where key_check is null`,
    [key.check],
  );
  await db.script('vacuum full ledger'); // one row; the row before it is only marked as dead until then
  if (db.kind === 'embedded') await db.script('checkpoint'); // the old file is deleted with it
}

async function makeLedger(db: Database, place: KeyPlace, found: LedgerKey | undefined) {
  const key = found ?? (await place.keep(LedgerKey.generate()));
  if (key === undefined) {
    throw new LedgerError(
      'key',
      `a new ledger needs a key, and ${place.name} cannot be written: create one with "openssl rand -base64 32", and set LEDGER_KEY for every process`,
    );
  }
  await db.query('insert into ledger (id, key_check) values ($1, $2) on conflict (singleton) do nothing', [
    randomUUID(),
    key.check,
  ]);
  return (await readStoredKey(db))!;
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
