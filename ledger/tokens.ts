import type { Ledger } from './ledger.js';

/** A token as it is stored: reading the ledger is not enough to use it. */
export interface StoredToken {
  /** The part of the token that is no secret. */
  readonly id: string;
  readonly name: string;
  readonly roles: readonly string[];
  /** Null: all of them. */
  readonly workspace: string | null;
  readonly createdAt: Date;
  readonly createdBy: string;
  /** Null: never. */
  readonly expiresAt: Date | null;
  /** To the minute. */
  readonly lastUsedAt: Date | null;
}

/** The stored values that a presented token is compared with. */
export interface PresentedToken extends Pick<StoredToken, 'id' | 'name' | 'roles' | 'workspace'> {
  /** SHA-256 of the whole token. */
  readonly hash: Buffer;
  readonly expired: boolean;
  /** Not used within this minute. */
  readonly unused: boolean;
}

export interface NewToken extends Pick<StoredToken, 'id' | 'name' | 'roles' | 'workspace' | 'createdBy' | 'expiresAt'> {
  readonly hash: Buffer;
}

/** @returns undefined when there is no such token, or it was revoked */
export async function findToken(ledger: Ledger, id: string): Promise<PresentedToken | undefined> {
  const [row] = await ledger.db.query<Omit<PresentedToken, 'roles'> & { roles: string }>(
    `select id, name, roles, workspace, hash, coalesce(expires_at <= now(), false) as expired,
       coalesce(last_used_at < now() - interval '1 minute', true) as unused
     from tokens where id = $1 and revoked_at is null`,
    [id],
  );
  return row === undefined ? undefined : { ...row, roles: row.roles.split(' ') };
}

/** At most once a minute, so that reading stays reading. */
export async function markTokenUsed(ledger: Ledger, id: string): Promise<void> {
  await ledger.db.query(
    `update tokens set last_used_at = now()
     where id = $1 and coalesce(last_used_at < now() - interval '1 minute', true)`,
    [id],
  );
}

/** @returns false when another token that is not revoked has that name */
export async function addToken(ledger: Ledger, token: NewToken): Promise<boolean> {
  const rows = await ledger.db.query(
    `insert into tokens (id, name, hash, roles, workspace, created_by, expires_at) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (name) where revoked_at is null do nothing returning id`,
    [token.id, token.name, token.hash, token.roles.join(' '), token.workspace, token.createdBy, token.expiresAt],
  );
  return rows.length === 1;
}

/** Those that were not revoked, expired ones among them; by name. */
export async function allTokens(ledger: Ledger): Promise<StoredToken[]> {
  const rows = await ledger.db.query<Omit<StoredToken, 'roles'> & { roles: string }>(
    `select id, name, roles, workspace, created_at as "createdAt", created_by as "createdBy",
       expires_at as "expiresAt", last_used_at as "lastUsedAt"
     from tokens where revoked_at is null order by name`,
  );
  return rows.map((row) => ({ ...row, roles: row.roles.split(' ') }));
}

/** @returns false when there is none of that name */
export async function revokeToken(ledger: Ledger, name: string): Promise<boolean> {
  const rows = await ledger.db.query(
    'update tokens set revoked_at = now() where name = $1 and revoked_at is null returning id',
    [name],
  );
  return rows.length === 1;
}
