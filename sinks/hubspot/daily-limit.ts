/** What an account may ask in a day, which begins at midnight of the account's own time zone. */
export class DailyLimit {
  readonly #most: number | undefined;
  readonly #now: () => number;
  #timeZone: string | undefined;
  #day: string | undefined;
  #count = 0;
  #closedUntilMs = 0;

  /**
   * @param most requests a day; undefined: HubSpot says when it is enough
   * @param now Unix time in ms
   */
  constructor(most: number | undefined, now: () => number) {
    this.#most = most;
    this.#now = now;
  }

  /** As HubSpot names it; one that is not known counts as not said. */
  set timeZone(timeZone: string) {
    if (isTimeZone(timeZone)) this.#timeZone = timeZone;
  }

  get knowsTimeZone(): boolean {
    return this.#timeZone !== undefined;
  }

  /** How long nothing may be asked, in ms; 0: go ahead. */
  closedForMs(): number {
    return Math.max(0, this.#closedUntilMs - this.#now());
  }

  /** A request is made. */
  spend(): void {
    const day = dayOf(this.#now(), this.#timeZone ?? 'UTC');
    if (day !== this.#day) this.#count = 0;
    this.#day = day;
    this.#count += 1;
    if (this.#most !== undefined && this.#count >= this.#most) this.close();
  }

  /** What an answer says was used of the day, by everybody. */
  learnUsed(used: number): void {
    this.#count = Math.max(this.#count, used);
    if (this.#most !== undefined && this.#count >= this.#most) this.close();
  }

  /** The day is used up. Without the time zone it is asked again in an hour. */
  close(): void {
    const nowMs = this.#now();
    this.#closedUntilMs = this.#timeZone === undefined ? nowMs + hourMs : nextMidnight(this.#timeZone, nowMs);
  }

  /** Ends what an answer closed: the limit may be larger now. */
  reopen(): void {
    this.#closedUntilMs = 0;
  }
}

const hourMs = 3_600_000;

/**
 * The next midnight in a time zone, Unix time in ms: the first instant of the next day there, also where clocks are set
 * on that day or midnight does not exist.
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
