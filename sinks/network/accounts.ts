import { createHash } from 'node:crypto';
import type { Secret } from '../../config/secret.js';

/** What makes an account one: whoever has the same of all this is counted together by the vendor. */
export interface AccountName {
  readonly type: string;
  readonly baseUrl: string;
  readonly credential: Secret | string;
  /** As configured: sinks of one account that are told different limits keep to them each for itself. */
  readonly limits: { readonly per10s?: number; readonly perDay?: number } | undefined;
}

/**
 * What sinks of one process share because the vendor counts it together: one for a process, through all its
 * configurations, so that neither a second sink on the account nor `config apply` begins to count anew. Holds no
 * credential, only its hash. Nothing is ever given up: a process knows a handful of accounts.
 */
export class Accounts {
  readonly #shared = new Map<string, unknown>();

  /**
   * What the account has of this kind, made with the first that asks. The kind stands for the type of the value.
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
