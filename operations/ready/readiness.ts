import { z } from '@hono/zod-openapi';
import { instant } from '../../base/printable.js';
import { isMappingCause } from '../../sinks/reason-words.js';
import type { Trouble } from '../problem.js';
import { counted, formatInstant } from '../../base/words.js';
import type { ApiError } from '../../pigeonhole/api-error.js';
import { eventTimes, type SessionTimes, sessionTimes } from '../../reading/stream-facts.js';
import { PermitRefusal } from '../../requests/quota-rules.js';
import { checkOf, type CheckOf } from '../checks.js';
import { traitsOf } from '../problems.js';
import type { PigeonholeView, SinkView } from '../status-view.js';

/** One check before an event begins. */
const readyCheckSchema = z
  .object({
    id: z
      .string()
      .describe(
        'Stable code for programs: `sessions`, or `sink:crm` for a check of each sink, `sink:crm:1` for a warning about it.',
      ),
    label: z.string().describe('Subject of the check, in a few words.'),
    state: z
      .enum(['ok', 'warning', 'failed', 'unknown'])
      .describe(
        '`failed`: data will not flow as it should; `warning`: an operator should check it, it may be intended; `unknown`: it could not be checked.',
      ),
    says: z.string().describe('The result as a sentence.'),
    todo: z.string().optional().describe('What to do; absent if nothing has to be done.'),
  })
  .openapi('ReadyCheck');
export type ReadyCheck = z.infer<typeof readyCheckSchema>;

/** Whether an event can begin, and the checks that decide it. */
export const readinessSchema = z
  .object({
    pigeonhole: z.object({
      workspace: z.string(),
      id: z.int(),
      name: z.string().nullable().describe('Name of the event; null, here and in the fields below: not known.'),
      status: z.string().nullable().describe('Status as the service reports it.'),
      startDate: z.string().nullable().describe('YYYY-MM-DD.'),
      endDate: z.string().nullable().describe('YYYY-MM-DD.'),
      timezone: z.string().nullable(),
    }),
    ready: z.boolean().describe('Whether every check could be made and none failed.'),
    asOf: instant().describe('When the checks were made. Requests at short intervals receive the same result.'),
    checks: z.array(readyCheckSchema).readonly(),
  })
  .openapi('Readiness');
export type Readiness = z.infer<typeof readinessSchema>;

/** Checks that go beyond the ledger's state: the service, the sinks, people, the quota. */
export interface EventChecks {
  readonly checks: Readonly<Record<Exclude<CheckOf<'ready'>, WorkCheck>, readonly ReadyCheck[]>>;
  readonly pigeonhole: Pick<Readiness['pigeonhole'], 'name' | 'status' | 'startDate' | 'endDate' | 'timezone'>;
}

/** The checks of the work's state, as the status shows it. */
type WorkCheck = 'reading' | 'running' | 'parked';

/** Pure. */
export function isReady(checks: readonly ReadyCheck[]): boolean {
  return checks.every(({ state }) => state === 'ok' || state === 'warning');
}

export interface EventWork {
  readonly pigeonhole: Pick<PigeonholeView, 'id' | 'state' | 'freshAsOf' | 'goneAt' | 'heldDeletions'> & {
    readonly workspace: string;
    readonly syncs: readonly string[];
  };
  /** The sinks that receive something from the pigeonhole. */
  readonly sinks: readonly SinkView[];
  /** Problems of the process, the workspace, the pigeonhole and these sinks. */
  readonly troubles: readonly Trouble[];
  /** Changes of this pigeonhole that its sinks have refused. */
  readonly deadLetters: readonly { readonly sink: string; readonly cause: string; readonly changes: number }[];
}

/** Checks the state of work on a pigeonhole before its event starts. Pure. */
export function workChecks(work: EventWork): Record<WorkCheck, readonly ReadyCheck[]> {
  return { reading: [readingCheck(work)], running: [runningCheck(work)], parked: [parkedCheck(work)] };
}

function readingCheck({ pigeonhole, troubles }: EventWork): ReadyCheck {
  const about = checkOf('reading', 'Reading');
  const { workspace, id, syncs, goneAt, state, freshAsOf } = pigeonhole;
  const name = `${workspace}/${id}`;
  if (syncs.length === 0) {
    return about.failed(
      `no sync reads pigeonhole ${name}`,
      'name it in "pigeonholes" of a sync, then "pigeonpost config apply"',
    );
  }
  if (goneAt !== null) {
    return about.failed(`pigeonhole ${name} was deleted in the service (noticed at ${formatInstant(goneAt)})`);
  }
  const hindrance = troubles.find(({ code }) => traitsOf(code).ready?.check === 'reading');
  if (hindrance !== undefined) {
    return about.failed(hindrance.title, '"pigeonpost status" shows the cause');
  }
  const by = `sync ${syncs.join(' and ')}`;
  if (state === 'backfilling' || freshAsOf === null) {
    return about.warning(`${by} is still reading it for the first time`, 'run the check again in a few minutes');
  }
  return about.ok(`${by} reads it; the oldest read of its lists ended at ${formatInstant(freshAsOf)}`);
}

function runningCheck({ troubles, sinks }: EventWork): ReadyCheck {
  const about = checkOf('running', 'Running');
  const found = troubles.filter(({ code }) => traitsOf(code).ready?.check === 'running');
  if (found.length === 0) {
    return about.ok(`nothing is paused: reading and ${counted(sinks.length, 'sink')} are running`);
  }
  const actions = found.flatMap(({ help }) => help?.action ?? []);
  const todo = actions.map(({ do: verb, kind, name }) =>
    verb === 'approve' ? `pigeonpost sink approve ${name}` : `pigeonpost ${verb} ${kind}:${name}`,
  );
  const result = found.some(({ code }) => traitsOf(code).ready?.state === 'failed') ? about.failed : about.warning;
  const says = found.map(({ title }) => title).join('; ');
  return result(says, todo.length === 0 ? undefined : [...new Set(todo)].join('; '));
}

