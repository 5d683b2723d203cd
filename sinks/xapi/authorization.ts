import type { Dispatcher } from 'undici';
import type { Secret } from '../../config/secret.js';
import { type Token, TokenSource } from '../rest/oauth.js';
import type { OAuthKeys, XapiConfig } from './config.js';

/** Credentials of requests to the LRS. */
export interface Authorization {
  /** @throws {TokenFailure} when the token endpoint issues no token */
  header(signal: AbortSignal): Promise<string>;
  /** Call when the LRS refused the header with 401. @returns whether the next header differs */
  refused(header: string): boolean;
  tryNow(): void;
}

/** Returns pigeonpost's identity at the LRS, without secrets. Another identity is another destination. */
export function clientOf({ username, oauth }: XapiConfig): string {
  return username ?? oauth?.clientId ?? '';
}

/** Returns the configured secret, which also keys the marks of statements. */
export function secretOf({ password, oauth }: XapiConfig): Secret {
  return password ?? oauth!.clientSecret;
}

export function basicAuthorization(username: string, password: Secret): Authorization {
  const header = `Basic ${Buffer.from(`${username}:${password.reveal()}`).toString('base64')}`;
  return { header: () => Promise.resolve(header), refused: () => false, tryNow: () => undefined };
}

/** @param dispatcher made for `tokenUrl`, with the sink's network policy */
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
