import { createPrivateKey, type KeyObject, sign } from 'node:crypto';

/**
 * Signs claims as a JSON Web Token in compact form (RFC 7515). The key decides the algorithm: RS256 for an RSA key of
 * at least 2048 bits, ES256 for an EC key on P-256 (RFC 7518, 3.1).
 * @throws if the key is of another kind: check it with `isSigningKey` when the configuration is read
 */
export function signJwt(claims: object, privateKeyPem: string, keyId?: string): string {
  const key = createPrivateKey(privateKeyPem);
  const algorithm = algorithmOf(key);
  if (algorithm === undefined) throw new TypeError('the private key signs neither RS256 nor ES256');
  const header = { alg: algorithm, typ: 'JWT', ...(keyId !== undefined && { kid: keyId }) };
  const content = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  // JWS takes the two numbers of an ECDSA signature side by side, not in DER, which is Node's default (RFC 7518, 3.4).
  const signature = sign('sha256', Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' });
  return `${content}.${signature.toString('base64url')}`;
}

/** Whether a text is a private key (PEM, without passphrase) that `signJwt` accepts. */
export function isSigningKey(privateKeyPem: string): boolean {
  try {
    return algorithmOf(createPrivateKey(privateKeyPem)) !== undefined;
  } catch {
    return false;
  }
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): 'RS256' | 'ES256' | undefined {
  if (asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048) return 'RS256';
  if (asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1') return 'ES256';
  return undefined;
}
