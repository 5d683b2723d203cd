import type { Ledger } from './ledger.js';

/** A token as it is stored: without its secret part, so that nobody who reads the ledger can use the token. */
export interface StoredToken {
  /** The public part of the token. */
  readonly id: string;
  readonly name: string;
  readonly roles: readonly string[];
  /** Null: all workspaces. */
  readonly workspace: string | null;
  readonly createdAt: Date;
  readonly createdBy: string;
  /** Null: the token does not expire. */
  readonly expiresAt: Date | null;
  /** Accurate to one minute. */
  readonly lastUsedAt: Date | null;
}

/** The stored values that a presented token is compared with. */
interface PresentedToken extends Pick<StoredToken, 'id' | 'name' | 'roles' | 'workspace'> {
  /** SHA-256 of the whole token. */
  readonly hash: Buffer;
  readonly expired: boolean;
  /** True if this use has to be recorded, because the last recorded one is more than a minute ago. */
  readonly recordsUse: boolean;
}

export interface NewToken extends Pick<StoredToken, 'id' | 'name' | 'roles' | 'workspace' | 'createdBy' | 'expiresAt'> {
  readonly hash: Buffer;
}

/** Returns a token by its public part; undefined if it does not exist or was revoked. */
export async function findToken(ledger: Ledger, id: string): Promise<PresentedToken | undefined> {
  const [row] = await ledger.db.query<Omit<PresentedToken, 'roles'> & { roles: string }>(
    `select id, name, roles, workspace, hash, coalesce(expires_at <= now(), false) as expired,
       coalesce(last_used_at < now() - interval '1 minute', true) as "recordsUse"
     from tokens where id = $1 and revoked_at is null`,
    [id],
  );
  return row === undefined ? undefined : { ...row, roles: row.roles.split(' ') };
}

/** Records that a token was used, at most once a minute, so that most requests do not write. */
export async function markTokenUsed(ledger: Ledger, id: string): Promise<void> {
  await ledger.db.query(
    `update tokens set last_used_at = now()
     where id = $1 and coalesce(last_used_at < now() - interval '1 minute', true)`,
    [id],
  );
}

/** Stores a new token. @returns false if another token that is not revoked has this name */
export async function addToken(ledger: Ledger, token: NewToken): Promise<boolean> {
  const rows = await ledger.db.query(
    `insert into tokens (id, name, hash, roles, workspace, created_by, expires_at) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (name) where revoked_at is null do nothing returning id`,
    [token.id, token.name, token.hash, token.roles.join(' '), token.workspace, token.createdBy, token.expiresAt],
  );
  return rows.length === 1;
}

/** Returns all tokens that are not revoked, including expired ones, by name. */
export async function allTokens(ledger: Ledger): Promise<StoredToken[]> {
  const rows = await ledger.db.query<Omit<StoredToken, 'roles'> & { roles: string }>(
    `select id, name, roles, workspace, created_at as "createdAt", created_by as "createdBy",
       expires_at as "expiresAt", last_used_at as "lastUsedAt"
     from tokens where revoked_at is null order by name`,
  );
  return rows.map((row) => ({ ...row, roles: row.roles.split(' ') }));
}

/** Revokes a token. @returns false if there is no token with this name */
export async function revokeToken(ledger: Ledger, name: string): Promise<boolean> {
  const rows = await ledger.db.query(
    'update tokens set revoked_at = now() where name = $1 and revoked_at is null returning id',
    [name],
  );
  return rows.length === 1;
}
