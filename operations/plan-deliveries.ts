import { placeName } from '../ledger/pauses.js';
import { consentReason, notSelected } from '../delivering/decide-delivery.js';
import { curableReasons } from '../sinks/all-reasons.js';
import {
  type PlannedLane,
  plannedLanes,
  countChangesBehind,
  countWithheld,
  type KnownLane,
  knownLanes,
  syncsTo,
} from '../delivering/lane-plans.js';
import type { CausedDeliveries, DeliveryCause, KeptItems } from './configuration-plan.js';
import { groupBy } from '../base/grouping.js';
import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { findPigeonholeNumber } from '../ledger/pigeonholes.js';
import { listNotWanted } from '../ledger/lanes.js';
import {
  type ItemsAsked,
  type PlanningLane,
  SharedTallies,
  countMapped,
  type MappedCount,
  sumCounts,
} from './count-deliverable.js';
import { acceptedBy, createSink, historyMs } from '../delivering/open-sinks.js';
import { countHeldItems } from '../delivering/read-lanes.js';
import { type ObservedLane, observedLanes } from '../ledger/observations.js';
import { allApprovals } from '../ledger/approvals.js';

/** The pigeonholes that each sync of a configuration reads. */
export type Selections = ReadonlyMap<string, readonly number[]>;

/** The two configurations, each with the pigeonholes that its syncs read. */
export interface Both {
  readonly before: Config;
  readonly now: Config;
  readonly selectedBefore: Selections;
  readonly selectedNow: Selections;
  /** Sinks whose settings changed, with the changed keys: pigeonpost decides again on what their mapping withheld. */
  readonly changedSinks: ReadonlyMap<string, readonly string[]>;
}

/**
 * Counts the stored changes that a configuration would send, by sink and list. Each is decided with the same rules as
 * when it is sent.
 */
export async function planDeliveries(ledger: Ledger, both: Both): Promise<CausedDeliveries[]> {
  const { now } = both;
  const all: CausedDeliveries[] = [];
  const tallies = new SharedTallies(effort, totalMs);
  const lanes = await knownLanes(ledger, Object.keys(now.sinks));
  const observed = await observedLanes(ledger);
  const approved = new Set((await allApprovals(ledger)).map(({ sink }) => sink));
  for (const sink of Object.keys(now.sinks)) {
    const startsSending =
      both.before.sinks[sink]?.mode === 'observe' && now.sinks[sink]!.mode === 'send' && !approved.has(sink);
    const wasPlanned = new Set(lanesOf(both.before, sink, both.selectedBefore).map(placeName));
    const opened = createSink(now, sink);
    try {
      for (const plan of lanesOf(now, sink, both.selectedNow)) {
        const lane = lanes.find((row) => row.sink === sink && placeName(row) === placeName(plan));
        const isBack = lane !== undefined && (lane.isArchived || !wasPlanned.has(placeName(plan)));
        const pigeonholeNumber =
          lane?.pigeonholeNumber ?? (await findPigeonholeNumber(ledger.db, plan.workspace, plan.pigeonholeId));
        if (pigeonholeNumber === undefined) continue; // never read
        const sinkId = lane?.sinkId ?? 0;
        const planning = { ledger, config: now, sinkName: sink, sink: opened, lane: plan, sinkId, pigeonholeNumber };
        // One at a time, because each reads whole lists.
        all.push(...(await planLane(planning, lane, isBack, tallies)));
        if (lane === undefined) continue;
        if (startsSending && !isBack)
          all.push(await observedUntilNow(planning, lane.watermark, observed, both.changedSinks.get(sink)));
        if (both.changedSinks.has(sink)) all.push(...(await cured(planning, tallies)));
      }
    } finally {
      await opened.close();
    }
  }
  return sumUp(all);
}

/** Returns the lanes of a sink under a configuration. */
export function lanesOf(config: Config, sink: string, selections: Selections): PlannedLane[] {
  if (config.sinks[sink] === undefined) return [];
  const read = syncsTo(config, sink).flatMap((sync) => {
    const { workspace } = config.syncs[sync]!;
    return (selections.get(sync) ?? []).map((pigeonholeId) => ({ workspace, pigeonholeId, sync }));
  });
  const places = [...groupBy(read, placeName).values()].map((own) => ({
    ...own[0]!,
    syncs: own.map(({ sync }) => sync),
  }));
  return plannedLanes(config, sink, places);
}

