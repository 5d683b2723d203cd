import { secret } from './values.js';

export const signingSecretForm = 'a secret of the form whsec_… (base64 of 24 to 64 bytes)';

/** A secret that signs requests as Standard Webhooks says. */
export const signingSecret = () =>
  secret()
    .refine((found) => isSigningSecret(found.reveal()), {
      error: `allowed: ${signingSecretForm}, written as \${NAME} or \${file:/path}`,
    })
    .meta({ allowed: `${signingSecretForm}, written as \`\${NAME}\` or \`\${file:/path}\``, secret: true });

/** Source: standardwebhooks/standard-webhooks, spec/standard-webhooks.md, "Signature scheme". */
function isSigningSecret(found: string): boolean {
  const base64 = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(found)?.[1];
  if (base64 === undefined || base64.length % 4 !== 0) return false;
  const { length } = Buffer.from(base64, 'base64');
  return length >= 24 && length <= 64;
}
