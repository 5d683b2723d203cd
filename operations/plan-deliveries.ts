import { consentReason, curableReasons, notSelected } from '../delivering/decide-delivery.js';
import {
  type PlannedLane,
  plannedLanes,
  countChangesBehind,
  countWithheld,
  type KnownLane,
  knownLanes,
} from '../delivering/lane-plans.js';
import type { CausedDeliveries, DeliveryCause, KeptItems } from './configuration-plan.js';
import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { findRef } from '../ledger/pigeonholes.js';
import { listNotWanted } from '../ledger/lanes.js';
import { addCounts, type ItemsAsked, SharedTallies } from './count-deliverable.js';
import { countMapped, type MappedCount } from './count-mapped.js';
import type { Sink } from '../sinks/sink.js';
import { acceptedBy, createSink, historyMs } from '../work/open-sinks.js';
import type { SelectedBySync } from './plan-selections.js';
import { nameOf } from './ledger-status.js';
import { countHeldItems } from '../delivering/read-lanes.js';
import { type ObservedLane, observedLanes } from '../delivering/observe-lanes.js';
import { allApprovals } from '../ledger/sinks.js';

/** The two configurations, each with the pigeonholes that its syncs read. */
export interface Both {
  readonly before: Config;
  readonly now: Config;
  readonly selectedBefore: SelectedBySync;
  readonly selectedNow: SelectedBySync;
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
    const wasPlanned = new Set(lanesOf(both.before, sink, both.selectedBefore).map(nameOf));
    const opened = createSink(now, sink);
    try {
      for (const plan of lanesOf(now, sink, both.selectedNow)) {
        const planning = { ledger, config: now, sink, opened, plan };
        const lane = lanes.find((row) => row.sink === sink && nameOf(row) === nameOf(plan));
        const isBack = lane !== undefined && (lane.isArchived || !wasPlanned.has(nameOf(plan)));
        // One at a time, because each reads whole lists.
        all.push(...(await planLane(planning, lane, isBack, tallies)));
        if (lane !== undefined && startsSending && !isBack)
          all.push(await observedUntilNow(planning, lane, observed, both.changedSinks.get(sink)));
        if (lane !== undefined && both.changedSinks.has(sink)) all.push(...(await cured(planning, lane, tallies)));
      }
    } finally {
      await opened.close();
    }
  }
  return sumUp(all);
}

/** Returns the lanes of a sink under a configuration. */
export function lanesOf(config: Config, sink: string, selected: SelectedBySync): PlannedLane[] {
  if (config.sinks[sink] === undefined) return [];
  return plannedLanes(config, sink, selected.of(sink));
}

/** A lane of a sink as the new configuration plans it. */
interface LaneToPlan {
  readonly ledger: Ledger;
  readonly config: Config;
  readonly sink: string;
  /** The sink, for planning only. */
  readonly opened: Sink;
  readonly plan: PlannedLane;
}

/** @param isBack the lane was left out for a while and is planned again */
async function planLane(
  laneToPlan: LaneToPlan,
  lane: KnownLane | undefined,
  isBack: boolean,
  tallies: SharedTallies,
): Promise<CausedDeliveries[]> {
  const { ledger, config, sink, opened, plan } = laneToPlan;
  const ref = lane?.ref ?? (await findRef(ledger.db, plan.workspace, plan.pigeonholeId));
  if (ref === undefined) return []; // never read
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
  const count = async (items: ItemsAsked): Promise<MappedCount[]> => {
    const planning = { ledger, config, sinkName: sink, sink: opened, lane: plan, sinkId: lane?.sinkId ?? 0, ref };
    return await countMapped(planning, items, tallies);
  };
  const asked = { ref, since: historyStart(ledger, historyMs(sinkConfig)), until: null, withoutRowOf: null };
  if (lane === undefined) {
    const lists = historyMs(sinkConfig) === 0 ? [] : plan.lists;
    return caused('history', await count({ ...asked, lists, selected: plan.selected }));
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
        selected: plan.selected,
      }),
    ),
    ...(await released(laneToPlan, lane)).flatMap(({ list, reason, changes }) =>
      caused('released', [unmapped(list, changes)], reason),
    ),
    ...(isBack
      ? (await countChangesBehind(ledger, { ref, watermark: lane.watermark, lists: plan.lists })).flatMap(
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
async function released(
  { ledger, config, sink, plan }: LaneToPlan,
  { sinkId, ref }: KnownLane,
): Promise<{ list: string; reason: string; changes: number }[]> {
  const reasons = new Set([...acceptedBy(config.sinks[sink]!)].map(consentReason));
  const lists = plan.lists;
  const byConsent = await countWithheld(ledger, { sinkId, ref, lists, keys: null });
  const bySelection =
    plan.pigeonholeId === 0 ? await countWithheld(ledger, { sinkId, ref, lists, keys: plan.selected }) : [];
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
  { ledger, sink, plan }: LaneToPlan,
  { ref, watermark }: KnownLane,
  all: readonly ObservedLane[],
  changedKeys: readonly string[] = [],
): Promise<CausedDeliveries> {
  const lane = all.find((row) => row.sink === sink && nameOf(row) === nameOf(plan));
  const behind = lane === undefined ? await countChangesBehind(ledger, { ref, watermark, lists: plan.lists }) : [];
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
async function cured(
  { ledger, config, sink: sinkName, opened: sink, plan: lane }: LaneToPlan,
  { sinkId, ref }: KnownLane,
  tallies: SharedTallies,
): Promise<CausedDeliveries[]> {
  const rows = await countWithheld(ledger, { sinkId, ref, lists: lane.lists, keys: null });
  const withheld = rows.filter(({ reason }) => curableReasons.includes(reason));
  const all: CausedDeliveries[] = [];
  for (const list of new Set(withheld.map((row) => row.list))) {
    const planning = { ledger, config, sinkName, sink, lane, sinkId, ref };
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

/** Counts by sink, list, cause and reason, without zeros. */
function sumUp(all: readonly CausedDeliveries[]): CausedDeliveries[] {
  const sums = new Map<
    string,
    CausedDeliveries & { changes: number; failed: number; estimated: boolean; withheld: Record<string, number> }
  >();
  for (const each of all) {
    const name = JSON.stringify([each.sink, each.list, each.cause, each.reason]);
    const sum = sums.get(name) ?? { ...each, changes: 0, failed: 0, withheld: {} };
    sum.changes += each.changes;
    sum.failed += each.failed;
    sum.estimated ||= each.estimated;
    addCounts(sum.withheld, each.withheld);
    sums.set(name, sum);
  }
  return [...sums.values()].filter(
    ({ changes, withheld, failed }) => changes + failed > 0 || Object.keys(withheld).length > 0,
  );
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
    for (const plan of plannedLanes(now, sink, selectedNow.of(sink))) {
      const lane = lanes.find((row) => row.sink === sink && nameOf(row) === nameOf(plan));
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
