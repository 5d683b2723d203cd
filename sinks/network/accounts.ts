import { createHash } from 'node:crypto';
import type { Secret } from '../../config/secret.js';

/** Identifies an account at a vendor. The vendor counts all requests with the same values together. */
export interface AccountName {
  readonly type: string;
  readonly baseUrl: string;
  readonly credential: Secret | string;
  /** The configured limits. Sinks of one account with different limits do not share a limiter. */
  readonly limits: { readonly per10s?: number; readonly perDay?: number } | undefined;
}

/**
 * Holds state that sinks of one process share if they use the same account, such as the count of requests. A process
 * has one instance and keeps it when the configuration changes, so that neither a second sink of the account nor
 * `config apply` starts a new count. It stores a hash of the credential, never the credential. Entries are never
 * removed, because a process uses only a few accounts.
 */
export class Accounts {
  readonly #shared = new Map<string, unknown>();

  /**
   * Returns the account's value of this kind. The first call creates it. The kind determines the value's type.
   * @param kind such as `requests`
   */
  share<Value>(account: AccountName, kind: string, make: () => Value): Value {
    const { type, baseUrl, credential, limits } = account;
    const secret = typeof credential === 'string' ? credential : credential.reveal();
    const text = JSON.stringify([type, baseUrl, secret, limits?.per10s ?? null, limits?.perDay ?? null]);
    const key = `${kind} ${createHash('sha256').update(text).digest('hex')}`;
    if (!this.#shared.has(key)) this.#shared.set(key, make());
    return this.#shared.get(key) as Value;
  }
}
