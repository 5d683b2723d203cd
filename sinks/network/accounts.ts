import { createHash } from 'node:crypto';
import type { Secret } from '../../config/secret.js';

/** Identity of an account: the vendor counts requests with the same values together. */
export interface AccountName {
  readonly type: string;
  readonly baseUrl: string;
  readonly credential: Secret | string;
  /** As configured: sinks of one account with different limits each keep to their own. */
  readonly limits: { readonly per10s?: number; readonly perDay?: number } | undefined;
}

/**
 * State that sinks of one process share because the vendor counts it together. There is one instance for a process,
 * through all its configurations, so that neither a second sink on the account nor `config apply` starts a new count.
 * Keeps a hash of the credential, never the credential. Entries are never removed: a process uses a handful of
 * accounts.
 */
export class Accounts {
  readonly #shared = new Map<string, unknown>();

  /**
   * Returns the account's value of this kind, created by the first caller. The kind determines the type of the value.
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
