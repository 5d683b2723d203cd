import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto';
import type { Ledger } from './ledger.js';

/** The stored form of `KeptCredentials` in sinks/sink.ts. */
export interface KeptCredential {
  readonly version: number;
  /** Null: nothing has been stored yet. */
  readonly text: string | null;
}

interface Row {
  readonly version: number;
  readonly sealed: Buffer | null;
}

const nonceBytes = 12;
const tagBytes = 16;

/**
 * Stores credentials that change each time they are used, for all processes of a ledger. They are encrypted with
 * AES-256-GCM under a key derived from the ledger's key (decision 0076).
 *
 * A claim lets one process at a time replace a credential. A claim expires, because its process may end without
 * releasing it. The version prevents a process whose claim has expired from overwriting a credential that another
 * process has stored meanwhile.
 */
export function keptCredentials({ db, hash, clock }: Pick<Ledger, 'db' | 'hash' | 'clock'>) {
  const key = hash.sealingKey();
  const owner = randomUUID();
  const nameOf = (configured: string): string => hash.fingerprint(configured);
  const opened = (name: string, { version, sealed }: Row): KeptCredential => ({
    version,
    text: sealed === null ? null : open(key, name, sealed),
  });
  return {
    nowMs: (): number => clock.nowMs(),
    /** @returns undefined if no process has claimed these configured credentials yet */
    async read(configured: string): Promise<KeptCredential | undefined> {
      const name = nameOf(configured);
      const [row] = await db.query<Row>('select version, sealed from kept_credentials where name = $1', [name]);
      return row && opened(name, row);
    },
    /** @returns undefined if another process holds a claim that has not expired */
    async claim(configured: string, forMs: number): Promise<KeptCredential | undefined> {
      const name = nameOf(configured);
      const [row] = await db.query<Row>(
        `insert into kept_credentials as kept (name, claimed_by, claimed_until)
         values ($1, $2, now() + $3 * interval '1 millisecond')
         on conflict (name) do update set claimed_by = excluded.claimed_by, claimed_until = excluded.claimed_until
           where kept.claimed_until is null or kept.claimed_until < now()
         returning version, sealed`,
        [name, owner, forMs],
      );
      return row && opened(name, row);
    },
    /** Stores a replacement and ends the claim. @returns false when another process has replaced that version */
    async replace(configured: string, version: number, text: string): Promise<boolean> {
      const name = nameOf(configured);
      const rows = await db.query(
        `update kept_credentials
         set sealed = $3, version = version + 1, claimed_by = null, claimed_until = null, updated_at = now()
         where name = $1 and version = $2 returning version`,
        [name, version, seal(key, name, text)],
      );
      return rows.length === 1;
    },
    /** Ends a claim of this process without a replacement. */
    async release(configured: string): Promise<void> {
      await db.query(
        'update kept_credentials set claimed_by = null, claimed_until = null where name = $1 and claimed_by = $2',
        [nameOf(configured), owner],
      );
    },
  };
}

/**
 * Encrypts a text and authenticates the name with it, so that a row that was moved to another name cannot be decrypted.
 */
function seal(key: Buffer, name: string, text: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(name));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** @throws if the row was changed, or encrypted under another ledger's key */
function open(key: Buffer, name: string, sealed: Buffer): string {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(name)).setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
  return decipher.update(sealed.subarray(nonceBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8');
}
