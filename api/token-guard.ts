import type { Ledger } from '../ledger/ledger.js';
import { recordRequest, recordResult } from '../ledger/audit.js';
import type { Caller } from './authenticate.js';
import { BoundedNotes } from './audit-log.js';
import type { ProcessMeters } from './metrics/serve-metrics.js';
import { Refused } from './problem.js';
import { hashToken, isRandom } from './credentials.js';

/** Number of different wrong tokens from one address before it has to wait. */
const freeAttempts = 10;
const maxWaitMs = 5 * 60_000;
const forgottenAfterMs = 60 * 60_000;
const maxAddresses = 10_000;
const maxKnown = 1000;
const maxTried = 100;

interface Attempts {
  /** Hashes of refused tokens. If one is presented again, it comes from an outdated page and is not another guess. */
  readonly tried: Set<string>;
  failures: number;
  lastAt: number;
  waitsUntil: number;
}

interface GuardedRequest {
  readonly address: string;
  /** The token or the session; undefined if neither was sent, which is not a guess. */
  readonly presented: string | undefined;
  readonly requestId: string;
}

/**
 * Slows down an address that guesses the token that an administrator chose: after ten wrong ones, the next one starts a
 * wait of 1 s, and each further one doubles the wait, up to 5 min. Named tokens and sessions cannot be guessed, so they
 * never wait, and neither does a token that this process has accepted before. Otherwise anyone behind the same proxy
 * could lock everyone out. Counts every refused token and records some in the audit log.
 */
export class TokenGuard {
  readonly #attempts = new Map<string, Attempts>();
  readonly #accepted = new Set<string>();
  readonly #notes: BoundedNotes;
  readonly #now: () => number;

  constructor(
    readonly sources: { readonly ledger: Ledger; readonly meters: ProcessMeters },
    now: () => number = () => performance.now(),
  ) {
    this.#now = now;
    this.#notes = new BoundedNotes(now);
  }

  /**
   * @param find returns the owner of the presented token
   * @throws {Refused} as `find`; 429 while the address has to wait
   */
  async caller({ address, presented, requestId }: GuardedRequest, find: () => Promise<Caller>): Promise<Caller> {
    if (presented === undefined) return await find();
    if (isRandom(presented.replace(/^Bearer +/i, ''))) return await this.#random(address, requestId, find);
    const hash = hashToken(presented).toString('base64');
    if (this.#accepted.has(hash)) return await this.#again(hash, find);
    const attempts = this.#attemptsOf(address);
    const waitMs = attempts.waitsUntil - this.#now();
    if (waitMs > 0) {
      this.sources.meters.refusedToken('waiting');
      throw new Refused(429, 'too many wrong tokens came from this address: wait, then send the right one', {
        headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) },
      });
    }
    // Counted before the look-up, so that requests that arrive at the same time are all counted.
    const isAnother = this.#count(attempts, hash);
    try {
      const caller = await find();
      this.#undoCount(attempts, hash, isAnother);
      this.#accept(hash);
      return caller;
    } catch (error) {
      if (error instanceof Refused && error.status === 401) {
        this.sources.meters.refusedToken('unknown');
        if (isAnother) await this.#note(address, attempts.failures, requestId);
      } else this.#undoCount(attempts, hash, isAnother); // nobody knows whether the token is wrong
      throw error;
    }
  }

  async #random(address: string, requestId: string, find: () => Promise<Caller>): Promise<Caller> {
    try {
      return await find();
    } catch (error) {
      if (error instanceof Refused && error.status === 401) {
        this.sources.meters.refusedToken('unknown');
        await this.#note(address, 1, requestId);
      }
      throw error;
    }
  }

  /** Checks a previously accepted token again, because it may have been revoked since. */
  async #again(hash: string, find: () => Promise<Caller>): Promise<Caller> {
    try {
      return await find();
    } catch (error) {
      this.#accepted.delete(hash);
      throw error;
    }
  }

  #accept(hash: string): void {
    this.#accepted.add(hash);
    if (this.#accepted.size > maxKnown) this.#accepted.delete(this.#accepted.values().next().value!);
  }

  #attemptsOf(address: string): Attempts {
    const now = this.#now();
    const known = this.#attempts.get(address);
    if (known !== undefined && now - known.lastAt < forgottenAfterMs) return known;
    const fresh = { tried: new Set<string>(), failures: 0, lastAt: now, waitsUntil: 0 };
    this.#attempts.delete(address);
    this.#attempts.set(address, fresh);
    if (this.#attempts.size > maxAddresses) this.#attempts.delete(this.#attempts.keys().next().value!);
    return fresh;
  }

  /** @returns false if the same token was presented before */
  #count(attempts: Attempts, hash: string): boolean {
    if (attempts.tried.has(hash)) return false;
    attempts.tried.add(hash);
    if (attempts.tried.size > maxTried) attempts.tried.delete(attempts.tried.values().next().value!);
    attempts.failures += 1;
    attempts.lastAt = this.#now();
    const beyond = attempts.failures - freeAttempts;
    if (beyond > 0) attempts.waitsUntil = this.#now() + Math.min(1000 * 2 ** Math.min(beyond - 1, 20), maxWaitMs);
    return true;
  }

  #undoCount(attempts: Attempts, hash: string, isAnother: boolean): void {
    attempts.tried.delete(hash);
    if (isAnother) attempts.failures -= 1;
    if (attempts.failures <= freeAttempts) attempts.waitsUntil = 0;
  }

  /** Records the first refusal of an address, and the start of its wait, within the limits of `BoundedNotes`. */
  async #note(address: string, failures: number, requestId: string): Promise<void> {
    const isWaiting = failures > freeAttempts;
    if (!this.#notes.take(`${address} ${isWaiting}`)) return;
    const { ledger } = this.sources;
    const detail = { address, attempts: failures, waits: isWaiting };
    const about = { who: 'unknown', token: null, target: null, subject: null, requestId };
    try {
      const asked = await recordRequest(ledger, { ...about, action: 'present-wrong-token', detail });
      await recordResult(ledger, asked, { outcome: 'refused', status: 401, requestId });
    } catch {
      // the caller is refused even if the store cannot record it
    }
  }
}
