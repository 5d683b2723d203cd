import type { Secret } from '../../config/secret.js';
import type { Fields } from '../sink.js';
import { signJwt } from './sign-jwt.js';

/** The proof of a sink's identity that a token endpoint requires. */
export type Grant =
  /** The grant of RFC 6749, 4.4. */
  | {
      readonly kind: 'client-credentials';
      readonly clientId: string;
      readonly clientSecret: Secret;
      /** Sends the secret in the header `Authorization` or in the form (RFC 6749, 2.3.1). */
      readonly authentication: 'client_secret_basic' | 'client_secret_post';
      readonly scope?: string | undefined;
      /** The API that the token is for. Servers such as Auth0 require it. */
      readonly audience?: string | undefined;
      /** The resource of RFC 8707. */
      readonly resource?: string | undefined;
    }
  /** The grant of RFC 7523, 2.1, with an assertion that the sink signs. */
  | {
      readonly kind: 'jwt-bearer';
      /** PEM, RSA or EC P-256; see `signingAlgorithm`. */
      readonly privateKey: Secret;
      /** `iss`, `sub`, `aud` and whatever else the server expects. `iat` and `exp` are added. */
      readonly claims: Fields;
      readonly keyId?: string | undefined;
      readonly scope?: string | undefined;
      /** Lifetime of an assertion in seconds. 120 by default, because Salesforce accepts at most 3 minutes. */
      readonly validForSeconds?: number | undefined;
    };

/** Returns the form of a request for a token, and its header `Authorization` if the grant uses one. */
export function grantRequest(grant: Grant, nowMs: number): { form: URLSearchParams; authorization?: string } {
  const form = new URLSearchParams();
  if (grant.scope !== undefined) form.set('scope', grant.scope);
  if (grant.kind === 'jwt-bearer') {
    const { claims, privateKey, keyId, validForSeconds = 120 } = grant;
    const iat = Math.floor(nowMs / 1000);
    form.set('grant_type', 'urn:ietf:params:oauth:grant-type:jwt-bearer');
    form.set('assertion', signJwt({ iat, exp: iat + validForSeconds, ...claims }, privateKey.reveal(), keyId));
    return { form };
  }
  const { clientId, clientSecret, authentication, audience, resource } = grant;
  form.set('grant_type', 'client_credentials');
  if (audience !== undefined) form.set('audience', audience);
  if (resource !== undefined) form.set('resource', resource);
  if (authentication === 'client_secret_post') {
    form.set('client_id', clientId);
    form.set('client_secret', clientSecret.reveal());
    return { form };
  }
  // According to RFC 6749, 2.3.1, id and secret are form-encoded before they become user and password.
  const user = [clientId, clientSecret.reveal()].map((text) => new URLSearchParams({ '': text }).toString().slice(1));
  return { form, authorization: `Basic ${Buffer.from(user.join(':')).toString('base64')}` };
}
