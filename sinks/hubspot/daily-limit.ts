import { isTimezone } from '../../base/zoned-instant.js';
import { ownLimitReached } from '../network/rolling-limiter.js';

/** Enforces the account's daily request limit. The day starts at midnight in the account's time zone. */
export class DailyLimit {
  #timeZone: string | undefined;
  #day: string | undefined;
  #count = 0;
  #closedUntilMs = 0;
  /** The reason why requests are stopped. */
  reason = '';

  /**
   * @param max requests per day; undefined: requests stop only when HubSpot reports that the daily limit is reached
   * @param now Unix time in ms
   */
  constructor(
    private readonly max: number | undefined,
    private readonly now: () => number,
  ) {}

  /** Sets the account's time zone; ignores an unknown name. */
  set timeZone(timeZone: string) {
    if (isTimezone(timeZone)) this.#timeZone = timeZone;
  }

  get knowsTimeZone(): boolean {
    return this.#timeZone !== undefined;
  }

  /** Returns the number of milliseconds until a request may start; 0 if one may start now. */
  closedForMs(): number {
    return Math.max(0, this.#closedUntilMs - this.now());
  }

  /** Counts a request. */
  spend(): void {
    const day = dayOf(this.now(), this.#timeZone ?? 'UTC');
    if (day !== this.#day) this.#count = 0;
    this.#day = day;
    this.#use(this.#count + 1);
  }

  /** Applies the number of requests that HubSpot has counted today, which includes those of other clients. */
  learnUsed(used: number): void {
    if (!this.#mayStillBeYesterday()) this.#use(used);
  }

  #use(used: number): void {
    this.#count = Math.max(this.#count, used);
    if (this.max !== undefined && this.#count >= this.max) this.#close(ownLimitReached);
  }

  /**
   * Stops requests after HubSpot reported that the limit is reached. Just after midnight, stops them only for some
   * minutes, because that may be the limit of yesterday.
   * @param afterMs the wait that HubSpot requested
   */
  refused(afterMs: number | undefined): void {
    this.#close(accountLimitReached, afterMs ?? (this.#mayStillBeYesterday() ? midnightToleranceMs : undefined));
  }

  /**
   * Stops requests for the requested time; otherwise until midnight in the account's time zone, or for an hour if the
   * time zone is not known. Does not shorten an earlier stop: the answers of concurrent requests can arrive after it.
   */
  #close(reason: string, afterMs?: number): void {
    const nowMs = this.now();
    const endsAtMidnight = afterMs === undefined && this.#timeZone !== undefined;
    const untilMs = endsAtMidnight ? nextMidnight(this.#timeZone!, nowMs) : nowMs + (afterMs ?? hourMs);
    if (untilMs < this.#closedUntilMs) return;
    this.#closedUntilMs = untilMs;
    this.reason = endsAtMidnight ? `${reason}; delivery continues at midnight in the account's time zone` : reason;
  }

  /**
   * Whether the day started so recently that HubSpot may still have counted a request as one of yesterday: the request
   * was sent before midnight, or our clock is ahead of HubSpot's.
   */
  #mayStillBeYesterday(): boolean {
    if (this.#timeZone === undefined) return false;
    const nowMs = this.now();
    return dayOf(nowMs - midnightToleranceMs, this.#timeZone) !== dayOf(nowMs, this.#timeZone);
  }

  /** Allows requests again, because the limit may be higher now. */
  reopen(): void {
    this.#closedUntilMs = 0;
  }
}

const hourMs = 3_600_000;
/** Maximum duration of a request and difference between our clock and HubSpot's, together. */
const midnightToleranceMs = 5 * 60_000;
/** Alerts name the cause by the status code (`failureCode`). */
const accountLimitReached = "the account's daily request limit is reached (HTTP 429)";

/**
 * Returns the start of the next day in a time zone, Unix time in ms. It is also correct on days when clocks change or
 * the day does not start at 00:00.
 */
export function nextMidnight(timeZone: string, nowMs: number): number {
  const today = dayOf(nowMs, timeZone);
  // The day changes once within the next 26 hours. Bisects this range until it is one second long.
  let [before, after] = [nowMs, nowMs + 26 * hourMs];
  while (after - before > 1000) {
    const middle = Math.floor((before + after) / 2);
    if (dayOf(middle, timeZone) === today) before = middle;
    else after = middle;
  }
  return Math.ceil(before / 1000) * 1000;
}

function dayOf(atMs: number, timeZone: string): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(atMs);
}
