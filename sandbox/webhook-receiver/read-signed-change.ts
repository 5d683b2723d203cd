import type { IncomingHttpHeaders } from 'node:http';
import { type Webhook, WebhookVerificationError } from 'standardwebhooks';
import { z } from 'zod';

/**
 * The change envelope, written from docs/change-envelope.md and not from the sender's types, so that a mistake in the
 * sender is found here. Strict: an unknown field is a mistake as well.
 */
const receivedChangeSchema = z
  .strictObject({
    id: z.uuid(),
    type: z.string(),
    timestamp: z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/),
    workspace: z.string().min(1),
    pigeonholeId: z.int().min(0),
    sessionId: z.int().min(0).nullable(),
    list: z.string().regex(/^[a-z][a-z_-]*$/),
    key: z.string().min(1),
    revision: z.int().min(1),
    sequence: z.int().min(1),
    data: z.record(z.string(), z.unknown()).nullable(),
    replay: z.string().min(1).optional(),
  })
  .refine(({ type, list }) => ['created', 'updated', 'deleted'].some((kind) => type === `${list}.${kind}`), {
    path: ['type'],
    error: 'must be the name of the list followed by .created, .updated or .deleted',
  })
  .refine(({ type, data }) => type.endsWith('.deleted') === (data === null), {
    path: ['data'],
    error: 'must be null for a deletion, and only for a deletion',
  })
  .refine(({ data }) => data === null || !Object.hasOwn(data, 'links'), {
    path: ['data', 'links'],
    error: 'opens pages of the event for anyone and must not be sent',
  })
  .refine(({ list, data }) => list !== 'pigeonholes' || data === null || !Object.hasOwn(data, 'passcode'), {
    path: ['data', 'passcode'],
    error: 'lets anyone into the event and must not be sent',
  });

export type ReceivedChange = z.output<typeof receivedChangeSchema>;

const text = z.string().min(1);

/** Messages that are about no change: alerts (docs/operations.md) and the test of a sink (docs/sinks/webhook.md). */
const noticeSchema = z.union([
  z.strictObject({
    id: text,
    type: z.templateLiteral(['alert.', z.enum(['raised', 'recovered', 'happened', 'test'])]),
    timestamp: z.iso.datetime(),
    data: z.strictObject({
      occasion: text,
      problem: text.nullable(),
      subject: z.string(),
      subjects: z.array(text),
      title: text,
      says: text,
      todo: text.nullable(),
      link: text.nullable(),
    }),
  }),
  z.strictObject({
    id: text,
    type: z.literal('pigeonpost.test'),
    timestamp: z.iso.datetime(),
    data: z.strictObject({ message: text }),
  }),
]);

export type Notice = z.output<typeof noticeSchema>;

type SignedMessage =
  | { readonly change: ReceivedChange }
  | { readonly notice: Notice }
  /** The status to answer with, and the reason, which names fields but never their values. */
  | { readonly refusedWith: number; readonly reason: string };

/**
 * Accepts a request only if its signature is valid for one of the secrets (checked by the `standardwebhooks` library),
 * its body is a change or a notice, and its id is that of the body.
 */
export function readSignedMessage(
  body: Buffer,
  headers: IncomingHttpHeaders,
  verifiers: readonly Webhook[],
): SignedMessage {
  if (!verifiers.some((verifier) => isSigned(verifier, body, headers))) {
    return { refusedWith: 401, reason: 'no valid signature' };
  }
  if (headers['content-type'] !== 'application/json') {
    return { refusedWith: 415, reason: 'content-type is not application/json' };
  }
  const value = parsed(body);
  const notice = noticeSchema.safeParse(value);
  const result = notice.success ? notice : receivedChangeSchema.safeParse(value);
  if (!result.success) {
    const problems = result.error.issues.map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`);
    return { refusedWith: 400, reason: problems.join('; ') };
  }
  if (headers['webhook-id'] !== result.data.id) {
    return { refusedWith: 400, reason: 'webhook-id is not the id of the body' };
  }
  if (notice.success) return { notice: notice.data };
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
