import { Secret } from '../../config/secret.js';
import { callSlack, type SlackApi, type Token, type TokenSource } from './client.js';
import { classifyReply, type Verdict } from './classify.js';
import type { KeptCredential, KeptCredentials } from '../sink.js';
import type { SlackRotation } from './config.js';

/** The token of an app without rotation. */
export function fixedToken(token: Secret): TokenSource {
  return {
    current: () => Promise.resolve({ token }),
    after: () => Promise.resolve(undefined),
    advice: (code) =>
      code === 'token_expired'
        ? 'the app rotates its tokens. Set "rotation" in place of "token", as docs/sinks/slack.md shows'
        : 'install the app in its workspace again and set "token" to its bot token',
    trouble: () => (token.reveal().startsWith('xoxe.') ? expiring : undefined),
    settled: () => Promise.resolve(),
  };
}

const expiring =
  'the token expires 12 hours after Slack issued it, because the app rotates its tokens: set "rotation" in place of "token"';

/** The pair of tokens that the ledger keeps. */
interface Grant {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Unix time in ms. */
  readonly expiresAtMs: number;
  /** Time from issue to expiry. */
  readonly lifetimeMs: number;
}

/**
 * A token is renewed when a third of its lifetime is left, at most 4 hours of the documented 12. Slack accepts two access tokens of an
 * installation at the same time, so the old token works until it expires. If the answer with the new token is lost,
 * calls therefore still pass for hours, in which an operator can act.
 */
const MAX_RENEW_BEFORE_MS = 4 * 3_600_000;
/** A token is not used during this time before its expiry, because the call could arrive too late. */
const TOO_LATE_MS = 60_000;
/** Longer than an exchange can take, so that no second process starts an exchange while the first is in progress. */
const CLAIM_MS = 90_000;
/** Wait while another process renews the token, and after a renewal that failed temporarily. */
const SOON_MS = 5_000;
/** Wait after Slack refused a renewal; by then, an operator may have fixed the app. */
const REFUSED_MS = 10 * 60_000;
const METHOD = 'oauth.v2.access';

/**
 * Provides the tokens of an app with rotation. Slack replaces the refresh token at each use and returns the next one
 * only in that answer, so pigeonpost stores the pair before it uses the access token. One process at a time exchanges
 * tokens, under a claim in the ledger. The other processes read what it stored. Source: docs.slack.dev, "Using token
 * rotation". Decision 0076 describes which failures lose the tokens.
 */
export class RotatingTokens implements TokenSource {
  readonly #api: SlackApi;
  readonly #rotation: SlackRotation;
  readonly #kept: KeptCredentials | undefined;
  #known: { readonly grant: Grant; readonly version: number } | undefined;
  /** A pair that could not be stored, because the ledger did not answer. It is stored before the next exchange. */
  #unstored: { readonly grant: Grant; readonly version: number } | undefined;
  #failed: { readonly verdict: Exclude<Verdict, { kind: 'ok' }>; readonly untilMs: number } | undefined;
  #renewing: Promise<void> | undefined;

  constructor(api: SlackApi, rotation: SlackRotation, kept: KeptCredentials | undefined) {
    this.#api = api;
    this.#rotation = rotation;
    this.#kept = kept;
  }