/** @param isBack the lane was left out for a while and is planned again */
async function planLane(
  planning: PlanningLane,
  lane: KnownLane | undefined,
  isBack: boolean,
  tallies: SharedTallies,
): Promise<CausedDeliveries[]> {
  const { ledger, config, sinkName: sink, lane: plan, pigeonholeNumber } = planning;
  const sinkConfig = config.sinks[sink]!;
  const caused = (
    cause: DeliveryCause,
    rows: readonly MappedCount[],
    reason: string | null = null,
  ): CausedDeliveries[] =>
    rows.map(({ items, ...count }) => ({
      ...count,
      sink,
      cause,
      reason,
      changes: items,
      observed: sinkConfig.mode === 'observe',
    }));
  const count = (items: ItemsAsked): Promise<MappedCount[]> => countMapped(planning, items, tallies);
  const asked = { pigeonholeNumber, since: historyStart(ledger, historyMs(sinkConfig)), selected: plan.selected };
  if (lane === undefined) {
    const lists = historyMs(sinkConfig) === 0 ? [] : plan.lists;
    return caused('history', await count({ ...asked, lists }));
  }
  const added = lane.configuration === null ? [] : plan.lists.filter((list) => !lane.lists.includes(list));
  return [
    ...caused(
      'list-added',
      await count({
        ...asked,
        lists: historyMs(sinkConfig) === 0 ? [] : added,
        until: lane.watermark,
        withoutRowOf: lane.sinkId,
      }),
    ),
    ...(await released(planning)).flatMap(({ list, reason, changes }) =>
      caused('released', [unmapped(list, changes)], reason),
    ),
    ...(isBack
      ? (await countChangesBehind(ledger, { pigeonholeNumber, watermark: lane.watermark, lists: plan.lists })).flatMap(
          ({ list, changes }) => caused('since-watermark', [unmapped(list, changes)]),
        )
      : []),
  ];
}

/** A count of changes that are not planned, so that it includes those that the mapping will withhold. */
function unmapped(list: string, items: number): MappedCount {
  return { list, items, withheld: {}, failed: 0, estimated: false };
}

/** Counts changes withheld for a reason that no longer applies. */
async function released({
  ledger,
  config,
  sinkName,
  lane: plan,
  sinkId,
  pigeonholeNumber,
}: PlanningLane): Promise<{ list: string; reason: string; changes: number }[]> {
  const reasons = new Set([...acceptedBy(config.sinks[sinkName]!)].map(consentReason));
  const { lists } = plan;
  const byConsent = await countWithheld(ledger, { sinkId, pigeonholeNumber, lists, keys: null });
  const bySelection =
    plan.pigeonholeId === 0
      ? await countWithheld(ledger, { sinkId, pigeonholeNumber, lists, keys: plan.selected })
      : [];
  return [
    ...byConsent.filter(({ reason }) => reasons.has(reason)),
    ...bySelection.filter(({ reason }) => reason === notSelected),
  ];
}

/**
 * Limits that keep a plan within a few seconds, for each list of a lane and for all lists together. The rest is
 * estimated.
 */
const effort = { items: 3000, ms: 2000 };
const totalMs = 10_000;

/**
 * Counts the changes that an observing sink has counted and sends from now on. If it has not counted all of them yet, or
 * if other settings change as well, the number is an estimate.
 */
