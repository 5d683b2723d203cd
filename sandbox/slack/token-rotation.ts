import { SlackRefusal } from './slack-call.js';
import type { SlackWorkspace } from './slack-workspace.js';

/** Lifetime of an access token: 12 hours, as in `expires_in`. */
const TOKEN_LIFE_SECONDS = 43_200;
/** Maximum number of valid access tokens per installation. Another one revokes the oldest. */
const MAX_LIVE_TOKENS = 2;

/** An app with token rotation, with the values that Slack's pages show. */
export interface RotatingApp {
  readonly clientId: string;
  readonly clientSecret: string;
  /** The first refresh token, which the page "OAuth & Permissions" shows after the installation. */
  readonly refreshToken: string;
  readonly scopes: readonly string[];
}

/**
 * One installation of an app with token rotation (https://docs.slack.dev/authentication/using-token-rotation). A
 * refresh token works once, and only the answer contains its successor. A used token still works for "a short grace
 * period", whose length Slack does not document. The stand-in has none unless a test sets `graceMs`.
 */
export class TokenRotation {
  /** Every issued refresh token with the instant of its use. */
  readonly #refreshTokens = new Map<string, number | undefined>();
  #live: { readonly token: string; readonly expiresAtMs: number }[] = [];
  #issued = 0;
  /** Grace period of a used refresh token. */
  graceMs = 0;

  constructor(
    readonly app: RotatingApp,
    private readonly workspace: SlackWorkspace,
  ) {
    this.#refreshTokens.set(app.refreshToken, undefined);
  }

  /** Number of issued pairs of tokens. */
  get issued(): number {
    return this.#issued;
  }

  /** Valid access tokens, oldest first. */
  get live(): readonly string[] {
    const now = this.workspace.now();
    return this.#live.filter(({ expiresAtMs }) => expiresAtMs > now).map(({ token }) => token);
  }

  /** Revokes the installation: all of its tokens stop working. */
  revoke(): void {
    for (const { token } of this.#live) this.workspace.tokens.get(token)!.failure = 'token_revoked';
    for (const token of this.#refreshTokens.keys()) this.#refreshTokens.set(token, Number.NEGATIVE_INFINITY);
  }

  /** Returns the reason why an access token is refused; undefined if it is valid or unknown. */
  failureOf(token: string): string | undefined {
    const known = this.#live.find((each) => each.token === token);
    return known !== undefined && known.expiresAtMs <= this.workspace.now() ? 'token_expired' : undefined;
  }

  /** Handles `oauth.v2.access` with `grant_type=refresh_token`. */
  refresh(args: Readonly<Record<string, unknown>>): object {
    const { clientId, clientSecret, scopes } = this.app;
    if (args['client_id'] !== clientId) throw new SlackRefusal('invalid_client_id');
    if (args['client_secret'] !== clientSecret) throw new SlackRefusal('bad_client_secret');
    if (args['grant_type'] !== 'refresh_token') throw new SlackRefusal('invalid_grant_type');
    const sent = String(args['refresh_token']);
    const now = this.workspace.now();
    if (!this.#refreshTokens.has(sent)) throw new SlackRefusal('invalid_refresh_token');
    const usedAtMs = this.#refreshTokens.get(sent);
    if (usedAtMs !== undefined && now - usedAtMs >= this.graceMs) throw new SlackRefusal('invalid_refresh_token');
    this.#refreshTokens.set(sent, usedAtMs ?? now);
    return { ...this.#issue(now), token_type: 'bot', scope: scopes.join(','), bot_user_id: this.workspace.botUserId };
  }

  #issue(now: number): { access_token: string; refresh_token: string; expires_in: number } {
    this.#issued += 1;
    const token = `xoxe.xoxb-1-double-${this.#issued}`;
    const next = `xoxe-1-double-${this.#issued}`;
    this.#refreshTokens.set(next, undefined);
    this.workspace.tokens.set(token, { scopes: this.app.scopes });
    const live = this.#live.filter(({ expiresAtMs }) => expiresAtMs > now);
    while (live.length >= MAX_LIVE_TOKENS) this.workspace.tokens.get(live.shift()!.token)!.failure = 'token_revoked';
    this.#live = [...this.#live, { token, expiresAtMs: now + TOKEN_LIFE_SECONDS * 1000 }];
    return { access_token: token, refresh_token: next, expires_in: TOKEN_LIFE_SECONDS };
  }
}
