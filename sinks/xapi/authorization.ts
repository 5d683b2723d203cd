import type { Dispatcher } from 'undici';
import type { Secret } from '../../config/secret.js';
import { type Token, TokenFailure, TokenSource } from '../rest/oauth.js';
import type { OAuthKeys, XapiConfig } from './config.js';

/** How requests to the LRS prove who sends them. */
export interface Authorization {
  /** @throws {TokenFailure} where the token endpoint issues none */
  header(signal: AbortSignal): Promise<string>;
  /** The LRS refused the header with 401. @returns whether the next one is another */
  refused(header: string): boolean;
  tryNow(): void;
}

/** Says who pigeonpost is at the LRS, without secrets: another one is another destination. */
export function clientOf({ username, oauth }: XapiConfig): string {
  return username ?? oauth?.clientId ?? '';
}

/** The secret of the configuration, which also keys the marks of what stands at the LRS. */
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

export { TokenFailure };
