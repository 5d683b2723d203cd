import { createPrivateKey, type KeyObject, sign } from 'node:crypto';

/**
 * Signs claims as a JSON Web Token in compact form (RFC 7515). The kind of key determines the algorithm: RS256 for an
 * RSA key of at least 2048 bits, ES256 for an EC key on P-256 (RFC 7518, 3.1).
 * @throws if the key is of another kind. `signingAlgorithm` finds such keys when the configuration is read
 */
export function signJwt(claims: object, privateKeyPem: string, keyId?: string): string {
  const key = createPrivateKey(privateKeyPem);
  const algorithm = algorithmOf(key);
  if (algorithm === undefined) throw new TypeError('the private key signs neither RS256 nor ES256');
  const header = { alg: algorithm, typ: 'JWT', ...(keyId !== undefined && { kid: keyId }) };
  const content = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  // JWS requires the two numbers of an ECDSA signature one after the other (RFC 7518, 3.4). Node's default would be
  // DER.
  const signature = sign('sha256', Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' });
  return `${content}.${signature.toString('base64url')}`;
}

/**
 * Returns the algorithm by which `signJwt` signs with a private key (PEM, without passphrase); undefined if the text is
 * no such key.
 */
export function signingAlgorithm(privateKeyPem: string): 'RS256' | 'ES256' | undefined {
  try {
    return algorithmOf(createPrivateKey(privateKeyPem));
  } catch {
    return undefined;
  }
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): 'RS256' | 'ES256' | undefined {
  if (asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048) return 'RS256';
  if (asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1') return 'ES256';
  return undefined;
}
