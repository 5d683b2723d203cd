import { createHmac } from 'node:crypto';
import type { Secret } from '../../config/secret.js';

export interface SignedMessage {
  readonly id: string;
  /** Of this attempt, Unix time in seconds: receivers refuse what is older than some minutes. */
  readonly timestampSeconds: number;
  readonly body: string;
}

/**
 * The three headers of Standard Webhooks: one HMAC-SHA256 over `id.timestamp.body` per secret, so that during a
 * change of secrets both the old and the new one verify.
 * Source: standardwebhooks/standard-webhooks, spec/standard-webhooks.md, "Signature scheme".
 */
export function signatureHeaders(message: SignedMessage, secrets: readonly Secret[]): Record<string, string> {
  const content = `${message.id}.${message.timestampSeconds}.${message.body}`;
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.reveal().replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
  });
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(message.timestampSeconds),
    'webhook-signature': signatures.join(' '),
  };
}
