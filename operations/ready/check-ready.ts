import type { PigeonholeName } from '../../cycles/cycle-results.js';
import type { Collaborators, OpenSink } from '../../cycles/collaborators.js';
import { eventTimes, sessionItems } from '../../reading/stream-facts.js';
import { plannedLanes } from '../../delivering/lane-plans.js';
import { PermitRefusal, reserveOf } from '../../requests/quota-rules.js';
import { checkOf } from '../checks.js';
import { type EventChecks, type ReadyCheck, judgeService, judgeSessions } from './readiness.js';
import type { Config } from '../../config/config.js';
import { ownRecords } from '../../ledger/visibility.js';
import { countRegistrants, judgeConsent, judgeRegistrants, judgeFields } from './judge-people.js';
import { lastSeenPigeonhole, profileFieldsOf } from '../../importing/desk/find-target.js';
import { findPigeonholeNumber, type Selected, selectedPigeonhole } from '../../ledger/pigeonholes.js';
import { readQuotas } from '../../requests/quota.js';
import { ApiError } from '../../pigeonhole/api-error.js';
import { plannedPigeonholes } from './planned-pigeonholes.js';
import { countLanes, startTallies } from '../count-deliverable.js';
import { fieldsSeen } from '../field-notes.js';
import type { CheckLine } from '../../sinks/sink.js';
import { allNeeds } from '../../reading/demand.js';
import { type ReadingPlan, planReading } from '../../reading/reading-plan.js';
import type { TimeWindow } from '../../reading/cadence.js';
import { adviseOnQuota, calendarDemand, dayMs, type PlannedPigeonhole } from '../calendar-demand.js';
import { counted } from '../../base/words.js';

type Item = Readonly<Record<string, unknown>>;

/** A pigeonhole as the service or the ledger describes it. */
interface Asked {
  /** Null: unknown to both. */
  readonly item: Item | null;
  /** Failure of the request to the service; null: it answered. */
  readonly failure: ApiError | PermitRefusal | null;
}

const requestTimeoutMs = 20_000;
const sinkCheckMs = 30_000;

/**
 * Checks everything that an event needs, apart from the state of the work (`workChecks`): the pigeonhole in the
 * service, registrants, fields, sessions, quota, each sink's destination, consent. Sends one or two requests to the
 * service and the requests of each sink's check; changes nothing. If one check cannot be made, its result is `unknown`,
 * and the others continue.
 */
export async function checkReady(deps: Collaborators, place: PigeonholeName, now: number): Promise<EventChecks> {
  const { ledger, config } = deps;
  const pigeonholeNumber = (await findPigeonholeNumber(ledger.db, place.workspace, place.pigeonholeId)) ?? 0;
  const own = await selectedPigeonhole(ledger, Object.keys(config.syncs), place);
  const selected = own === undefined ? [] : [own];
  const sinks = sinksOf(deps, selected);
  const asked = await ask(deps, place);
  const sessions = await sessionItems(ledger, [pigeonholeNumber]);
  const items = sessions.map(({ payload }) => JSON.parse(payload) as Item);
  const reads = planReading(config, selected[0]?.syncs ?? [], 'pigeonhole').lists;
  const [registrants, fields, quota, destinations, consent] = await Promise.all([
    countRegistrants(ledger, pigeonholeNumber),
    checkFields(deps, place, sinks),
    checkQuota(deps, place, asked.item, now),
    Promise.all(sinks.map((each) => checkSink(config, each))),
    checkConsent(deps, selected, sinks),
  ]);
  return {
    pigeonhole: {
      name: textOf(asked.item, 'name'),
      status: textOf(asked.item, 'status'),
      startDate: textOf(asked.item, 'startDate'),
      endDate: textOf(asked.item, 'endDate'),
      timezone: textOf(asked.item, 'timezone'),
    },
    checks: {
      event: [judgeService(asked, now)],
      registrants: [judgeRegistrants(settingsOf(asked.item), registrants)],
      'profile-fields': [fields],
      sessions: [judgeSessions(asked.item, reads.includes('sessions') ? items : null)],
      quota: [quota],
      sink: destinations.flat(),
      consent,
    },
  };
}

