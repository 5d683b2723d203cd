import { createPublicKey, generateKeyPairSync, type KeyObject, type KeyPairKeyObjectResult, verify } from 'node:crypto';
import { type FieldDefinition, standardTypes } from './sobject-type.js';
import { Org } from './org.js';
import {
  type AssignmentRule,
  type DuplicateRule,
  leadsToQueue,
  standardDuplicateRules,
  type ValidationRule,
  RecordFaults,
} from './record-rules.js';

export interface SalesforceOptions {
  /**
   * `freshAccount`, the default, has the standard duplicate rules, an active assignment rule for leads, and an external
   * client app, as a new org does. `noRules` has no rules and a connected app. Given rules and a given `app` replace
   * those of the profile.
   */
  readonly profile?: 'freshAccount' | 'noRules';
  /**
   * The kind of the app, which decides about the audience of assertions: an `external` client app accepts only the
   * org's My Domain (the host of `instanceUrl`), a `connected` app only the login host.
   */
  readonly app?: 'external' | 'connected';
  readonly clientId?: string;
  /**
   * PEM of the certificate or the public key. Without it, the stand-in creates a key pair and shows the private key.
   */
  readonly publicKey?: string;
  /** The host to send requests to; by default, the stand-in itself. */
  readonly instanceUrl?: string;
  readonly sessionSeconds?: number;
  /** Custom fields by object: `{ Lead: [field('Engagement_Id__c', { externalId: true, unique: true })] }`. */
  readonly fields?: Readonly<Record<string, readonly FieldDefinition[]>>;
  readonly validationRules?: readonly ValidationRule[];
  readonly duplicateRules?: readonly DuplicateRule[];
  readonly assignmentRules?: readonly AssignmentRule[];
  /** Objects that the user has no access to. They are answered as if they did not exist. */
  readonly withheldObjects?: readonly string[];
  /** Simulates a sandbox or scratch org, whose login host is test.salesforce.com. */
  readonly sandbox?: boolean;
  /** The app's secret for the client credentials flow; `salesforce-secret` by default. */
  readonly clientSecret?: string;
  /** Maximum number of requests in any 24 hours; 15,000 by default. */
  readonly dailyRequests?: number;
  /**
   * Whether an unreadable record of a collection (for example, with an unknown field) is refused on its own, or the
   * whole request is refused.
   */
  readonly unreadableRecord?: 'refuses-itself' | 'refuses-request';
  /** Number of records on a page of a query's answer; 2,000 by default. */
  readonly queryPage?: number;
  readonly now?: () => number;
}

/** The org behind the API: records, sessions, limits and rules. */
export class SalesforceOrg {
  readonly now: () => number;
  readonly clientId: string;
  readonly username = 'integration@example.com';
  /** The key to sign assertions with, if the stand-in created it. */
  readonly privateKey: string | undefined;
  readonly org: Org;
  readonly sessions: Sessions;
  readonly recordFaults = new RecordFaults();
  readonly withheldObjects: Set<string>;
  /** Denied permissions of the user, by object; others are granted. */
  readonly permissions: Record<string, { createable?: boolean; updateable?: boolean; deletable?: boolean }> = {};
  readonly clientSecret: string;
  readonly dailyRequests: number;
  readonly unreadableRecord: 'refuses-itself' | 'refuses-request';
  readonly queryPage: number;
  /** Instants of the requests that count towards the limit. */
  private requests: number[] = [];

  constructor(options: SalesforceOptions) {
    this.now = options.now ?? Date.now;
    this.clientId = options.clientId ?? 'salesforce-client';
    const own = options.publicKey === undefined ? ownKeyPair() : undefined;
    this.privateKey = own?.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const publicKey: KeyObject = own?.publicKey ?? createPublicKey(options.publicKey!);
    this.clientSecret = options.clientSecret ?? 'salesforce-secret';
    this.withheldObjects = new Set(options.withheldObjects);
    const isFresh = options.profile !== 'noRules';
    this.sessions = new Sessions(
      {
        clientId: this.clientId,
        clientSecret: this.clientSecret,
        username: this.username,
        publicKey,
        kind: options.app ?? (isFresh ? 'external' : 'connected'),
        loginHost: options.sandbox === true ? 'https://test.salesforce.com' : 'https://login.salesforce.com',
      },
      options.sessionSeconds ?? 7200,
      this.now,
    );
    this.org = new Org(
      standardTypes(options.fields ?? {}),
      options.validationRules ?? [],
      options.duplicateRules ?? (isFresh ? standardDuplicateRules : []),
      options.assignmentRules ?? (isFresh ? [leadsToQueue] : []),
      this.now,
    );
    this.dailyRequests = options.dailyRequests ?? 15_000;
    this.unreadableRecord = options.unreadableRecord ?? 'refuses-itself';
    this.queryPage = options.queryPage ?? 2000;
  }

