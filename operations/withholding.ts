import { grouped } from '../base/words.js';
import type { OutcomeCount, SinkOutcome } from './ledger-status.js';
import type { SinkView } from './status-view.js';
import { groupBy } from '../base/grouping.js';
import { WorkSlices } from '../base/work-slices.js';
import { mayStillSend } from '../delivering/lane-plans.js';
import {
  deliveredLists,
  hasOtherSettings,
  recentDecisions,
  type SentLanes,
  silentLanes,
} from '../delivering/withheld-lanes.js';
import { placeName } from '../ledger/pauses.js';
import type { PigeonholeName } from '../cycles/cycle-results.js';
import { declaredByType, isLacking, reasonOf } from '../sinks/all-reasons.js';
import { expressionsOfReason } from '../delivering/missing-values.js';
import { minUsual, type Recent, type RecentByList } from '../delivering/recent-decisions.js';
import type { Config, SinkConfig } from '../config/config.js';
import { fingerprintOf } from '../delivering/open-sinks.js';
import { formatKey } from '../config/read-document.js';
import { unseenFields, type SeenByList, fieldsSeen, mentionedLists } from './field-notes.js';
import type { Ledger } from '../ledger/ledger.js';

/** Outcomes of one list at a sink, over all pigeonholes. */
export interface ListOutcomes {
  readonly list: string;
  readonly counts: readonly Pick<OutcomeCount, 'state' | 'reason' | 'changes'>[];
  /** The recent decisions of each lane. A lane without new changes, such as that of an ended event, keeps its own. */
  readonly recent: readonly Recent[];
}

/** The outcomes of one lane. */
export interface LaneOutcomes extends PigeonholeName {
  readonly outcomes: readonly OutcomeCount[];
}

/** A list that a sink withholds and should probably send. */
export interface Withholding {
  readonly list: string;
  /**
   * `all`: it has never sent an item of this list; `more`: far more than before; `would`: an observing sink would send
   * none; `event`: it sends items of other events, but none of one whose items never had the value.
   */
  readonly kind: 'all' | 'more' | 'would' | 'event';
  /** The pigeonhole of `event`, as `acme/101`. */
  readonly place?: string;
  /** The most frequent reason among these changes. */
  readonly reason: string;
  /**
   * `all` and `would`: number of changes withheld because a value is missing, or because of the condition. `more`:
   * percentage of the latest decisions that lack a value.
   */
  readonly changes: number;
}

/** Minimum number of changes. If there are fewer, each may lack the value by chance. */
const minAll = 10;
const minRecent = 20;
const manyOfRecent = 0.5;
const fewBefore = 0.1;

/**
 * Returns the problem of a list, or null. `all`: the sink sent none of at least 10 changes, because a value is missing.
 * `more`: at least half of the latest 20 or more decisions lack a value, and fewer than a tenth of those before.
 * Consent and conditions are intended, and are not problems.
 */
export function judgeWithholding({ list, counts, recent }: ListOutcomes): Withholding | null {
  const sum = (chosen: (count: (typeof counts)[number]) => boolean): number =>
    counts.filter(chosen).reduce((n, { changes }) => n + changes, 0);
  const sent = sum(({ state }) => state !== 'withheld');
  const lacking = sum(({ state, reason }) => state === 'withheld' && isLacking(reason));
  if (lacking === 0 || recent.some(({ isReleasing }) => isReleasing)) return null;
  const reason = counts
    .filter((each) => each.state === 'withheld' && isLacking(each.reason))
    .toSorted((one, other) => other.changes - one.changes)[0]!.reason;
  if (sent === 0) return lacking >= minAll ? { list, kind: 'all', reason, changes: lacking } : null;
  const share = Math.max(...[...recent, sumOf(recent.filter(knowsUsual))].map(suddenShare));
  return share === 0 ? null : { list, kind: 'more', reason, changes: Math.round(share * 100) };
}

/**
 * Returns the share of recent decisions that lack a value, or 0 if it is small or usual. Also 0 while the lane has no
 * measure of what is usual: during the first fill of a lane, nothing is sudden.
 */
function suddenShare({ sent, lacking, usual }: Recent): number {
  const decided = sent + lacking;
  if (decided < minRecent || lacking / decided < manyOfRecent) return 0;
  if (usual.sent + usual.lacking < minUsual) return 0;
  return usual.lacking / (usual.sent + usual.lacking) >= fewBefore ? 0 : lacking / decided;
}

function knowsUsual({ usual }: Recent): boolean {
  return usual.sent + usual.lacking >= minUsual;
}

