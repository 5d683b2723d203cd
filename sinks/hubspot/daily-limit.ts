/** The account's daily request limit. The day starts at midnight in the account's own time zone. */
export class DailyLimit {
  readonly #max: number | undefined;
  readonly #now: () => number;
  #timeZone: string | undefined;
  #day: string | undefined;
  #count = 0;
  #closedUntilMs = 0;

  /**
   * @param max requests a day; undefined: HubSpot's answers report the limit
   * @param now Unix time in ms
   */
  constructor(max: number | undefined, now: () => number) {
    this.#max = max;
    this.#now = now;
  }

  /** Sets the account's time zone; ignores an unknown name. */
  set timeZone(timeZone: string) {
    if (isTimeZone(timeZone)) this.#timeZone = timeZone;
  }

  get knowsTimeZone(): boolean {
    return this.#timeZone !== undefined;
  }

  /** Returns how long no request may start, in ms; 0 if one may. */
  closedForMs(): number {
    return Math.max(0, this.#closedUntilMs - this.#now());
  }

  /** Counts a request. */
  spend(): void {
    const day = dayOf(this.#now(), this.#timeZone ?? 'UTC');
    if (day !== this.#day) this.#count = 0;
    this.#day = day;
    this.#count += 1;
    if (this.#max !== undefined && this.#count >= this.#max) this.close();
  }

  /** Applies the day's total from an answer, which includes the requests of other clients. */
  learnUsed(used: number): void {
    this.#count = Math.max(this.#count, used);
    if (this.#max !== undefined && this.#count >= this.#max) this.close();
  }

  /** Stops requests until midnight, or for an hour if the time zone is not known. */
  close(): void {
    const nowMs = this.#now();
    this.#closedUntilMs = this.#timeZone === undefined ? nowMs + hourMs : nextMidnight(this.#timeZone, nowMs);
  }

  /** Allows requests again, because the limit may be higher now. */
  reopen(): void {
    this.#closedUntilMs = 0;
  }
}

const hourMs = 3_600_000;

/**
 * Returns the next midnight in a time zone, Unix time in ms: the first instant of the next day there, also on days
 * when clocks change or midnight does not exist.
 */
export function nextMidnight(timeZone: string, nowMs: number): number {
  const today = dayOf(nowMs, timeZone);
  // The day changes once within the next 26 hours: bisect to the second.
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

function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    return true;
  } catch {
    return false;
  }
}
