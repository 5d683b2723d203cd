import type { Dispatcher } from 'undici';
import { CutShort } from '../network/within-deadline.js';
import { type Grant, type Token, TokenFailure, TokenSource } from '../rest/oauth.js';
import { CallFailure, CallsEnded } from './operation.js';
import type { SalesforceConfig } from './config.js';

export interface Session {
  readonly token: Token;
  /** Scheme and host of the org, without a slash at its end. */
  readonly instanceUrl: string;
}

/**
 * The session in which calls are made, shared by all lanes. Salesforce does not say how long one lasts: it is used until
 * Salesforce refuses it.
 */
export class Sessions {
  readonly #source: TokenSource;

  constructor(config: SalesforceConfig, dispatcher: Dispatcher, now: () => number) {
    this.#source = new TokenSource({
      tokenUrl: tokenUrlOf(config),
      grant: grantOf(config),
      dispatcher,
      name: 'Salesforce',
      keys:
        config.clientSecret === undefined ? '"clientId", "username" and "privateKey"' : '"clientId" and "clientSecret"',
      advise: ({ description }) => advice.find(([known]) => known.test(description))?.[1],
      now,
    });
  }

  /** @throws {CallFailure} when it cannot log in @throws {CallsEnded} when the signal was aborted */
  async get(signal: AbortSignal): Promise<Session> {
    let token: Token;
    try {
      token = await this.#source.get(signal);
    } catch (error) {
      if (error instanceof TokenFailure) throw new CallFailure(error.result);
      if (error instanceof CutShort) throw new CallsEnded();
      throw error;
    }
    const instanceUrl = originOf(token.said.instance_url);
    if (instanceUrl !== undefined) return { token, instanceUrl };
    this.#source.end(token);
    throw new CallFailure({ kind: 'retry', detail: 'Salesforce answered the login without the address of the org' });
  }

  /** The next call logs in again, unless another has already. */
  end({ token }: Session): void {
    this.#source.end(token);
  }

  /** Forgets how long Salesforce asked to wait. */
  tryNow(): void {
    this.#source.tryNow();
  }
}

export function tokenUrlOf({ baseUrl, loginUrl }: Pick<SalesforceConfig, 'baseUrl' | 'loginUrl'>): URL {
  return new URL(`${baseUrl ?? loginUrl}/services/oauth2/token`);
}

/**
 * Source: Salesforce Help, "OAuth 2.0 JWT Bearer Flow for Server-to-Server Integration" and "OAuth 2.0 Client Credentials
 * Flow for Server-to-Server Integration".
 */
function grantOf({ clientId, clientSecret, username, privateKey, loginUrl }: SalesforceConfig): Grant {
  if (clientSecret !== undefined) {
    return { kind: 'client-credentials', clientId, clientSecret, authentication: 'client_secret_post' };
  }
  const claims = { iss: clientId, sub: username, aud: audienceOf(loginUrl) };
  return { kind: 'jwt-bearer', privateKey: privateKey!, claims };
}

/** Labels below `my.salesforce.com` of orgs that log in at test.salesforce.com. A sandbox of old has its name after two hyphens. */
const testOrg = /(?:\.sandbox|\.scratch|--[^.]+(?:\.cs\d+)?)\.my\.salesforce\.com$/;

/**
 * Returns whom an assertion is for: the login host of production, or that of sandboxes and scratch orgs; never a My
 * Domain of Salesforce. A site of another domain is its own audience.
 */
export function audienceOf(loginUrl: string): string {
  const { hostname } = new URL(loginUrl);
  if (hostname !== 'salesforce.com' && !hostname.endsWith('.salesforce.com')) return loginUrl;
  const isTest = hostname === 'test.salesforce.com' || testOrg.test(hostname);
  return isTest ? 'https://test.salesforce.com' : 'https://login.salesforce.com';
}

/** What a person does about refusals that Salesforce words in its own way. */
const advice: readonly (readonly [RegExp, string])[] = [
  [
    /hasn.t approved this consumer|not admin approved/i,
    "pre-authorize the user's profile or permission set for the app",
  ],
  [
    /audience/i,
    'set "loginUrl" to https://test.salesforce.com for a sandbox or scratch org, or to the My Domain of the org',
  ],
  [/invalid assertion|signature/i, 'compare "privateKey" with the certificate of the app'],
  [
    /client credentials user|no .*user.* enabled/i,
    'choose the user to run as in the policies of the app (Client Credentials Flow)',
  ],
  [/on this domain/i, 'set "loginUrl" to the My Domain of the org'],
  [/client credentials|client secret/i, 'compare "clientSecret" with the consumer secret of the app'],
  [/client identifier/i, 'check "clientId"; a new app takes some minutes to be known'],
  [/inactive user|user.*locked/i, 'activate the user'],
  [/\bexpired|\bexp\b|expiration/i, 'set the clock of this machine'],
];

function originOf(found: unknown): string | undefined {
  if (typeof found !== 'string' || !URL.canParse(found)) return undefined;
  const { protocol, origin } = new URL(found);
  // What it says is where personal data goes: never without TLS. Test doubles are reached through "baseUrl".
  return protocol === 'https:' || protocol === 'http:' ? origin.replace(/^http:/, 'https:') : undefined;
}
