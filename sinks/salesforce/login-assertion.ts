import { createSign } from 'node:crypto';

/** Salesforce takes assertions that end within 3 minutes; less leaves room for clocks that differ. */
const VALID_FOR_SECONDS = 120;

export interface Identity {
  readonly clientId: string;
  readonly username: string;
  readonly loginUrl: string;
}

/**
 * The signed statement with which it logs in: a JWT by RS256.
 * Source: Salesforce Help, "OAuth 2.0 JWT Bearer Flow for Server-to-Server Integration".
 */
export function loginAssertion(identity: Identity, privateKeyPem: string, nowMs: number): string {
  const claims = {
    iss: identity.clientId,
    sub: identity.username,
    aud: audienceOf(identity.loginUrl),
    exp: Math.floor(nowMs / 1000) + VALID_FOR_SECONDS,
  };
  const content = [{ alg: 'RS256', typ: 'JWT' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${content}.${createSign('RSA-SHA256').update(content).sign(privateKeyPem, 'base64url')}`;
}

/** Whom the assertion is for: never a My Domain, but the login host of production or of sandboxes; else a site's own address. */
export function audienceOf(loginUrl: string): string {
  const { hostname } = new URL(loginUrl);
  if (hostname !== 'salesforce.com' && !hostname.endsWith('.salesforce.com')) return loginUrl;
  const isSandbox = hostname === 'test.salesforce.com' || hostname.endsWith('.sandbox.my.salesforce.com');
  return isSandbox ? 'https://test.salesforce.com' : 'https://login.salesforce.com';
}
