import { isDeepStrictEqual } from 'node:util';
import { readSnapshot, type StatusSources } from '../read-status.js';
import type { AlertsConfig } from '../../config/config.js';
import type { Ledger } from '../../ledger/ledger.js';
import {
  type AlertRow,
  type AlertCheck,
  type CheckResult,
  readAlerts,
  readRateLimits,
  recordCheck,
  startCheck,
} from './alert-store.js';
import { closingStatements } from '../statement/statement-store.js';
import { endedImports } from '../../importing/read-import.js';
import {
  type AlertState,
  type RecoveryDelays,
  postponedState,
  judgeAlert,
  type Found,
  type RateLimit,
  limitMessages,
  type PendingMessage,
} from './judge-alert.js';
import { behindMsOf, findProblems, type WorkSnapshot } from '../find-problems.js';
import { readIncidents } from '../incidents/incident-store.js';
import { judgeIncidents, returnsWithinMs } from '../incidents/judge-incidents.js';
import type { Problem } from '../problem.js';
import type { ProblemFacts } from '../problem-traits.js';
import {
  type AlertCode,
  type AlertingProblem,
  type ProblemCode,
  alertOf,
  isAlerting,
  isEvent,
  messageTraits,
  traitsOf,
} from '../problems.js';

/** An import that ended while no process ran is reported later, up to this time after its end. */
const tellImportsWithinMs = 24 * 60 * 60_000;
/** The same for a closing statement. */
const tellStatementsWithinMs = 7 * 24 * 60 * 60_000;

/** The forecast of the quotas is expensive. Without an alert that uses it, only each of these checks reads it. */
const quotasEvery = 12;

/**
 * Checks all problems once and writes the messages and the incidents, unless another process has checked within the
 * interval or checks at the same time.
 * @param alerts undefined: the configuration has no receivers, so that only incidents are written
 * @returns the number of messages written for each receiver; also 0 if another process has checked
 */
export async function checkAlerts(
  sources: StatusSources,
  alerts: AlertsConfig | undefined,
  {
    receivers,
    everyMs,
    calm,
    pace,
  }: {
    readonly receivers: readonly string[];
    readonly everyMs: number;
    readonly calm: RecoveryDelays;
    readonly pace: RateLimit;
  },
): Promise<number> {
  const { ledger } = sources;
  // A little less than the interval, so that a timer that fires early does not skip every other check.
  const check = await startCheck(ledger, everyMs * 0.8);
  if (check === undefined) return 0;
  const alertsOnQuota = alerts !== undefined && isWanted('quota-short', alerts.when);
  const withQuotas = alertsOnQuota || check.number % quotasEvery === 0;
  const { status, ...facts } = await readSnapshot(sources, null, { withQuotas });
  const problems = findProblems({ ...status, ...facts }, { behindMs: behindMsOf({ alerts }) });
  const incidents = judgeIncidents(await readIncidents(ledger, returnsWithinMs), problems, {
    at: check.at,
    unjudged: (code) => code === ('quota-short' satisfies ProblemCode) && !withQuotas,
  });
  const found =
    alerts === undefined
      ? noAlerts
      : await judgeAlerts(ledger, check, {
          conditions: conditionsAmong(problems, facts.now, alerts.when),
          alerts,
          calm,
          pace,
        });
  const isWritten = await recordCheck(ledger, check, { ...found, receivers, incidents });
  return isWritten ? found.messages.length : 0;
}

type JudgedAlerts = Pick<CheckResult, 'rows' | 'forgotten' | 'messages' | 'paces'>;
const noAlerts: JudgedAlerts = { rows: [], forgotten: [], messages: [], paces: new Map() };

async function judgeAlerts(
  ledger: Ledger,
  check: AlertCheck,
  {
    conditions,
    alerts: { when },
    calm,
    pace,
  }: {
    readonly conditions: readonly Condition[];
    readonly alerts: AlertsConfig;
    readonly calm: RecoveryDelays;
    readonly pace: RateLimit;
  },
): Promise<JudgedAlerts> {
  const rows = await readAlerts(ledger);
  const states = judgeStates(rows, conditions, { when, at: check.at, calm });
  const ends = isWanted('import-ended', when) ? await judgeImports(ledger, rows, check) : nothingFound;
  const closed = isWanted('closing-statement', when) ? await judgeStatements(ledger, rows, check) : nothingFound;
  const pending = [...states.pending, ...ends.pending, ...closed.pending];
  const paced = limitMessages(pending, pending.length === 0 ? new Map() : await readRateLimits(ledger), check.at, pace);
  return {
    rows: [...states.rows, ...paced.rows],
    forgotten: [...states.forgotten, ...ends.forgotten, ...closed.forgotten],
    messages: paced.messages,
    paces: paced.paces,
  };
}