  async current(): Promise<Token> {
    if (this.#isDue() || this.#unstored !== undefined) await this.#renew(false);
    if (this.#leftMs() > TOO_LATE_MS) return { token: new Secret(this.#known!.grant.accessToken) };
    return { refused: this.#failed?.verdict ?? notYet };
  }

  /**
   * Returns another token after Slack refused one that should still work. Another process may have stored a newer one,
   * or the token was revoked.
   */
  async after(refused: Secret): Promise<Token | undefined> {
    if (this.#known?.grant.accessToken === refused.reveal()) await this.#renew(true);
    const token = this.#known?.grant.accessToken;
    if (token !== undefined && token !== refused.reveal()) return { token: new Secret(token) };
    return this.#failed === undefined ? undefined : { refused: this.#failed.verdict };
  }

  tryNow(): void {
    this.#failed = undefined;
  }

  async settled(): Promise<void> {
    await this.#renewing;
  }

  advice(): string {
    return usedUp;
  }

  trouble(): string | undefined {
    const verdict = this.#failed?.verdict;
    if (verdict?.kind !== 'credential') return undefined;
    const hours = Math.floor(this.#leftMs() / 3_600_000);
    return `Slack accepts the token for ${hours} more hours and does not renew it: ${verdict.detail}`;
  }

  #leftMs(): number {
    return this.#known === undefined ? 0 : this.#known.grant.expiresAtMs - this.#nowMs();
  }

  #isDue(): boolean {
    const lifetimeMs = this.#known?.grant.lifetimeMs ?? 0;
    return this.#leftMs() <= Math.min(lifetimeMs / 3, MAX_RENEW_BEFORE_MS);
  }

  async #renew(isRefused: boolean): Promise<void> {
    if (this.#failed !== undefined && this.#nowMs() < this.#failed.untilMs && !isRefused) return;
    this.#renewing ??= this.#renewOnce(isRefused).finally(() => (this.#renewing = undefined));
    await this.#renewing;
  }

  async #renewOnce(isRefused: boolean): Promise<void> {
    try {
      this.#failed = undefined;
      await (this.#unstored === undefined ? this.#takeOrExchange(isRefused) : this.#store(this.#unstored));
    } catch (error) {
      // The ledger failed. This process continues to use the token that it knows.
      const kind = error instanceof Error ? error.name : 'error';
      this.#fail(
        { kind: 'later', afterMs: SOON_MS, detail: `the ledger did not give the Slack token (${kind})` },
        SOON_MS,
      );
    }
  }

  async #takeOrExchange(isRefused: boolean): Promise<void> {
    const kept = this.#kept;
    const name = this.#name();
    if (kept === undefined) return this.#fail(notHere, REFUSED_MS);
    if (this.#adopt(await kept.read(name), isRefused)) return;
    const claimed = await kept.claim(name, CLAIM_MS);
    if (claimed === undefined) return this.#fail(notYet, SOON_MS);
    if (this.#adopt(claimed, isRefused)) return await kept.release(name);
    const exchanged = await this.#exchange(grantOf(claimed)?.refreshToken ?? this.#rotation.refreshToken.reveal());
    if ('grant' in exchanged) return await this.#store({ grant: exchanged.grant, version: claimed.version });
    await kept.release(name);
    const forMs = exchanged.verdict.kind === 'credential' ? REFUSED_MS : SOON_MS;
    this.#fail(exchanged.verdict, forMs);
  }

  /** @returns whether this process now uses a newer pair, which another process stored */
  #adopt(found: KeptCredential | undefined, isRefused: boolean): boolean {
    const grant = found === undefined ? undefined : grantOf(found);
    if (grant === undefined || found!.version === this.#known?.version) return false;
    this.#known = { grant, version: found!.version };
    return isRefused || !this.#isDue();
  }

  async #store(exchanged: { readonly grant: Grant; readonly version: number }): Promise<void> {
    this.#unstored = exchanged;
    this.#known = { grant: exchanged.grant, version: exchanged.version + 1 };
    const isStored = await this.#kept!.replace(this.#name(), exchanged.version, JSON.stringify(exchanged.grant));
    this.#unstored = undefined;
    if (isStored) return;
    // Either another process took the claim while this one was paused, or this one stored the pair earlier and the
    // answer was lost.
    this.#known = undefined;
    this.#adopt(await this.#kept!.read(this.#name()), true);
  }

  /**
   * Exchanges the refresh token for a new pair. It continues if its caller is aborted, because the refresh token may
   * already be used up.
   */
  async #exchange(
    refreshToken: string,
  ): Promise<{ readonly grant: Grant } | { readonly verdict: Exclude<Verdict, { kind: 'ok' }> }> {
    const { clientId, clientSecret } = this.#rotation;
    const args = {
      client_id: clientId,
      client_secret: clientSecret.reveal(),
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
    };
    const reply = await callSlack(this.#api, METHOD, args, new AbortController().signal);
    const verdict = classifyReply(reply, METHOD);
    if (verdict.kind === 'refused') return { verdict: refusedRenewal(verdict) };
    if (verdict.kind !== 'ok') return { verdict };
    const { access_token: accessToken, refresh_token: next, expires_in: seconds } = verdict.body;
    if (typeof accessToken !== 'string' || typeof next !== 'string' || typeof seconds !== 'number') {
      return {
        verdict: refusedRenewal({ code: 'no_refresh_token', detail: `${verdict.detail}, without a pair of tokens` }),
      };
    }
    const lifetimeMs = seconds * 1000;
    return { grant: { accessToken, refreshToken: next, expiresAtMs: this.#nowMs() + lifetimeMs, lifetimeMs } };
  }

  #fail(verdict: Exclude<Verdict, { kind: 'ok' }>, forMs: number): void {
    this.#failed = { verdict, untilMs: this.#nowMs() + forMs };
  }

  /**
   * Returns the time by the ledger's clock, so that a process with a wrong clock does not misjudge when a shared token
   * expires.
   */
  #nowMs(): number {
    return this.#kept?.nowMs() ?? this.#api.wallNow();
  }

  /**
   * Returns the key under which the ledger stores the pair. It contains the configured refresh token, so that a new one
   * in the configuration starts a new chain of tokens.
   */
  #name(): string {
    const { clientId, refreshToken } = this.#rotation;
    return JSON.stringify(['slack', this.#api.baseUrl, clientId, refreshToken.reveal()]);
  }
}

const notYet = { kind: 'later', afterMs: SOON_MS, detail: 'another process is renewing the Slack token' } as const;

/** The verdict in a process without a ledger. It must not exchange tokens, because it could not store them. */
const notHere = {
  kind: 'later',
  detail: 'the tokens of an app with rotation are used by "pigeonpost start" only',
} as const;

function refusedRenewal({
  code,
  detail,
}: {
  readonly code: string;
  readonly detail: string;
}): Verdict & { kind: 'credential' } {
  const advice = code.startsWith('invalid_client') || code === 'bad_client_secret' ? wrongClient : usedUp;
  return { kind: 'credential', code, detail: `${detail}: ${advice}` };
}

const wrongClient = 'compare "rotation.clientId" and "rotation.clientSecret" with the Basic Information of the app';
const usedUp =
  'install the app in its workspace again and set "rotation.refreshToken" to the refresh token that Slack shows then. Each refresh token works once, for one ledger';

/** @returns the stored pair; undefined if no token was exchanged yet */
function grantOf({ text }: KeptCredential): Grant | undefined {
  return text === null ? undefined : (JSON.parse(text) as Grant);
}