function sumOf(recent: readonly Recent[]): Recent {
  const sum = { sent: 0, lacking: 0, usual: { sent: 0, lacking: 0 } };
  for (const { sent, lacking, usual } of recent) {
    sum.sent += sent;
    sum.lacking += lacking;
    sum.usual.sent += usual.sent;
    sum.usual.lacking += usual.lacking;
  }
  return sum;
}

/**
 * Returns a list that a condition withholds completely: the sink sent none of at least 10 changes. This may be
 * intended, so it is a problem only if the condition reads a misspelled field. Pure.
 */
export function withheldByCondition({ list, counts }: Pick<ListOutcomes, 'list' | 'counts'>): Withholding | null {
  if (counts.some(({ state, changes }) => state !== 'withheld' && changes > 0)) return null;
  const own = counts.filter(({ reason }) => isByCondition(reason));
  const changes = own.reduce((sum, count) => sum + count.changes, 0);
  return changes < minAll ? null : { list, kind: 'all', reason: own[0]!.reason, changes };
}

/** Whether an expression of the settings excluded the change on purpose. */
function isByCondition(reason: string): boolean {
  const declared = reasonOf(reason);
  return declared?.kind === 'excluded' && declared.readBy !== undefined;
}

/** Returns the problem of a list: a missing value or, if there is none, a condition that may read a misspelled field. */
export function judgeList(outcomes: ListOutcomes): Withholding | null {
  return judgeWithholding(outcomes) ?? withheldByCondition(outcomes);
}

/**
 * Returns an event of which a sink sent nothing of a list, because at least 10 of its items lack a value that items of
 * other events have. This is for information: the event may not ask for the field. Pure.
 */
export function judgeEvent(
  { workspace, pigeonholeId, outcomes }: LaneOutcomes,
  { list, counts }: Pick<ListOutcomes, 'list' | 'counts'>,
): Withholding | null {
  const own = outcomes.filter((each) => each.list === list);
  const judged = judgeWithholding({ list, counts: own, recent: [] });
  const isSentElsewhere = counts.some(({ state, changes }) => state !== 'withheld' && changes > 0);
  if (judged?.kind !== 'all' || !isSentElsewhere) return null;
  return { ...judged, kind: 'event', place: `${workspace}/${pigeonholeId}` };
}

/**
 * Returns a problem if an observing sink would send none of at least 10 changes because a value is missing.
 * Observations are counted by reason and not by list, so `list` is "changes". Pure.
 */
export function judgeObservation(
  observation: Pick<NonNullable<SinkView['observation']>, 'wouldSend' | 'wouldSendAnonymously' | 'wouldWithhold'>,
): Withholding | null {
  const { wouldSend, wouldSendAnonymously, wouldWithhold } = observation;
  const lacking = Object.entries(wouldWithhold).filter(([reason]) => isLacking(reason));
  const changes = lacking.reduce((sum, [, n]) => sum + n, 0);
  if (wouldSend + wouldSendAnonymously > 0 || changes < minAll) return null;
  const [[reason]] = lacking.toSorted(([, one], [, other]) => other - one) as [[string, number]];
  return { list: 'changes', kind: 'would', reason, changes };
}

/** The place where a mapping looks for the missing value. */
export interface Lack {
  /** Names of the values, such as `email`. */
  readonly values: readonly string[];
  /** The key of the configuration that needs them, such as `crm.records[0].match`. */
  readonly at: string;
  /** Problem with the fields that it reads: `reads item.email; fields seen: "Email"`; null: they are there. */
  readonly fields: string | null;
}

/** Returns a sentence about the problem, without the sink's name. It contains fields and counts, never a value. */
export function withholdingText({ list, kind, reason, changes, place = '' }: Withholding, lack: Lack | null): string {
  if (isByCondition(reason) && lack !== null) {
    return `all ${grouped(changes)} ${list} fail the condition ${lack.at}, which ${lack.fields}`;
  }
  if (kind === 'event') {
    const values = lack === null ? 'the value that the mapping needs' : lack.values.join(' or ');
    const where = lack === null ? '' : ` (${lack.at}${lack.fields === null ? '' : ` ${lack.fields}`})`;
    return `none of the ${grouped(changes)} ${list} of ${place} has ${values}${where}`;
  }
  const what = lack === null ? 'lack a value that its mapping needs' : `lack a value for ${lack.values.join(' or ')}`;
  const where = lack === null ? '' : `: ${lack.at}`;
  const fields = lack?.fields == null ? '' : `, which ${lack.fields}`;
  const who =
    kind !== 'more'
      ? `all ${grouped(changes)} ${list}`
      : `suddenly ${changes} of every 100 ${list}, far more than before,`;
  return `${who} ${what}${where}${fields}`;
}