  /** Counts one request; returns false if the limit of 24 hours is used up. */
  takeRequest(): boolean {
    if (this.usedRequests() >= this.dailyRequests) return false;
    this.requests.push(this.now());
    return true;
  }

  usedRequests(): number {
    this.requests = this.requests.filter((at) => at > this.now() - 86_400_000);
    return this.requests.length;
  }
}

/** An app: the key that verifies its assertions, and the user that may use it. */
interface App {
  readonly kind: 'external' | 'connected';
  readonly clientId: string;
  readonly clientSecret: string;
  readonly publicKey: KeyObject;
  readonly username: string;
  /** The login host of production or of sandboxes. */
  readonly loginHost: string;
}

/** The reason why no token was issued: OAuth's `error` and its description. */
interface TokenRefusal {
  readonly error: string;
  readonly description: string;
}

const MAX_VALIDITY_SECONDS = 180;
const LOGIN_HOSTS: ReadonlySet<unknown> = new Set(['https://login.salesforce.com', 'https://test.salesforce.com']);

/** The sessions of an org. A signed assertion opens a session; time or an administrator ends it. */
class Sessions {
  private readonly open = new Map<string, number>();
  private opened = 0;

  constructor(
    private readonly app: App,
    private readonly sessionSeconds: number,
    private readonly now: () => number,
  ) {}

  /**
   * Issues a token for an assertion (RFC 7523). Documented, "OAuth 2.0 JWT Bearer Flow": the signature is RS256, `iss`
   * is the client id, `sub` the user, `aud` the login host or the org's My Domain, and `exp` at most three minutes
   * ahead, in seconds.
   * @param myDomain scheme and host of the org
   */
  login(assertion: string, myDomain: string): { readonly token: string } | TokenRefusal {
    const refusal = refusalOf(this.app, assertion, myDomain, Math.floor(this.now() / 1000));
    return refusal ?? { token: this.openSession() };
  }

  /** Issues a token for the app's own user. Documented: "OAuth 2.0 Client Credentials Flow". */
  loginAsApp(clientId: string, clientSecret: string): { readonly token: string } | TokenRefusal {
    if (clientId !== this.app.clientId) return { error: 'invalid_client_id', description: 'client identifier invalid' };
    if (clientSecret !== this.app.clientSecret)
      return { error: 'invalid_client', description: 'invalid client credentials' };
    return { token: this.openSession() };
  }

  private openSession(): string {
    this.opened += 1;
    const token = `00D8d0000000001!AQ${String(this.opened).padStart(12, '0')}`;
    this.open.set(token, this.now() + this.sessionSeconds * 1000);
    return token;
  }

  has(token: string): boolean {
    return (this.open.get(token) ?? 0) > this.now();
  }

  /** Ends all sessions, as when an administrator revokes them. */
  endAll(): void {
    this.open.clear();
  }

  get count(): number {
    return this.opened;
  }
}

function refusalOf(app: App, assertion: string, myDomain: string, nowSeconds: number): TokenRefusal | undefined {
  const [head, payload, signature, ...more] = assertion.split('.');
  const header = jsonOf(head);
  const claims = jsonOf(payload);
  if (header === undefined || claims === undefined || signature === undefined || more.length > 0) {
    return { error: 'invalid_grant', description: 'invalid assertion' };
  }
  if (claims.iss !== app.clientId) return { error: 'invalid_client_id', description: 'client identifier invalid' };
  if (app.kind === 'external' && LOGIN_HOSTS.has(claims.aud)) {
    return { error: 'app_not_found', description: 'External client app is not installed in this org' };
  }
  const signed = Buffer.from(`${head}.${payload}`);
  if (header.alg !== 'RS256' || !verify('RSA-SHA256', signed, app.publicKey, Buffer.from(signature, 'base64url'))) {
    return { error: 'invalid_grant', description: 'invalid assertion' };
  }
  if (claims.aud !== (app.kind === 'external' ? myDomain : app.loginHost)) {
    return { error: 'invalid_grant', description: 'audience is invalid' };
  }
  const { exp } = claims;
  if (typeof exp !== 'number' || exp <= nowSeconds || exp > nowSeconds + MAX_VALIDITY_SECONDS) {
    return { error: 'invalid_grant', description: 'assertion is expired or its expiration is not within 3 minutes' };
  }
  if (claims.sub !== app.username) {
    return { error: 'invalid_app_access', description: 'user is not admin approved to access this app' };
  }
  return undefined;
}

function jsonOf(part: string | undefined): Record<string, unknown> | undefined {
  try {
    const json: unknown = JSON.parse(Buffer.from(part ?? '', 'base64url').toString('utf8'));
    return typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

let pair: KeyPairKeyObjectResult | undefined;

/** Returns a key pair for stand-ins without a given key. Each process creates only one, because it may take a second. */
export function ownKeyPair(): KeyPairKeyObjectResult {
  pair ??= generateKeyPairSync('rsa', { modulusLength: 2048 });
  return pair;
}
