import { eventTimes, sessionTimes } from '../../reading/stream-facts.js';
import { type ReadyCheck, checkOf } from './readiness.js';
import { counted } from '../../base/words.js';
import { PermitRefusal } from '../../work/requests/permit-refusal.js';
import type { ApiError } from '../../pigeonhole/api-error.js';

type Item = Readonly<Record<string, unknown>>;

/** A session that is longer than this usually has a wrong end date. */
const longestMs = 24 * 3_600_000;
const maxIds = 5;
const about = checkOf('sessions', 'Sessions and their times');

/** Types of sessions that run in parallel to others. */
const besideAll: ReadonlySet<unknown> = new Set(['break', 'chat', 'survey']);

/**
 * Checks that the sessions are plausible: there are some, each starts before it ends and within the days of the event,
 * and no two overlap at the same place. Pure. Sessions are named by id, because their names are the organizers' text.
 * @param pigeonhole as the service shows it; null: not known
 * @param sessions null: no sync reads them
 */
export function judgeSessions(pigeonhole: Item | null, sessions: readonly Item[] | null): ReadyCheck {
  if (sessions === null) return about.ok('not checked: no sync reads the sessions of this pigeonhole');
  if (sessions.length === 0) {
    return about.failed(
      'there are no sessions: nobody can ask or vote',
      'create them in the dashboard of the service, or with "pigeonpost apply"',
    );
  }
  const impossible = named(sessions.filter(endsBeforeItBegins), 'ends before it begins', 'end before they begin');
  const doubtful = [
    ...named(sessions.filter(hasNoWindow), 'has no times', 'have no times'),
    ...named(sessions.filter(isLong), 'lasts more than a day', 'last more than a day'),
    ...outside(pigeonhole, sessions),
    ...overlaps(sessions),
  ];
  const found = [...impossible, ...doubtful];
  const there = `${counted(sessions.length, 'session')}`;
  if (found.length === 0) return about.ok(`${there}, each within the days of the event`);
  const result = impossible.length > 0 ? about.failed : about.warning;
  return result(
    `${there}; ${found.join('; ')}`,
    'compare the times with the programme, and correct them in the dashboard of the service',
  );
}

function hasNoWindow(session: Item): boolean {
  const { startsAt, endsAt } = sessionTimes(session);
  return startsAt === null || endsAt === null;
}

function endsBeforeItBegins(session: Item): boolean {
  const { startsAt, endsAt } = sessionTimes(session);
  return startsAt !== null && endsAt !== null && endsAt <= startsAt;
}

function isLong(session: Item): boolean {
  const { startsAt, endsAt } = sessionTimes(session);
  return startsAt !== null && endsAt !== null && endsAt - startsAt > longestMs;
}

function outside(pigeonhole: Item | null, sessions: readonly Item[]): string[] {
  const event = eventTimes(pigeonhole);
  if (event.startsAt === null || event.endsAt === null) return ['the days of the event are not known'];
  const first = event.startsAt;
  const last = event.endsAt;
  const strangers = sessions.filter((session) => {
    const { startsAt, endsAt } = sessionTimes(session);
    return (startsAt !== null && (startsAt < first || startsAt >= last)) || (endsAt !== null && endsAt > last);
  });
  const days = `the days of the event (${text(pigeonhole?.['startDate'])} to ${text(pigeonhole?.['endDate'])}, ${text(pigeonhole?.['timezone']) || 'UTC'})`;
  return named(strangers, `is not within ${days}`, `are not within ${days}`);
}

/**
 * Returns pairs of sessions of one type that overlap at one location, or have the same name and time. Parallel tracks
 * have different locations; a session that was entered twice has the same location. A session may overlap its parent
 * and its siblings.
 */
function overlaps(sessions: readonly Item[]): string[] {
  const timed = sessions
    .filter((session) => !hasNoWindow(session) && !endsBeforeItBegins(session) && !besideAll.has(session['type']))
    .map((session) => ({ session, ...sessionTimes(session) }))
    .toSorted((a, b) => a.startsAt! - b.startsAt!);
  const pairs: string[] = [];
  timed.forEach((one, index) => {
    for (const other of timed.slice(index + 1)) {
      if (other.startsAt! >= one.endsAt!) break;
      if (areFamily(one.session, other.session) || one.type !== other.type) continue;
      const isTwin =
        text(one.session['name']) !== '' &&
        one.session['name'] === other.session['name'] &&
        one.startsAt === other.startsAt &&
        one.endsAt === other.endsAt;
      const place = text(one.session['location']).trim();
      const isOnePlace = place !== '' && place === text(other.session['location']).trim();
      if (isTwin || isOnePlace) {
        const how = isTwin ? 'have the same name and times' : 'overlap at the same place';
        pairs.push(`${String(one.session['id'])} and ${String(other.session['id'])} ${how}`);
      }
    }
  });
  const rest = pairs.length - maxIds;
  return pairs.length === 0
    ? []
    : [`sessions ${pairs.slice(0, maxIds).join(', ')}${rest > 0 ? ` and ${counted(rest, 'further pair')}` : ''}`];
}

function areFamily(one: Item, other: Item): boolean {
  const [a, b] = [one['parentSessionId'], other['parentSessionId']];
  return a === other['id'] || b === one['id'] || (typeof a === 'number' && a === b);
}

function named(sessions: readonly Item[], one: string, more: string): string[] {
  if (sessions.length === 0) return [];
  const ids = sessions.slice(0, maxIds).map(({ id }) => String(id));
  const rest = sessions.length - ids.length;
  if (sessions.length === 1) return [`session ${ids[0]} ${one}`];
  return [`sessions ${ids.join(', ')}${rest > 0 ? ` and ${rest} more` : ''} ${more}`];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

const aboutService = checkOf('event', 'The event in the service');

/** Checks that the service knows the pigeonhole and accepts the key, and that the event is not over. Pure. */
export function judgeService(
  { item, failure }: { readonly item: Item | null; readonly failure: ApiError | PermitRefusal | null },
  now: number,
): ReadyCheck {
  if (failure !== null) return judgeFailure(failure);
  const { startsAt, endsAt } = eventTimes(item);
  const status = typeof item?.['status'] === 'string' ? item['status'] : null;
  const days = `${String(item?.['startDate'])} to ${String(item?.['endDate'])}`;
  if (startsAt === null || endsAt === null) {
    return aboutService.warning(
      'the service answers, but states no days for the event',
      'enter them in the dashboard of the service',
    );
  }
  const says = `the service knows it${status === null ? '' : ` as ${status}`}, ${days}`;
  if (status === 'ended' || endsAt <= now) {
    return aboutService.warning(`${says}: it is over`, 'check that this is the right event');
  }
  return aboutService.ok(says);
}

function judgeFailure(failure: ApiError | PermitRefusal): ReadyCheck {
  const asSeen = 'the lines below use the last known state';
  if (failure instanceof PermitRefusal) {
    return aboutService.unknown(`${failure.message}; ${asSeen}`, 'run the check again later');
  }
  const says = `${failure.message}; ${asSeen}`;
  return ['quota', 'throttled', 'transient', 'aborted'].includes(failure.kind)
    ? aboutService.unknown(says, 'run the check again in a minute')
    : aboutService.failed(says, 'pigeonpost check');
}