/**
 * Returns a sentence about a withheld list; null if nothing is wrong: a condition that reads existing fields is
 * intended. Pure.
 */
export function withholdingSentence(
  config: Pick<Config, 'syncs' | 'sinks'>,
  sink: string,
  withholding: Withholding,
  seen: SeenByList,
): string | null {
  const { list, kind, reason } = withholding;
  if (isByCondition(reason)) {
    const misspelled = misspelledCondition(config, { sink, list, reason }, seen);
    return misspelled === null ? null : withholdingText(withholding, misspelled);
  }
  if (withholding.place !== undefined) {
    const own = seen
      .get(list)
      ?.filter(({ workspace, pigeonholeId }) => withholding.place === `${workspace}/${pigeonholeId}`);
    return withholdingText(withholding, lackOf(config, { sink, list, reason }, new Map([[list, own ?? []]])));
  }
  const lists: readonly string[] = kind === 'would' ? mentionedLists(config) : [list];
  const lacks = lists.flatMap((each) => lackOf(config, { sink, list: each, reason }, seen) ?? []);
  return withholdingText(withholding, lacks[0] ?? null);
}

/** Returns where a sink's mapping reads the missing value of a list, or null if the settings do not show it. */
export function lackOf(
  config: Pick<Config, 'syncs' | 'sinks'>,
  { sink, list, reason }: { readonly sink: string; readonly list: string; readonly reason: string },
  seen: SeenByList,
): Lack | null {
  const mapping = config.sinks[sink];
  const found = mapping === undefined ? [] : expressionsOfReason(mapping, { list, reason });
  if (found.length === 0) return null;
  const { listedIn } = declaredByType[mapping!.type]!.reasons[reason]!.readBy!;
  const [, record] = /^records\[(\d+)\]\.properties\./.exec(found[0]!.asWritten) ?? [];
  const own =
    record === undefined
      ? found
      : found.filter(({ asWritten }) => asWritten.startsWith(`records[${record}].properties.`));
  const isOfList = record !== undefined && listedIn !== undefined;
  const at = isOfList ? formatKey(['records', Number(record), listedIn]) : own[0]!.asWritten;
  return {
    values: own.map(({ asWritten }) => asWritten.split('.').at(-1)!),
    at: `${sink}.${at}`,
    fields: unseenFields(config, { sink, keys: own.map(({ key }) => key), which: 'all' }, seen),
  };
}

/** Returns the first condition of a sink for a list that reads a field by a misspelled name, or null. */
function misspelledCondition(
  config: Pick<Config, 'syncs' | 'sinks'>,
  withheld: { readonly sink: string; readonly list: string; readonly reason: string },
  seen: SeenByList,
): Lack | null {
  const { sink } = withheld;
  for (const { key } of expressionsOfReason(config.sinks[sink]!, withheld)) {
    const fields = unseenFields(config, { sink, keys: [key], which: 'misspelled' }, seen);
    if (fields !== null) return { values: [], at: `${sink}.${key}`, fields };
  }
  return null;
}

/** A list as the status shows it. */
type SinkWithholding = SinkView['withholding'][number];

/**
 * Returns the lists that sinks withhold and should probably send, by sink. Sinks without such a list are left out.
 * Reads the lanes of a sink only if it lacks values, and the stored fields only if there is such a list, at most twice a
 * minute.
 * @param totals the withheld changes and dead letters on the lanes on which sinks still receive changes, added up
 * @param workspace null: all of them
 */
