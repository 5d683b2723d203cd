import { sign, type KeyObject } from 'node:crypto';

/** A signed assertion as the JWT bearer flow wants it; what a test is about is given in `claims` and `header`. */
export function signAssertion(
  privateKey: KeyObject | string,
  claims: Readonly<Record<string, unknown>>,
  header: Readonly<Record<string, unknown>> = { alg: 'RS256' },
): string {
  const part = (json: unknown): string => Buffer.from(JSON.stringify(json)).toString('base64url');
  const signed = `${part(header)}.${part(claims)}`;
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), privateKey).toString('base64url')}`;
}
