import type { IncomingHttpHeaders } from 'node:http';
import { type Webhook, WebhookVerificationError } from 'standardwebhooks';
import { receivedChangeSchema, type ReceivedChange } from './received-change.js';

export type SignedChange =
  | { readonly change: ReceivedChange }
  /** The status to answer with, and the reason, which names fields but never their values. */
  | { readonly refusedWith: number; readonly reason: string };

/**
 * Accepts a request only if its signature is valid for one of the secrets (checked by the `standardwebhooks` library), its
 * body is a change, and its id is the change's id.
 */
export function readSignedChange(
  body: Buffer,
  headers: IncomingHttpHeaders,
  verifiers: readonly Webhook[],
): SignedChange {
  if (!verifiers.some((verifier) => isSigned(verifier, body, headers))) {
    return { refusedWith: 401, reason: 'no valid signature' };
  }
  if (headers['content-type'] !== 'application/json') {
    return { refusedWith: 415, reason: 'content-type is not application/json' };
  }
  const value = parsed(body);
  const result = receivedChangeSchema.safeParse(value);
  if (!result.success) {
    const problems = result.error.issues.map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`);
    return { refusedWith: 400, reason: problems.join('; ') };
  }
  if (headers['webhook-id'] !== result.data.id) {
    return { refusedWith: 400, reason: 'webhook-id is not the id of the change' };
  }
  return { change: value as ReceivedChange }; // not result.data, which would lack a field named __proto__
}

function isSigned(verifier: Webhook, body: Buffer, headers: IncomingHttpHeaders): boolean {
  try {
    verifier.verify(body, headers as Record<string, string>, { jsonParse: false });
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined; // the schema reports it
  }
}