async function observedUntilNow(
  { ledger, sinkName: sink, lane: plan, pigeonholeNumber }: PlanningLane,
  watermark: number,
  all: readonly ObservedLane[],
  changedKeys: readonly string[] = [],
): Promise<CausedDeliveries> {
  const lane = all.find((row) => row.sink === sink && placeName(row) === placeName(plan));
  const behind =
    lane === undefined ? await countChangesBehind(ledger, { pigeonholeNumber, watermark, lists: plan.lists }) : [];
  const uncounted = behind.reduce((sum, { changes }) => sum + changes, lane?.behind ?? 0);
  return {
    sink,
    list: 'changes',
    cause: 'observed',
    reason: null,
    changes: uncounted + (lane === undefined ? 0 : lane.wouldSend + lane.wouldSendAnonymously),
    withheld: lane?.wouldWithhold ?? {},
    failed: 0,
    observed: false,
    estimated: uncounted > 0 || changedKeys.some((key) => key !== 'mode'),
  };
}

/** Counts changes that the mapping withheld before and sends now. */
async function cured(planning: PlanningLane, tallies: SharedTallies): Promise<CausedDeliveries[]> {
  const { ledger, config, sinkName, lane, sinkId, pigeonholeNumber } = planning;
  const rows = await countWithheld(ledger, { sinkId, pigeonholeNumber, lists: lane.lists, keys: null });
  const withheld = rows.filter(({ reason }) => curableReasons.includes(reason));
  const all: CausedDeliveries[] = [];
  for (const list of new Set(withheld.map((row) => row.list))) {
    const asked = { list, withheldFor: curableReasons };
    // One at a time, because each plans a whole list.
    const { sent, given, complete } = await tallies.of(planning, asked);
    const rest = withheld.filter((row) => row.list === list).reduce((n, { changes }) => n + changes, 0);
    const changes = complete || given === 0 ? sent : Math.round((rest * sent) / given);
    const observed = config.sinks[sinkName]!.mode === 'observe';
    const estimated = !complete;
    const cause = { cause: 'cured', reason: null } as const;
    all.push({ sink: sinkName, list, ...cause, changes, withheld: {}, failed: 0, observed, estimated });
  }
  return all;
}

function historyStart(ledger: Ledger, ms: number | null): Date | null {
  return ms === null ? null : new Date(ledger.clock.nowMs() - ms);
}

/** Adds up by sink, list, cause and reason, and leaves out zeros. */
function sumUp(all: readonly CausedDeliveries[]): CausedDeliveries[] {
  const sums = sumCounts(all, ({ sink, list, cause, reason }) => JSON.stringify([sink, list, cause, reason]));
  return sums.filter(({ changes, withheld, failed }) => changes + failed > 0 || Object.keys(withheld).length > 0);
}

/**
 * Counts data that stays at sinks which no longer receive it, by sink, list and reason. A narrower configuration
 * affects only later changes and removes nothing (docs/sinks.md), so the operator may want to remove it there.
 */
export async function planKept(ledger: Ledger, { before, now, selectedNow }: Both): Promise<KeptItems[]> {
  const sums = new Map<string, { sink: string; list: string; reason: string; items: number }>();
  const add = (sink: string, list: string, reason: string, items: number): void => {
    const name = JSON.stringify([sink, list, reason]);
    sums.set(name, { sink, list, reason, items: (sums.get(name)?.items ?? 0) + items });
  };
  const lanes = await knownLanes(ledger, Object.keys(now.sinks));
  for (const [sink, config] of Object.entries(now.sinks)) {
    const accepted = acceptedBy(config);
    const accepts = before.sinks[sink] === undefined ? accepted : acceptedBy(before.sinks[sink]);
    const refused = [...accepts].filter((state) => !accepted.has(state)).map(consentReason);
    for (const plan of lanesOf(now, sink, selectedNow)) {
      const lane = lanes.find((row) => row.sink === sink && placeName(row) === placeName(plan));
      if (lane === undefined) continue;
      const dropped = lane.lists.filter((list) => !plan.lists.some((wanted) => wanted === list));
      const asked = refused.length === 0 ? dropped : [...new Set([...dropped, 'attendees'])];
      // One at a time, because each reads whole lanes.
      for (const { list, consent, items } of await countHeldItems(ledger, { ...lane, lists: asked })) {
        const reason = consentReason(consent ?? 'not-known');
        if (dropped.includes(list)) add(sink, list, listNotWanted, items);
        else if (refused.includes(reason)) add(sink, list, reason, items);
      }
    }
  }
  return [...sums.values()];
}
