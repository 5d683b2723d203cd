import { Hmac } from '../../base/hmac.js';
import type { Secret } from '../../config/secret.js';

export interface SignedMessage {
  readonly id: string;
  /** Time of this attempt in Unix seconds. Receivers refuse requests that are older than a few minutes. */
  readonly timestampSeconds: number;
  readonly body: string;
}

/**
 * Signs requests as Standard Webhooks specifies, with one HMAC-SHA256 of `id.timestamp.body` per secret. While a secret
 * is being changed, the request has two signatures, and the receiver can verify it with the old or the new secret.
 * Source: standardwebhooks/standard-webhooks, spec/standard-webhooks.md, "Signature scheme".
 */
export class Signer {
  readonly #keys: readonly Hmac[];
  readonly #secrets: readonly Secret[];

  constructor(secrets: readonly Secret[]) {
    this.#secrets = secrets;
    this.#keys = secrets.map((secret) => new Hmac(Buffer.from(secret.reveal().replace(/^whsec_/, ''), 'base64')));
  }

  /** The texts of the secrets, so that they can be hidden in an answer. */
  get secrets(): string[] {
    return this.#secrets.map((secret) => secret.reveal());
  }

  headers({ id, timestampSeconds, body }: SignedMessage): Record<string, string> {
    const content = `${id}.${timestampSeconds}.${body}`;
    return {
      'webhook-id': id,
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': this.#keys.map((key) => `v1,${key.of(content).toString('base64')}`).join(' '),
    };
  }
}