/** Requests the pigeonhole from the service; if that fails, returns its last known state. */
async function ask(deps: Collaborators, { workspace, pigeonholeId }: PigeonholeName): Promise<Asked> {
  try {
    const permit = { workspace, priority: 'import' } as const; // a person waits for it
    return {
      item: await deps.gate.pigeonhole(deps, permit, pigeonholeId, AbortSignal.timeout(requestTimeoutMs)),
      failure: null,
    };
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof PermitRefusal)) throw error;
    const seen = await lastSeenPigeonhole(deps.ledger, workspace, pigeonholeId);
    return { item: seen === undefined ? null : (JSON.parse(seen.payload) as Item), failure: error };
  }
}

async function checkFields(
  deps: Collaborators,
  place: PigeonholeName,
  sinks: readonly OpenSink[],
): Promise<ReadyCheck> {
  const own = Object.fromEntries(sinks.map(({ name }) => [name, deps.config.sinks[name]!]));
  const config: Config = { ...deps.config, sinks: own };
  const seen = await fieldsSeen(deps.ledger, config, (list) => placeOf(list, place));
  return judgeFields(config, { ...place, profile: await profileFieldsOf(deps, place), seen });
}

/** Returns the pigeonhole that holds a list. The list of pigeonholes itself belongs to pigeonhole 0 of the workspace. */
function placeOf(list: string, { workspace, pigeonholeId }: PigeonholeName): PigeonholeName {
  return { workspace, pigeonholeId: list === 'pigeonholes' ? 0 : pigeonholeId };
}

async function checkQuota(
  { ledger, config }: Collaborators,
  { workspace }: PigeonholeName,
  item: Item | null,
  now: number,
): Promise<ReadyCheck> {
  const keyOf = (name: string): string => ledger.hash.fingerprint(config.workspaces[name]!.apiKey.reveal());
  const key = keyOf(workspace);
  const sharing = Object.keys(config.workspaces).filter((name) => keyOf(name) === key);
  const [planned, states] = await Promise.all([
    plannedPigeonholes({ ledger, config }, sharing),
    readQuotas(ledger, [key]),
  ]);
  return judgeQuota({
    ...planned,
    event: eventTimes(item),
    limit: states.get(key)?.limit ?? null,
    reserve: Math.max(...sharing.map((name) => reserveOf(config, name))),
    now,
  });
}

async function checkSink(config: Config, { name, sink }: OpenSink): Promise<ReadyCheck[]> {
  return judgeSink(name, config.sinks[name]!.type, await sink.check(AbortSignal.timeout(sinkCheckMs)));
}

async function checkConsent(
  { ledger, config }: Collaborators,
  selected: readonly Selected[],
  sinks: readonly OpenSink[],
): Promise<ReadyCheck[]> {
  const tallies = startTallies();
  const checks: ReadyCheck[] = [];
  for (const { id, name, sink, accepts } of sinks) {
    const lanes = plannedLanes(config, name, selected)
      .filter(({ pigeonholeId }) => pigeonholeId !== 0)
      .map((lane) => ({ ...lane, lists: lane.lists.filter((list) => ownRecords.has(list) && list !== 'engagement') }));
    if (lanes.every(({ lists }) => lists.length === 0)) continue;
    // One at a time, because each plans whole lists.
    const counts = await countLanes(ledger, { config, sinkName: name, sink, sinkId: id }, lanes, tallies);
    checks.push(judgeConsent(name, [...accepts], counts));
  }
  return checks;
}

function settingsOf(item: Item | null): Parameters<typeof judgeRegistrants>[0] {
  const flag = (name: string): boolean | undefined =>
    typeof item?.[name] === 'boolean' ? (item[name] as boolean) : undefined;
  const expected = item?.['expectedParticipants'];
  return {
    registrants: flag('registrants'),
    attendeeCodeRequired: flag('attendeeCodeRequired'),
    expectedParticipants: typeof expected === 'number' && expected > 0 ? expected : undefined,
  };
}

function textOf(item: Item | null, name: string): string | null {
  const value = item?.[name];
  return typeof value === 'string' ? value : null;
}

/** Returns the sinks that receive these pigeonholes. Pure. */
function sinksOf(
  { config, sinks }: Pick<Collaborators, 'config' | 'sinks'>,
  selected: readonly Pick<Selected, 'syncs'>[],
): OpenSink[] {
  const names = new Set(selected.flatMap(({ syncs }) => syncs).flatMap((sync) => config.syncs[sync]?.sinks ?? []));
  return [...sinks.values()].filter(({ name }) => names.has(name));
}

