import { z } from 'zod';
import type { Secret } from '../../config/secret.js';
import { signingSecret, signingSecretForm, text } from '../../config/values.js';
import { networkKeys, plainHttpProblem } from '../network/address-policy.js';

const ONE_SECRET = `${signingSecretForm}, written as \${NAME} or \${file:/path}`;

/**
 * Schema of one secret or a list of secrets, which it always returns as a list. It is not a zod union: for a malformed
 * secret, a union would only report that no form matches, and at the wrong key.
 */
const signingSecrets = z
  .unknown()
  .transform((found, context): Secret[] => {
    const isList = Array.isArray(found);
    const result = z
      .array(signingSecret())
      .min(1, { error: `allowed: ${ONE_SECRET}` })
      .max(2, { error: 'allowed: at most two secrets' })
      .safeParse(isList ? found : [found]);
    if (result.success) return result.data;
    for (const { message, path } of result.error.issues) {
      context.issues.push({ code: 'custom', input: found, message, path: isList ? path : [] });
    }
    return z.NEVER;
  })
  .meta({
    allowed: `${signingSecretForm}, written as \`\${NAME}\` or \`\${file:/path}\`, or a list of two`,
    secret: true,
    published: { anyOf: [{ secret: true }, { type: 'array', items: { secret: true }, minItems: 1, maxItems: 2 }] },
  });

/**
 * docs/sinks/webhook.md explains each key to users. Messages never repeat a value, because secrets and URLs with tokens
 * must not be shown.
 */
export const webhookConfigSchema = z
  .strictObject({
    url: text(
      'an https address such as https://hooks.example.com/engagement (http if allowPrivateAddresses is true), without user name and password',
      readUrl,
    ).describe('The address to which the sink sends each change by POST.'),
    secret: signingSecrets.describe(
      'Signs every request, as Standard Webhooks specifies. While you change it, list the old and the new secret.',
    ),
    ...networkKeys,
  })
  // Stricter than plainHttpStaysPrivate: loopback needs the setting too, because the address often comes from another
  // person.
  .refine(({ url, allowPrivateAddresses }) => allowPrivateAddresses || url.startsWith('https://'), {
    path: ['url'],
    error: plainHttpProblem,
  });

/** The keys of a `webhook` sink in pigeonpost.yaml, without those that all sinks share. */
export type WebhookConfig = Readonly<z.infer<typeof webhookConfigSchema>>;

function readUrl(found: string): string | undefined {
  if (!URL.canParse(found)) return undefined;
  const url = new URL(found);
  const isHttp = url.protocol === 'https:' || url.protocol === 'http:';
  return isHttp && url.username === '' && url.password === '' ? url.href : undefined;
}
