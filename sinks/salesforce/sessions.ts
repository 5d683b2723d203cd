import { CutShort } from '../network/within-deadline.js';
import type { Grant } from '../rest/grants.js';
import { type Token, TokenFailure, type TokenRequest } from '../rest/request-token.js';
import { TokenSource } from '../rest/token-source.js';
import type { RestClient } from '../rest/rest-client.js';
import type { SalesforceConfig } from './config.js';
import { CallFailure, CallsEnded } from './operation.js';

export interface Session {
  readonly token: Token;
  /** Scheme and host of the org, without a slash at the end. */
  readonly instanceUrl: string;
}

/** The logins with one grant. */
interface Login {
  readonly source: TokenSource;
  /** Whether the last refusal was about the audience, so that a login with another audience may succeed. */
  isAudienceRefused: boolean;
}

/**
 * Holds the session that all lanes use. Salesforce does not report when a session expires, so it is used until
 * Salesforce refuses it.
 */
export class Sessions {
  /** In the order in which they are tried. The first one is the last that succeeded. */
  #logins: readonly Login[];

  readonly #config: Pick<SalesforceConfig, 'loginUrl' | 'baseUrl'>;

  constructor(config: SalesforceConfig, rest: RestClient, now: () => number) {
    this.#config = config;
    const common = {
      tokenUrl: tokenUrlOf(config),
      rest,
      name: 'Salesforce',
      keys:
        config.clientSecret === undefined ? '"clientId", "username" and "privateKey"' : '"clientId" and "clientSecret"',
      now,
    };
    this.#logins = grantsOf(config).map((grant) => loginWith({ ...common, grant }));
  }