/** Result of a check before pacing. `rows` need no message. */
type FoundAlerts = Pick<CheckResult, 'rows' | 'forgotten'> & { readonly pending: readonly PendingMessage[] };
const nothingFound: FoundAlerts = { rows: [], forgotten: [], pending: [] };

/** Decides which lasting alerts need a message and which state is stored. Pure. @param at instant of the check */
export function judgeStates(
  rows: readonly AlertRow[],
  conditions: readonly Condition[],
  { when, at, calm }: { readonly when: AlertsConfig['when']; readonly at: Date; readonly calm: RecoveryDelays },
): FoundAlerts {
  const keys = new Map<string, Pick<AlertRow, 'code' | 'subject'>>();
  const keyOf = ({ code, subject }: Pick<AlertRow, 'code' | 'subject'>): string => `${code} ${subject}`;
  for (const each of [...rows, ...conditions]) {
    if (!isEvent(each.code)) keys.set(keyOf(each), each);
  }
  const kept: AlertRow[] = [];
  const forgotten: FoundAlerts['forgotten'][number][] = [];
  const pending: PendingMessage[] = [];
  for (const [key, { code, subject }] of keys) {
    const row = rows.find((each) => keyOf(each) === key);
    const condition = conditions.find((each) => keyOf(each) === key);
    if (!isWanted(code, when)) {
      forgotten.push({ code, subject }); // the configuration no longer wants these alerts, nor a recovery message
      continue;
    }
    const before = row ?? null;
    const pause = rows.find((each) => each.code === 'sink-paused' && each.subject === subject);
    const isCatchingUp = condition !== undefined && catchesUp(condition, pause, { when, at });
    const judgement = judgeAlert(before, isCatchingUp ? 'unknown' : (condition?.found ?? 'over'), at, calm);
    const { state, tell } = judgement;
    const facts = condition?.facts ?? row?.facts ?? {};
    if (state === null) {
      if (row !== undefined) forgotten.push({ code, subject });
      continue;
    }
    const rowOf = (next: AlertState): AlertRow => ({ ...next, code, subject, facts });
    // Unchanged alerts are not written again every few seconds. Changed counts are, because `alerts list` shows them.
    const ifAnother = (next: AlertRow): AlertRow | undefined => (isDeepStrictEqual(row, next) ? undefined : next);
    if (tell === null) {
      const next = ifAnother(rowOf(state));
      if (next !== undefined) kept.push(next);
      continue;
    }
    const later = postponedState(before, judgement);
    pending.push({
      row: rowOf(state),
      message: { code, subjects: [subject], kind: tell, since: state.since, facts },
      rowIfLater: later === null ? undefined : ifAnother(rowOf(later)),
    });
  }
  return { rows: kept, forgotten, pending };
}

/** Time after a pause in which a sink may deliver what waited during the pause. */
const catchUpMs = 15 * 60_000;

/**
 * Says whether a sink is behind only because it was paused until just now. The alert about the pause has told that, so
 * one refused token gives one alert. A sink that fails again after its first attempts has another cause. Pure.
 * @param pause the alert about the sink's pause; undefined: none was raised lately
 */
function catchesUp(
  { code, facts }: Condition,
  pause: AlertRow | undefined,
  { when, at }: { readonly when: AlertsConfig['when']; readonly at: Date },
): boolean {
  if (code !== 'sink-behind' || pause === undefined) return false;
  // While the row says that the pause holds, this check has just found that it is over.
  const endedAt = pause.holds ? at : pause.since;
  const endedMsAgo = at.getTime() - endedAt.getTime();
  if (endedMsAgo < behindMsOf({ alerts: { when } })) return true;
  const waitedThrough = Date.parse(String(facts['oldestAt'])) <= endedAt.getTime();
  return waitedThrough && facts['problem'] === undefined && endedMsAgo < catchUpMs;
}