function parkedCheck({ pigeonhole, deadLetters }: EventWork): ReadyCheck {
  const about = checkOf('parked', 'Decisions');
  const { heldDeletions } = pigeonhole;
  const sinks = [...new Set(deadLetters.map(({ sink }) => sink))];
  const found = sinks.map((sink) => ({
    says: traitsOf('dead-letters').words(sink, countLetters(deadLetters.filter((each) => each.sink === sink))).title,
    todo: `pigeonpost dead-letters show --sink ${sink}`,
  }));
  if (heldDeletions > 0) {
    const says = `${counted(heldDeletions, 'deletion')} ${heldDeletions === 1 ? 'waits' : 'wait'} for an operator`;
    found.push({ says, todo: 'pigeonpost deletions list' });
  }
  if (found.length === 0) return about.ok('no dead letters, and no deletions that wait for an operator');
  return about.failed(found.map(({ says }) => says).join('; '), found.map(({ todo }) => todo).join('; '));
}

function countLetters(letters: EventWork['deadLetters']): { letters: number; mapping: number } {
  const total = (own: EventWork['deadLetters']): number => own.reduce((sum, { changes }) => sum + changes, 0);
  return { letters: total(letters), mapping: total(letters.filter(({ cause }) => isMappingCause(cause))) };
}

type Item = Readonly<Record<string, unknown>>;

/** A session that is longer than this usually has a wrong end date. */
const longestMs = 24 * 3_600_000;
const maxIds = 5;
const aboutSessions = checkOf('sessions', 'Sessions and their times');

/** Types of sessions that run in parallel to others. */
const besideAll: ReadonlySet<unknown> = new Set(['break', 'chat', 'survey']);

interface TimedSession extends SessionTimes {
  readonly session: Item;
}

/**
 * Checks that the sessions are plausible: there are some, each starts before it ends and within the days of the event,
 * and no two overlap at the same place. Pure. Sessions are named by id, because their names are the organizers' text.
 * @param pigeonhole as the service shows it; null: not known
 * @param sessions null: no sync reads them
 */
export function judgeSessions(pigeonhole: Item | null, sessions: readonly Item[] | null): ReadyCheck {
  if (sessions === null) return aboutSessions.ok('not checked: no sync reads the sessions of this pigeonhole');
  if (sessions.length === 0) {
    return aboutSessions.failed(
      'there are no sessions: nobody can ask or vote',
      'create them in the dashboard of the service, or with "pigeonpost apply"',
    );
  }
  const timed = sessions.map((session) => ({ session, ...sessionTimes(session) }));
  const lasting = (isMeant: (ms: number) => boolean): TimedSession[] =>
    timed.filter(({ startsAt, endsAt }) => startsAt !== null && endsAt !== null && isMeant(endsAt - startsAt));
  const withoutTimes = timed.filter(({ startsAt, endsAt }) => startsAt === null || endsAt === null);
  const impossible = named(
    lasting((ms) => ms <= 0),
    'ends before it begins',
    'end before they begin',
  );
  const doubtful = [
    ...named(withoutTimes, 'has no times', 'have no times'),
    ...named(
      lasting((ms) => ms > longestMs),
      'lasts more than a day',
      'last more than a day',
    ),
    ...outside(pigeonhole, timed),
    ...overlaps(lasting((ms) => ms > 0)),
  ];
  const found = [...impossible, ...doubtful];
  const there = `${counted(sessions.length, 'session')}`;
  if (found.length === 0) return aboutSessions.ok(`${there}, each within the days of the event`);
  const result = impossible.length > 0 ? aboutSessions.failed : aboutSessions.warning;
  return result(
    `${there}; ${found.join('; ')}`,
    'compare the times with the programme, and correct them in the dashboard of the service',
  );
}

function outside(pigeonhole: Item | null, sessions: readonly TimedSession[]): string[] {
  const { startsAt: first, endsAt: last } = eventTimes(pigeonhole);
  if (first === null || last === null) return ['the days of the event are not known'];
  const strangers = sessions.filter(
    ({ startsAt, endsAt }) =>
      (startsAt !== null && (startsAt < first || startsAt >= last)) || (endsAt !== null && endsAt > last),
  );
  const days = `the days of the event (${text(pigeonhole?.['startDate'])} to ${text(pigeonhole?.['endDate'])}, ${text(pigeonhole?.['timezone']) || 'UTC'})`;
  return named(strangers, `is not within ${days}`, `are not within ${days}`);
}

/**
 * Returns pairs of sessions of one type that overlap at one location, or have the same name and time. Parallel tracks
 * have different locations; a session that was entered twice has the same location. A session may overlap its parent
 * and its siblings.
 */
function overlaps(sessions: readonly TimedSession[]): string[] {
  const inOrder = sessions.filter(({ type }) => !besideAll.has(type)).toSorted((a, b) => a.startsAt! - b.startsAt!);
  const pairs: string[] = [];
  inOrder.forEach((one, index) => {
    for (const other of inOrder.slice(index + 1)) {
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

function named(sessions: readonly TimedSession[], one: string, more: string): string[] {
  if (sessions.length === 0) return [];
  const ids = sessions.slice(0, maxIds).map(({ session }) => String(session['id']));
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
