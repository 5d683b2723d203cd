import type { KeyObject } from 'node:crypto';
import { verify } from 'node:crypto';

/** A connected app with the certificate that its assertions are signed by, and the users that may use it. */
export interface ConnectedApp {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly publicKey: KeyObject;
  readonly usernames: readonly string[];
  /** Whom assertions are for: the login host of production or of sandboxes. */
  readonly audience: string;
}

/** Why no token was given: OAuth's `error` and its description. */
export interface TokenRefusal {
  readonly error: string;
  readonly description: string;
}

const MAX_VALIDITY_SECONDS = 180;

/** The sessions of an org: opened by a signed assertion, and ended by time or by an administrator. */
export class Sessions {
  private readonly open = new Map<string, number>();
  private opened = 0;

  constructor(
    private readonly app: ConnectedApp,
    private readonly sessionSeconds: number,
    private readonly now: () => number,
  ) {}

  /**
   * A token for an assertion (RFC 7523). Documented: "OAuth 2.0 JWT Bearer Flow": RS256, `iss` the client id, `sub` the
   * user, `aud` the login host, `exp` in seconds within three minutes.
   */
  login(assertion: string): { readonly token: string } | TokenRefusal {
    const refusal = refusalOf(this.app, assertion, Math.floor(this.now() / 1000));
    return refusal ?? { token: this.openSession() };
  }

  /** A token for the app itself, in the name of the user that it runs as. Documented: "OAuth 2.0 Client Credentials Flow". */
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

  /** Ends all, as when an administrator revokes them. */
  endAll(): void {
    this.open.clear();
  }

  get count(): number {
    return this.opened;
  }
}

function refusalOf(app: ConnectedApp, assertion: string, nowSeconds: number): TokenRefusal | undefined {
  const [head, payload, signature, ...more] = assertion.split('.');
  const header = jsonOf(head);
  const claims = jsonOf(payload);
  if (header === undefined || claims === undefined || signature === undefined || more.length > 0) {
    return { error: 'invalid_grant', description: 'invalid assertion' };
  }
  if (claims.iss !== app.clientId) return { error: 'invalid_client_id', description: 'client identifier invalid' };
  const signed = Buffer.from(`${head}.${payload}`);
  if (header.alg !== 'RS256' || !verify('RSA-SHA256', signed, app.publicKey, Buffer.from(signature, 'base64url'))) {
    return { error: 'invalid_grant', description: 'invalid assertion' };
  }
  if (claims.aud !== app.audience) return { error: 'invalid_grant', description: 'audience is invalid' };
  const { exp } = claims;
  if (typeof exp !== 'number' || exp <= nowSeconds || exp > nowSeconds + MAX_VALIDITY_SECONDS) {
    return { error: 'invalid_grant', description: 'assertion is expired or its expiration is not within 3 minutes' };
  }
  if (typeof claims.sub !== 'string' || !app.usernames.includes(claims.sub)) {
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
