import { isDeepStrictEqual } from 'node:util';
import { sentLanes } from '../../api/sent-lanes.js';
import { readStatus, type StatusSources } from '../../api/status.js';
import type { AlertsConfig } from '../../config/config.js';
import type { Ledger } from '../../ledger/ledger.js';
import {
  type AlertRow,
  type Look,
  type LookedAt,
  type NewAlertMessage,
  readAlerts,
  recordLook,
  takeLook,
} from '../../ledger/queries/alerts/looks.js';
import { endedImports } from '../../ledger/queries/imports/ended-imports.js';
import { allPauses } from '../../ledger/queries/pauses.js';
import { pigeonholeNames } from '../../ledger/queries/pigeonholes.js';
import { laneStates } from '../../ledger/queries/read-lanes.js';
import { type Condition, findConditions } from './find-conditions.js';
import { type Calm, judgeAlert } from './judge-alert.js';

/** An import that ended while nothing ran to tell it is told of later, within so long. */
const tellImportsWithinMs = 24 * 60 * 60_000;

/**
 * Looks once at how everything stands and writes what is to be told, unless another process has looked lately, or does
 * so meanwhile.
 * @returns the messages that were written for each receiver; 0 too when it was not this process's turn
 */
export async function look(
  sources: StatusSources,
  alerts: AlertsConfig,
  {
    receivers,
    everyMs,
    calm,
  }: { readonly receivers: readonly string[]; readonly everyMs: number; readonly calm: Calm },
): Promise<number> {
  const { ledger } = sources;
  // A little less than the interval, so that a timer that comes early does not skip every other turn.
  const turn = await takeLook(ledger, everyMs * 0.8);
  if (turn === undefined) return 0;
  const rows = await readAlerts(ledger);
  const conditions = await presentConditions(sources, alerts);
  const states = judgeStates(rows, conditions, alerts.when, turn.at, calm);
  const ends = alerts.when.importEnded ? await judgeImports(ledger, rows, turn) : nothingFound;
  const found = {
    rows: [...states.rows, ...ends.rows],
    forgotten: [...states.forgotten, ...ends.forgotten],
    messages: [...states.messages, ...ends.messages],
  };
  const isWritten = await recordLook(ledger, turn, { ...found, receivers });
  return isWritten ? found.messages.length : 0;
}

async function presentConditions(sources: StatusSources, { when }: AlertsConfig): Promise<Condition[]> {
  const { ledger, config } = sources;
  const [status, pauses, lanes, places] = await Promise.all([
    readStatus(when.quotaShort ? sources : { ...sources, quotas: async () => new Map() }, false), // a forecast is dear
    allPauses(ledger),
    laneStates(ledger, { sink: null, workspace: null, after: null, limit: null }),
    pigeonholeNames(ledger, null),
  ]);
  return findConditions({ status, pauses, lanes: sentLanes(config, lanes, places), now: new Date() }, when);
}

type FoundAlerts = Omit<LookedAt, 'receivers'>;
const nothingFound: FoundAlerts = { rows: [], forgotten: [], messages: [] };

/** Of all alerts that last: what is to be told, and what is remembered. Pure. @param at of the look */
export function judgeStates(
  rows: readonly AlertRow[],
  conditions: readonly Condition[],
  when: AlertsConfig['when'],
  at: Date,
  calm: Calm,
): FoundAlerts {
  const keys = new Map<string, Pick<AlertRow, 'occasion' | 'subject'>>();
  const keyOf = ({ occasion, subject }: Pick<AlertRow, 'occasion' | 'subject'>): string => `${occasion} ${subject}`;
  for (const each of [...rows, ...conditions]) {
    if (each.occasion !== 'import-ended') keys.set(keyOf(each), each);
  }
  const kept: AlertRow[] = [];
  const forgotten: FoundAlerts['forgotten'][number][] = [];
  const messages: NewAlertMessage[] = [];
  for (const [key, { occasion, subject }] of keys) {
    const row = rows.find((each) => keyOf(each) === key);
    const condition = conditions.find((each) => keyOf(each) === key);
    if (!isWanted(occasion, when)) {
      forgotten.push({ occasion, subject }); // nobody wants to hear of it any more, not even that it is over
      continue;
    }
    const before = row === undefined ? null : { ...row, sinceMs: row.since.getTime() };
    const { state, tell } = judgeAlert(before, condition?.found ?? 'over', at.getTime(), calm);
    const facts = condition?.facts ?? row?.facts ?? {};
    if (state === null) {
      if (row !== undefined) forgotten.push({ occasion, subject });
      continue;
    }
    const since = new Date(state.sinceMs);
    const { holds, told, raises } = state;
    if (isAnother(row, state, since) || !isDeepStrictEqual(row?.facts, facts))
      kept.push({ occasion, subject, holds, since, told, raises, facts });
    if (tell !== null) messages.push({ occasion, subject, kind: tell, since, facts });
  }
  return { rows: kept, forgotten, messages };
}

/** What has not changed is not written again every few seconds; counts that have are, since `alerts list` shows them. */
function isAnother(
  row: AlertRow | undefined,
  state: Pick<AlertRow, 'holds' | 'told' | 'raises'>,
  since: Date,
): boolean {
  if (row === undefined || row.since.getTime() !== since.getTime()) return true;
  return row.holds !== state.holds || row.told !== state.told || row.raises !== state.raises;
}

function isWanted(occasion: AlertRow['occasion'], when: AlertsConfig['when']): boolean {
  switch (occasion) {
    case 'sink-paused':
      return when.sinkPaused;
    case 'workspace-paused':
      return when.workspacePaused;
    case 'behind':
      return when.behindMs !== undefined;
    case 'dead-letters':
      return when.deadLetters !== undefined;
    case 'deletions-held':
      return when.deletionsHeld;
    case 'quota-short':
      return when.quotaShort;
    case 'import-ended':
      return when.importEnded;
    default:
      return occasion satisfies never;
  }
}

/** That an import has ended is told once, and never over. */
async function judgeImports(
  ledger: Ledger,
  rows: readonly AlertRow[],
  { at, watchingSince }: Look,
): Promise<FoundAlerts> {
  const told = rows.filter(({ occasion }) => occasion === 'import-ended');
  const oldestMs = at.getTime() - tellImportsWithinMs;
  const after = new Date(Math.max(oldestMs, watchingSince.getTime()));
  const imports = await endedImports(ledger, { after, known: told.map(({ subject }) => Number(subject)) });
  const messages = imports.map(({ number, workspace, pigeonholeId, state, endedAt, counts }) => ({
    occasion: 'import-ended' as const,
    subject: String(number),
    kind: 'happened' as const,
    since: endedAt ?? at,
    facts: { pigeonhole: `${workspace}/${pigeonholeId}`, state, ...counts },
  }));
  return {
    rows: messages.map(({ kind: _, ...row }) => ({ ...row, holds: false, told: true, raises: 1 })),
    // Twice as long as they are looked for: what is forgotten must not be found again.
    forgotten: told.filter(({ since }) => since.getTime() < oldestMs - tellImportsWithinMs),
    messages,
  };
}
