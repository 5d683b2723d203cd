import { counted, formatDistance } from './words.js';

/** A condition that prevents all requests to the service for a workspace. Instants have the form of `toISOString`. */
export interface ReadingWait {
  /** `quota`: no requests are left; `service`: it does not answer, or it requested a pause. */
  readonly for: 'quota' | 'service';
  /** Instant from which requests are possible again; null: now, or not known because the service does not answer. */
  readonly until: string | null;
  /** Interval at which pigeonpost checks whether the service answers again; null: it waits for `until`. */
  readonly everySeconds: number | null;
}

/** Returns the instant at which a list is read, given when it is due; null: the service does not answer. Pure. */
export function readableAt(dueAt: string, wait: ReadingWait | null): string | null {
  if (wait === null) return dueAt;
  if (wait.until === null) return wait.everySeconds === null ? dueAt : null;
  return dueAt > wait.until ? dueAt : wait.until;
}

/** States of a sync, a workspace or a pigeonhole in words. */
export const stateWords = {
  working: 'up to date',
  backfilling: 'first read',
  waiting: 'waiting',
  paused: 'paused',
  failing: 'failing',
} as const;

/** The state of lists that should have been read during an outage, a wait or a pause, until they have been read. */
export const catchingUpWord = 'catching up';

/** Returns "waits for the quota". Pure. */
export function waitReason({ for: cause }: ReadingWait): string {
  return `waits for the ${cause}`;
}

/** Returns "waits for the quota until 2026-11-21T10:40:12Z" or "waits for the service, tried every 5 s". Pure. */
export function waitWords(wait: ReadingWait): string {
  const { until, everySeconds } = wait;
  if (until !== null) return `${waitReason(wait)} until ${until.replace(/\.\d+Z$/, 'Z')}`;
  return `${waitReason(wait)}${everySeconds === null ? '' : `, tried every ${everySeconds} s`}`;
}

/** A workspace that is not read, as the API shows it. */
interface StoppedReading {
  readonly reason: string | null;
  readonly pause: { readonly cause: string } | null;
  /** Instant from which requests are possible again; null: not known. */
  readonly until: string | null;
}

/**
 * Returns what happens at `until`: reading continues, or pigeonpost tries a refused key again. Null: nothing, because
 * the time is not known, or an operator has to end the pause. Pure.
 */
export function untilWords({ reason, pause, until }: StoppedReading): 'continues' | 'tried again' | null {
  if (until === null) return null;
  if ((pause?.cause ?? reason) === 'credential') return 'tried again';
  return pause === null ? 'continues' : null;
}

/** Returns what happens at `until` and when: "continues in 2 h"; null: see `untilWords`. Pure. */
export function untilSentence(workspace: StoppedReading, now: Date): string | null {
  const next = untilWords(workspace);
  return next === null ? null : `${next} ${formatDistance(new Date(workspace.until!), now)}`;
}

/** Facts that `status` and the page show beside the age of a read. */
interface ReadNotes {
  readonly late: string | null;
  readonly waits: ReadingWait | null;
  /** Instant of the next read; null if lists are late or nothing can be read now. */
  readonly nextAt: string | null;
}

/** Returns what to show beside the age of a read. A wait that ends before the next read is due delays nothing. Pure. */
export function readNotes({
  nextAt,
  lateLists,
  waits,
}: Pick<ReadNotes, 'nextAt' | 'waits'> & { readonly lateLists: number }): ReadNotes {
  const late = lateLists === 0 ? null : `${counted(lateLists, 'list')} late`;
  const delays = waits !== null && !(waits.until !== null && nextAt !== null && nextAt > waits.until);
  return { late, waits: delays ? waits : null, nextAt: late === null && !delays ? nextAt : null };
}