  /**
   * Returns the session, and logs in if there is none.
   * @throws {CallFailure} if the login fails
   * @throws {CallsEnded} if the signal was aborted
   */
  async get(signal: AbortSignal): Promise<Session> {
    let token: Token;
    try {
      token = await this.#token(signal);
    } catch (error) {
      if (error instanceof TokenFailure) throw new CallFailure(error.result);
      if (error instanceof CutShort) throw new CallsEnded();
      throw error;
    }
    const instanceUrl = originOf(token.otherFields.instance_url, this.#config);
    if (instanceUrl !== undefined) return { token, instanceUrl };
    this.end({ token });
    throw new CallFailure({
      kind: 'retry',
      detail: 'Salesforce answered the login without an address of the org that belongs to Salesforce',
    });
  }

  /**
   * Ends the session, so that the next call logs in again. Does nothing if another call has already replaced the
   * session.
   */
  end({ token }: Pick<Session, 'token'>): void {
    for (const { source } of this.#logins) source.end(token);
  }

  /** Ends the wait that Salesforce requested for logins. */
  tryNow(): void {
    for (const { source } of this.#logins) source.tryNow();
  }

  /**
   * Returns the token of the first login that succeeds.
   * @throws {TokenFailure} with the reason that the operator can remove, if Salesforce refuses all logins
   */
  async #token(signal: AbortSignal): Promise<Token> {
    const refusals: { readonly login: Login; readonly failure: TokenFailure }[] = [];
    for (const login of this.#logins) {
      try {
        const token = await login.source.get(signal);
        this.#logins = [login, ...this.#logins.filter((other) => other !== login)];
        return token;
      } catch (error) {
        if (!(error instanceof TokenFailure) || error.result.kind !== 'pause') throw error;
        refusals.push({ login, failure: error });
      }
    }
    throw (refusals.find(({ login }) => !login.isAudienceRefused) ?? refusals[0])!.failure;
  }
}

function loginWith(options: Omit<TokenRequest, 'advise'>): Login {
  const login: Login = {
    isAudienceRefused: false,
    source: new TokenSource({
      ...options,
      advise({ error, description }) {
        const said = error === 'app_not_found' ? 'external client app is not installed' : description;
        const found = advice.find(([known]) => known.test(said));
        login.isAudienceRefused = found?.[2] === 'audience';
        return found?.[1];
      },
    }),
  };
  return login;
}

export function tokenUrlOf({ baseUrl, loginUrl }: Pick<SalesforceConfig, 'baseUrl' | 'loginUrl'>): URL {
  return new URL(`${baseUrl ?? loginUrl}/services/oauth2/token`);
}

/**
 * Returns the grants to try, in order. Source: Salesforce Help, "OAuth 2.0 JWT Bearer Flow for Server-to-Server
 * Integration" and "OAuth 2.0 Client Credentials Flow for Server-to-Server Integration".
 */
function grantsOf({ clientId, clientSecret, username, privateKey, loginUrl }: SalesforceConfig): Grant[] {
  if (clientSecret !== undefined) {
    return [{ kind: 'client-credentials', clientId, clientSecret, authentication: 'client_secret_post' }];
  }
  return audiencesOf(loginUrl).map((aud) => ({
    kind: 'jwt-bearer',
    privateKey: privateKey!,
    claims: { iss: clientId, sub: username, aud },
  }));
}

/**
 * Matches the hosts of sandboxes and scratch orgs, which log in at test.salesforce.com. The hosts of older sandboxes
 * have two hyphens before the sandbox's name.
 */
const testOrg = /(?:\.sandbox|\.scratch|--[^.]+(?:\.cs\d+)?)\.my\.salesforce\.com$/;

/**
 * Returns the audiences of an assertion, in the order in which they are tried. An external client app accepts only the
 * org's My Domain. A connected app accepts the login host of production, or that of sandboxes and scratch orgs. For a
 * host that does not belong to Salesforce, the audience is the host itself. The README says which of this is
 * documented.
 */
export function audiencesOf(loginUrl: string): readonly string[] {
  const { hostname, origin } = new URL(loginUrl);
  if (hostname !== 'salesforce.com' && !hostname.endsWith('.salesforce.com')) return [loginUrl];
  const isTest = hostname === 'test.salesforce.com' || testOrg.test(hostname);
  const loginHost = isTest ? 'https://test.salesforce.com' : 'https://login.salesforce.com';
  return origin === loginHost ? [loginHost] : [origin, loginHost];
}

/** Advice for a refused login, by the text of Salesforce's message; `audience` marks refusals of the audience. */
const advice: readonly (readonly [RegExp, string, 'audience'?])[] = [
  [
    /external client app is not installed/i,
    'set "loginUrl" to the My Domain of the org (https://NAME.my.salesforce.com), and create the app in this org',
    'audience',
  ],
  [
    /hasn.t approved this consumer|not admin approved/i,
    "pre-authorize the user's profile or permission set for the app",
  ],
  [
    /audience/i,
    'set "loginUrl" to https://test.salesforce.com for a sandbox or scratch org, or to the My Domain of the org',
    'audience',
  ],
  [/invalid assertion|signature/i, 'compare "privateKey" with the certificate of the app'],
  [
    /client credentials user|no .*user.* enabled/i,
    'in the policies of the app, choose the user that the Client Credentials Flow runs as',
  ],
  [/on this domain/i, 'set "loginUrl" to the My Domain of the org'],
  [/client credentials|client secret/i, 'compare "clientSecret" with the consumer secret of the app'],
  [/client identifier/i, 'check "clientId"; a new app is available only after a few minutes'],
  [/inactive user|user.*locked/i, 'activate the user'],
  [/\bexpired|\bexp\b|expiration/i, 'correct the clock of this machine'],
];

/** Domains of Salesforce's orgs, also for governments and for China. */
const orgDomains =
  /(?:^|\.)(?:salesforce\.com|force\.com|salesforce\.mil|cloudforce\.com|sfcrmproducts\.cn|crmforce\.mil)$/;

/**
 * Returns the origin of an org. It receives personal data and the token, so it must belong to Salesforce or be the
 * configured address of the login.
 */
export function originOf(
  found: unknown,
  { loginUrl, baseUrl }: Pick<SalesforceConfig, 'loginUrl' | 'baseUrl'>,
): string | undefined {
  if (typeof found !== 'string' || !URL.canParse(found)) return undefined;
  const { protocol, origin, hostname } = new URL(found);
  const isOwn = orgDomains.test(hostname) || hostname === new URL(loginUrl).hostname;
  if (!isOwn && baseUrl === undefined) return undefined; // with "baseUrl", requests go there instead
  // Personal data goes to the host that Salesforce names, so the connection must use TLS. Tests reach their fake org
  // through "baseUrl".
  return protocol === 'https:' || protocol === 'http:' ? origin.replace(/^http:/, 'https:') : undefined;
}
