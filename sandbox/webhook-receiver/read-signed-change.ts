import type { IncomingHttpHeaders } from 'node:http';
import { type Webhook, WebhookVerificationError } from 'standardwebhooks';
import { receivedChangeSchema, type ReceivedChange } from './received-change.js';

export type SignedChange =
  | { readonly change: ReceivedChange }
  /** What to answer, and why; the reason names fields, never their values. */
  | { readonly refusedWith: number; readonly reason: string };

/**
 * Takes a request for what it claims to be only when its signature holds (by the `standardwebhooks` library, with any
 * of the secrets), its body is a change, and its id is the change's.
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
  return { change: value as ReceivedChange }; // as it came: the checked copy would lack a field named __proto__
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
    return undefined; // fails the schema, which says so
  }
}
