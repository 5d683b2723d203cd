import type { Ledger } from './ledger.js';

/** The session of a browser, stored so that nobody who reads the ledger can use it. */
interface NewPageSession {
  /** SHA-256 of its text. */
  readonly hash: Buffer;
  /** `server.token`, `local`, or the id of a named token. */
  readonly holder: string;
  /** Fingerprint of the administrator's token. A session is valid only while the token stays the same. */
  readonly under: string;
  readonly lastsSeconds: number;
}

/** Stores a session, and removes those that have ended. */
export async function addPageSession(ledger: Pick<Ledger, 'db'>, session: NewPageSession): Promise<void> {
  await ledger.db.query(
    `with ended as (delete from page_sessions where expires_at <= now())
     insert into page_sessions (hash, holder, under, expires_at) values ($1, $2, $3, now() + make_interval(secs => $4))`,
    [session.hash, session.holder, session.under, session.lastsSeconds],
  );
}

/** Returns the holder of a session; undefined if it does not exist, or has ended. */
export async function findPageSession(
  ledger: Pick<Ledger, 'db'>,
  { hash, under }: Pick<NewPageSession, 'hash' | 'under'>,
): Promise<string | undefined> {
  const [row] = await ledger.db.query<{ holder: string }>(
    'select holder from page_sessions where hash = $1 and under = $2 and expires_at > now()',
    [hash, under],
  );
  return row?.holder;
}

/** Ends a session. Ending it again does nothing. */
export async function endPageSession(ledger: Pick<Ledger, 'db'>, hash: Buffer): Promise<void> {
  await ledger.db.query('delete from page_sessions where hash = $1', [hash]);
}