export async function findWithholding(
  ledger: Ledger,
  config: Pick<Config, 'syncs' | 'sinks'>,
  totals: readonly SinkOutcome[],
  workspace: string | null,
): Promise<ReadonlyMap<string, readonly SinkWithholding[]>> {
  const found = new Map<string, SinkWithholding[]>();
  const bySink = groupBy(totals, ({ sink }) => sink);
  for (const sink of Object.keys(config.sinks)) {
    const lists = groupBy(bySink.get(sink) ?? [], ({ list }) => list);
    const judged = [...lists].flatMap(([list, counts]) => (counts.some(mayBeMistake) ? [list] : []));
    if (judged.length === 0) continue;
    const lacks = [...lists.values()].flat().some(({ state, reason }) => state === 'withheld' && isLacking(reason));
    const query = { sink, workspace, sentBy: config };
    const delivered = await deliveredLists(ledger, query, judged);
    const recent = lacks ? await recentByList(ledger, query) : new Map<string, Recent[]>();
    const silent = lacks ? lanesOf(await silentLanes(ledger, query)) : [];
    for (const list of judged) {
      const counts = [...lists.get(list)!, ...(delivered.has(list) ? [someDelivered] : [])];
      const outcomes = { list, counts, recent: recent.get(list) ?? [] };
      const withholding = judgeList(outcomes);
      const events = withholding === null ? silent.flatMap((lane) => judgeEvent(lane, outcomes) ?? []) : [];
      if (withholding === null && events.length === 0) continue;
      // While a lane still has the decisions of earlier settings, these say nothing about the mapping that is applied.
      if (await hasOtherSettings(ledger, query, fingerprintOf(config, ledger, sink))) continue;
      if (withholding === null) {
        const views = await Promise.all(events.map((event) => viewWithholding(ledger, config, sink, event)));
        found.set(sink, [...(found.get(sink) ?? []), ...views.flat()]);
        continue;
      }
      const { kind, changes } = withholding;
      // During a first load or an outage, the sink may send some of what waits. If fewer changes wait than were withheld,
      // as during a live event, the problem remains.
      if (kind === 'all' && (await mayStillSend(ledger, sink, list, changes))) continue;
      found.set(sink, [...(found.get(sink) ?? []), ...(await viewWithholding(ledger, config, sink, withholding))]);
    }
  }
  return found;
}

/** Whether changes were withheld for a reason that may be a mistake in the settings. */
function mayBeMistake({ state, reason }: Pick<OutcomeCount, 'state' | 'reason'>): boolean {
  return state === 'withheld' && (isLacking(reason) || isByCondition(reason));
}

/** Represents any number of delivered changes: only whether there are some is judged. */
const someDelivered = { state: 'delivered', reason: '', changes: 1 } as const;

function lanesOf(counts: readonly (OutcomeCount & PigeonholeName)[]): LaneOutcomes[] {
  return [...groupBy(counts, placeName).values()].map((outcomes) => {
    const { workspace, pigeonholeId } = outcomes[0]!;
    return { workspace, pigeonholeId, outcomes };
  });
}

/** Returns the recent decisions of the lanes of a sink, by list. */
async function recentByList(ledger: Ledger, query: SentLanes): Promise<ReadonlyMap<string, Recent[]>> {
  const slices = new WorkSlices();
  const recent = new Map<string, Recent[]>();
  for (const text of await recentDecisions(ledger, query)) {
    for (const [list, each] of Object.entries(JSON.parse(text) as RecentByList)) {
      const own = recent.get(list);
      if (own === undefined) recent.set(list, [each]);
      else own.push(each);
    }
    await slices.pause();
  }
  return recent;
}

/**
 * Returns the problem of an observing sink that would withhold everything because a value is missing; empty if it would
 * send anything.
 */
export async function findObservedWithholding(
  ledger: Ledger,
  config: Pick<Config, 'syncs' | 'sinks'>,
  sink: string,
  observation: Parameters<typeof judgeObservation>[0],
): Promise<readonly SinkWithholding[]> {
  const withholding = judgeObservation(observation);
  return withholding === null ? [] : await viewWithholding(ledger, config, sink, withholding);
}

/** Stored fields rarely change, but the status is requested every few seconds. */
const rememberedMs = 30_000;
/** By the sink's part of a configuration, so that another configuration is judged again as soon as it is applied. */
const remembered = new WeakMap<SinkConfig, Map<string, { readonly at: number; readonly text: string | null }>>();

/** Returns nothing if `withholdingSentence` finds nothing wrong. Reads the stored fields unless it is remembered. */
async function viewWithholding(
  ledger: Ledger,
  config: Pick<Config, 'syncs' | 'sinks'>,
  sink: string,
  withholding: Withholding,
): Promise<SinkWithholding[]> {
  const sinkConfig = config.sinks[sink]!;
  const texts = remembered.get(sinkConfig) ?? new Map<string, { readonly at: number; readonly text: string | null }>();
  remembered.set(sinkConfig, texts);
  for (const [name, { at }] of texts) if (performance.now() - at >= rememberedMs) texts.delete(name);
  const name = JSON.stringify(withholding);
  const known = texts.get(name);
  let text = known?.text ?? null;
  if (known === undefined) {
    const alone = { syncs: config.syncs, sinks: { [sink]: sinkConfig } };
    text = withholdingSentence(alone, sink, withholding, await fieldsSeen(ledger, alone));
    texts.set(name, { at: performance.now(), text });
  }
  return text === null ? [] : [{ list: withholding.list, kind: withholding.kind, text }];
}
