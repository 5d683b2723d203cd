import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto';
import type { Ledger } from './ledger.js';

/** As `KeptCredentials` of sinks/sink.ts has it. */
export interface KeptCredential {
  readonly version: number;
  /** Null: nothing was kept yet. */
  readonly text: string | null;
}

interface Row extends Record<string, unknown> {
  version: string | number;
  sealed: Buffer | null;
}

const nonceBytes = 12;
const tagBytes = 16;

/**
 * Credentials that change with use, for all processes of a ledger: encrypted with AES-256-GCM under a key that is derived
 * from the ledger's (decision 0076). A claim lets one process at a time replace a credential. It lasts for a limited
 * time, because a process may end while it has one, and the version keeps a process whose claim has run out from
 * overwriting what another has stored meanwhile.
 */
export function keptCredentials({ db, hash, clock }: Pick<Ledger, 'db' | 'hash' | 'clock'>) {
  const key = hash.sealingKey();
  const owner = randomUUID();
  const nameOf = (configured: string): string => hash.fingerprint(configured);
  const opened = (name: string, { version, sealed }: Row): KeptCredential => ({
    version: Number(version),
    text: sealed === null ? null : open(key, name, Buffer.from(sealed)),
  });
  return {
    nowMs: (): number => clock.nowMs(),
    /** @returns undefined if nothing was claimed with the configured credentials yet */
    async read(configured: string): Promise<KeptCredential | undefined> {
      const name = nameOf(configured);
      const [row] = await db.query<Row>('select version, sealed from kept_credentials where name = $1', [name]);
      return row && opened(name, row);
    },
    /** @returns undefined when another process has a claim that has not run out */
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

/** The name is authenticated as well, so that a row that was moved to another name does not open. */
function seal(key: Buffer, name: string, text: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(name));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** @throws when the row was changed, or sealed under another ledger's key */
function open(key: Buffer, name: string, sealed: Buffer): string {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(name)).setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
  return decipher.update(sealed.subarray(nonceBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8');
}
