import type { Dispatcher } from 'undici';
import type { Secret } from '../../config/secret.js';
import { type Token, TokenSource } from '../rest/oauth.js';
import type { OAuthKeys, XapiConfig } from './config.js';

/** Provides the header that authorizes requests to the LRS. */
export interface Authorization {
  /** Returns the header `Authorization`. @throws {TokenFailure} if the token endpoint issues no token */
  header(signal: AbortSignal): Promise<string>;
  /** Must be called if the LRS refused the header with 401. @returns whether the next header differs */
  refused(header: string): boolean;
  tryNow(): void;
}

/**
 * Returns pigeonpost's user or client id at the LRS, without secrets. With another id, the LRS counts as another
 * destination.
 */
export function clientOf({ username, oauth }: XapiConfig): string {
  return username ?? oauth?.clientId ?? '';
}

/** Returns the configured secret. It is also the key of the hashes that `markOf` returns. */
export function secretOf({ password, oauth }: XapiConfig): Secret {
  return password ?? oauth!.clientSecret;
}

export function basicAuthorization(username: string, password: Secret): Authorization {
  const header = `Basic ${Buffer.from(`${username}:${password.reveal()}`).toString('base64')}`;
  return { header: () => Promise.resolve(header), refused: () => false, tryNow: () => undefined };
}

/**
 * Returns the authorization with OAuth tokens.
 * @param dispatcher a dispatcher for `tokenUrl` under the sink's network policy
 */
export function oauthAuthorization(
  { tokenUrl, clientId, clientSecret, clientAuthentication: authentication, scope, audience }: OAuthKeys,
  dispatcher: Dispatcher,
  now: () => number,
): Authorization {
  const tokens = new TokenSource({
    tokenUrl: new URL(tokenUrl),
    grant: { kind: 'client-credentials', clientId, clientSecret, authentication, scope, audience },
    dispatcher,
    name: 'the token endpoint of the LRS',
    keys: '"oauth.clientId" and "oauth.clientSecret"',
    now,
  });
  const issued = new Map<string, Token>();
  return {
    async header(signal) {
      const token = await tokens.get(signal);
      const header = `Bearer ${token.secret.reveal()}`;
      if (!issued.has(header)) issued.clear();
      issued.set(header, token);
      return header;
    },
    refused(header) {
      const token = issued.get(header);
      if (token !== undefined) tokens.end(token);
      return true;
    },
    tryNow: () => tokens.tryNow(),
  };
}