/** Finds imports that have ended and were not reported yet. Such an alert never recovers. */
async function judgeImports(
  ledger: Ledger,
  rows: readonly AlertRow[],
  { at, watchingSince }: AlertCheck,
): Promise<FoundAlerts> {
  const announced = rows.filter(({ code }) => code === 'import-ended');
  const oldestMs = at.getTime() - tellImportsWithinMs;
  const after = new Date(Math.max(oldestMs, watchingSince.getTime()));
  const imports = await endedImports(ledger, { after, known: announced.map(({ subject }) => Number(subject)) });
  const pending = imports.map(
    ({ number, workspace, pigeonholeId, state, unusable, endedAt, counts }): PendingMessage => {
      const subject = String(number);
      const facts = {
        pigeonhole: `${workspace}/${pigeonholeId}`,
        state: unusable === null ? state : 'unusable',
        ...counts,
      };
      const ended = { code: 'import-ended', since: endedAt ?? at, facts } as const;
      return {
        row: { ...ended, subject, holds: false, announced: true, raises: 1 },
        message: { ...ended, subjects: [subject], kind: 'happened' },
        rowIfLater: undefined, // without a row, the next check finds the import again
      };
    },
  );
  return {
    rows: [],
    // Twice the time for which ended imports are searched, so that a removed record cannot be found again.
    forgotten: announced.filter(({ since }) => since.getTime() < oldestMs - tellImportsWithinMs),
    pending,
  };
}

/** Finds closing statements that are complete and were not reported yet. Such an alert never recovers. */
async function judgeStatements(
  ledger: Ledger,
  rows: readonly AlertRow[],
  { at, watchingSince }: AlertCheck,
): Promise<FoundAlerts> {
  const announced = rows.filter(({ code }) => code === 'closing-statement');
  const oldestMs = at.getTime() - tellStatementsWithinMs;
  const after = new Date(Math.max(oldestMs, watchingSince.getTime()));
  const known = announced.map(({ subject }) => Number(subject));
  const statements = await closingStatements(ledger, { after, known });
  const pending = statements.map(({ number, workspace, pigeonholeId, completedAt, openPoints }): PendingMessage => {
    const subject = String(number);
    const facts = { pigeonhole: `${workspace}/${pigeonholeId}`, openPoints };
    const made = { code: 'closing-statement', since: completedAt, facts } as const;
    return {
      row: { ...made, subject, holds: false, announced: true, raises: 1 },
      message: { ...made, subjects: [subject], kind: 'happened' },
      rowIfLater: undefined, // without a row, the next check finds the statement again
    };
  });
  const forgotten = announced.filter(({ since }) => since.getTime() < oldestMs - tellStatementsWithinMs);
  return { rows: [], forgotten, pending };
}

/** A condition that holds, or that cannot be judged because of another problem. Conditions that do not hold are absent. */
export interface Condition {
  readonly code: AlertingProblem;
  readonly subject: string;
  readonly found: Exclude<Found, 'over'>;
  /** Counts, codes and instants only, never text of a person or a vendor. */
  readonly facts: ProblemFacts;
}

/** Returns the problems of this moment that are worth an alert and that the configuration wants. Pure. */
export function findConditions(snapshot: WorkSnapshot, when: AlertsConfig['when']): Condition[] {
  return conditionsAmong(findProblems(snapshot, { behindMs: behindMsOf({ alerts: { when } }) }), snapshot.now, when);
}

function conditionsAmong(problems: readonly Problem[], now: Date, when: AlertsConfig['when']): Condition[] {
  return problems.flatMap((problem): Condition[] => {
    const { code, name: subject, facts, coveredBy } = problem;
    if (!isAlerting(code) || !isWanted(code, when) || !isWorthAlerting(code, problem, now, when)) return [];
    // If another problem explains this one, no alert is sent about it, but it does not count as over either.
    const isExplained =
      coveredBy !== null && (traitsOf(coveredBy).isIntended || (isAlerting(coveredBy) && isWanted(coveredBy, when)));
    const found = isExplained || isShortWait(code, facts, now) ? 'unknown' : 'holds';
    return [{ code, subject, found, facts }];
  });
}

/** Says whether the configuration wants alerts of a code. A limit that is not set selects none. Pure. */
function isWanted(code: AlertCode, when: AlertsConfig['when']): boolean {
  return (when[messageTraits(code).occasion] ?? false) !== false;
}

/**
 * Says whether the wait in the facts ends too soon to start an alert. An alert that was raised earlier in the same wait
 * is not over yet. Pure.
 */
function isShortWait(code: AlertingProblem, { waitUntil }: ProblemFacts, now: Date): boolean {
  const { minWaitMs } = alertOf(code);
  return minWaitMs > 0 && (waitUntil == null || Date.parse(String(waitUntil)) - now.getTime() < minWaitMs);
}

function isWorthAlerting(
  code: AlertingProblem,
  { facts, since }: Problem,
  now: Date,
  when: AlertsConfig['when'],
): boolean {
  const { afterMs, counts, occasion } = alertOf(code);
  if (counts !== null) return Number(facts[counts]) >= Number(when[occasion]);
  return afterMs === 0 || (since !== null && now.getTime() - since.getTime() >= afterMs);
}