/** Converts the result of a sink's own check into one line, and one line for each warning. Pure. */
export function judgeSink(name: string, type: string, lines: readonly CheckLine[]): ReadyCheck[] {
  const label = `Sink ${name} (${type})`;
  const about = checkOf(`sink:${name}`, label);
  const wrong = lines.filter(({ ok }) => !ok);
  const warnings = lines.filter(({ warning }) => warning === true);
  const says = (told: readonly CheckLine[]): string => told.map(({ text }) => text).join('; ');
  const result =
    wrong.length === 0
      ? about.ok(says(lines.filter(({ warning }) => warning !== true)) || 'it can send as configured')
      : about.failed(says(wrong), 'fix it there or in pigeonpost.yaml, then run "pigeonpost check"');
  const asked = warnings.map(({ text }, at) => checkOf(`sink:${name}:${at + 1}`, label).warning(text));
  return [result, ...asked];
}

/**
 * Shares the result of an expensive request: callers during the request, and within `forMs` after it, receive the same
 * result. A failure is passed to the waiting callers and not cached.
 * @param now milliseconds by a clock that never jumps
 */
export function shareAnswers<Question, Answer>(
  ask: (question: Question) => Promise<Answer>,
  { nameOf, forMs, now }: { nameOf: (question: Question) => string; forMs: number; now: () => number },
): (question: Question) => Promise<Answer> {
  const answers = new Map<string, { readonly answer: Promise<Answer>; until: number }>();
  return async (question) => {
    for (const [name, { until }] of answers) if (until <= now()) answers.delete(name);
    const name = nameOf(question);
    const known = answers.get(name);
    if (known !== undefined) return await known.answer;
    const entry = { answer: ask(question), until: Number.POSITIVE_INFINITY };
    answers.set(name, entry);
    try {
      const answer = await entry.answer;
      entry.until = now() + forMs;
      return answer;
    } catch (error) {
      answers.delete(name);
      throw error;
    }
  };
}

const about = checkOf('quota', 'Request quota');

interface QuotaFacts {
  /** Days of this event. */
  readonly event: TimeWindow;
  /** All pigeonholes that the key's workspaces read, including this one. */
  readonly pigeonholes: readonly PlannedPigeonhole[];
  readonly workspacePlans: readonly ReadingPlan[];
  /** Requests a day; null: the service has not stated it. */
  readonly limit: number | null;
  /** Share of the requests that is kept for imports. */
  readonly reserve: number;
  readonly now: number;
}

/** Checks whether the quota suffices on the busiest day of the event for everything that the key reads. Pure. */
export function judgeQuota({ event, pigeonholes, workspacePlans, limit, reserve, now }: QuotaFacts): ReadyCheck {
  if (event.startsAt === null || event.endsAt === null) {
    return about.warning(
      'the days of the event are not known, so the requests cannot be estimated',
      'pigeonpost check --estimate',
    );
  }
  if (event.endsAt <= now) return about.ok('the event is over: a few requests a day suffice');
  const first = new Date(Math.max(event.startsAt, now)).toISOString().slice(0, 10);
  const last = new Date(event.endsAt - 1).toISOString().slice(0, 10);
  const [busiest] = calendarDemand(pigeonholes, workspacePlans, { fromMs: Math.max(now, event.startsAt - dayMs) })
    .filter(({ day }) => day >= first && day <= last)
    .toSorted((a, b) => allNeeds(b.needs) - allNeeds(a.needs));
  if (limit === null && busiest !== undefined) {
    const need = Math.ceil(allNeeds(busiest.needs));
    return about.warning(
      `its busiest day, ${busiest.day}, needs about ${counted(need, 'request')}; the service does not report the quota`,
      'compare with your plan: pigeonpost check --estimate --quota N',
    );
  }
  const { fits, text } = adviseOnQuota(busiest, { quota: limit, reserve }, pigeonholes, workspacePlans);
  if (fits === true) return about.ok(text);
  if (fits === null) return about.warning(text);
  return about.failed(text, 'change "every" of the sync, then "pigeonpost config apply"; or request a larger quota');
}
