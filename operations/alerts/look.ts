import { isDeepStrictEqual } from 'node:util';
import { readStanding, type StatusSources } from '../../api/status.js';
import type { AlertsConfig } from '../../config/config.js';
import type { Ledger } from '../../ledger/ledger.js';
import { type AlertRow, type Look, type LookedAt, readAlerts, readPaces, recordLook, takeLook } from './looks.js';
import { endedImports } from '../../importing/read-import.js';
import { type Condition, findConditions, isWanted } from './find-conditions.js';
import { type AlertState, type Calm, heldBack, judgeAlert } from './judge-alert.js';
import { type Pace, paceMessages, type Telling } from './pace-messages.js';

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
    pace,
  }: { readonly receivers: readonly string[]; readonly everyMs: number; readonly calm: Calm; readonly pace: Pace },
): Promise<number> {
  const { ledger } = sources;
  // A little less than the interval, so that a timer that comes early does not skip every other turn.
  const turn = await takeLook(ledger, everyMs * 0.8);
  if (turn === undefined) return 0;
  const rows = await readAlerts(ledger);
  const conditions = await presentConditions(sources, alerts);
  const states = judgeStates(rows, conditions, alerts.when, turn.at, calm);
  const ends = alerts.when.importEnded ? await judgeImports(ledger, rows, turn) : nothingFound;
  const tellings = [...states.tellings, ...ends.tellings];
  const paced = paceMessages(tellings, tellings.length === 0 ? new Map() : await readPaces(ledger), turn.at, pace);
  const found = {
    rows: [...states.rows, ...paced.rows],
    forgotten: [...states.forgotten, ...ends.forgotten],
    messages: paced.messages,
    paces: paced.paces,
  };
  const isWritten = await recordLook(ledger, turn, { ...found, receivers });
  return isWritten ? found.messages.length : 0;
}

async function presentConditions(sources: StatusSources, { when }: AlertsConfig): Promise<Condition[]> {
  // Without the forecast of the quota, which is expensive, where nobody is notified of it.
  const needed = when.quotaShort ? sources : { ...sources, quotas: async () => new Map() };
  const { standing } = await readStanding(needed, false, null);
  return findConditions(standing, when);
}

/** What a look has found, before it is decided what of it is told now. `rows` have nothing to be told. */
type FoundAlerts = Pick<LookedAt, 'rows' | 'forgotten'> & { readonly tellings: readonly Telling[] };
const nothingFound: FoundAlerts = { rows: [], forgotten: [], tellings: [] };

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
  const tellings: Telling[] = [];
  for (const [key, { occasion, subject }] of keys) {
    const row = rows.find((each) => keyOf(each) === key);
    const condition = conditions.find((each) => keyOf(each) === key);
    if (!isWanted(occasion, when)) {
      forgotten.push({ occasion, subject }); // nobody wants to hear of it any more, not even that it is over
      continue;
    }
    const before = row === undefined ? null : { ...row, sinceMs: row.since.getTime() };
    const judgement = judgeAlert(before, condition?.found ?? 'over', at.getTime(), calm);
    const { state, tell } = judgement;
    const facts = condition?.facts ?? row?.facts ?? {};
    if (state === null) {
      if (row !== undefined) forgotten.push({ occasion, subject });
      continue;
    }
    const rowOf = (next: AlertState): AlertRow => {
      const { holds, sinceMs, told, raises } = next;
      return { occasion, subject, holds, since: new Date(sinceMs), told, raises, facts };
    };
    // What has not changed is not written again every few seconds; counts that have are: `alerts list` shows them.
    const ifAnother = (next: AlertRow): AlertRow | undefined => (isDeepStrictEqual(row, next) ? undefined : next);
    if (tell === null) {
      const next = ifAnother(rowOf(state));
      if (next !== undefined) kept.push(next);
      continue;
    }
    const later = heldBack(before, judgement);
    tellings.push({
      row: rowOf(state),
      message: { occasion, subjects: [subject], kind: tell, since: new Date(state.sinceMs), facts },
      rowIfLater: later === null ? undefined : ifAnother(rowOf(later)),
    });
  }
  return { rows: kept, forgotten, tellings };
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
  const tellings = imports.map(({ number, workspace, pigeonholeId, state, endedAt, counts }): Telling => {
    const subject = String(number);
    const facts = { pigeonhole: `${workspace}/${pigeonholeId}`, state, ...counts };
    const ended = { occasion: 'import-ended', since: endedAt ?? at, facts } as const;
    return {
      row: { ...ended, subject, holds: false, told: true, raises: 1 },
      message: { ...ended, subjects: [subject], kind: 'happened' },
      rowIfLater: undefined, // without a row it is found again
    };
  });
  return {
    rows: [],
    // Twice as long as they are looked for: what is forgotten must not be found again.
    forgotten: told.filter(({ since }) => since.getTime() < oldestMs - tellImportsWithinMs),
    tellings,
  };
}
