import { isDeepStrictEqual } from 'node:util';
import type { Collaborators } from '../activities/collaborators.js';
import { decideDelivery } from '../activities/decide-delivery.js';
import { type PlannedLane, plannedLanes } from '../activities/lane-plans.js';
import { nothingAround, toSubject } from '../activities/to-subject.js';
import type { Preview, PreviewCount, PreviewedItem, PreviewedOperation, PreviewRequest } from '../api/preview.js';
import type { Config } from '../config/config.js';
import type { Environment } from '../config/environment.js';
import type { Candidate } from '../ledger/queries/candidates.js';
import { findRef } from '../ledger/queries/pigeonholes.js';
import { findSink } from '../ledger/queries/sinks.js';
import { storedItems } from '../ledger/queries/stored-items.js';
import { surroundingsOf } from '../ledger/queries/surroundings.js';
import type { Planned, Sink } from '../sinks/sink.js';
import { shownWord } from './command-words.js';
import { countWhatGoes } from './count-what-goes.js';
import { loadCandidate } from './load-candidate.js';
import { acceptedBy, createSink } from './open-sinks.js';
import { selectedThen } from './plan-selections.js';

type Current = Pick<Collaborators, 'config' | 'ledger'>;

/** A configuration with the sink that it makes. */
interface Variant {
  readonly config: Config;
  readonly sink: Sink;
}

/**
 * What a sink would be sent of what the ledger holds, planned by the same code that sends; nothing is sent, nothing is
 * changed. Looks at the newest items first.
 * @returns `unknown` with a sentence when the sink or the pigeonhole is not there
 * @throws {ConfigError} when a file cannot be used
 */
export async function previewSink(
  current: Current,
  asked: PreviewRequest,
  environment?: Environment,
): Promise<Preview | { readonly unknown: string }> {
  const variants: Variant[] = [];
  try {
    for (const candidate of [asked.configuration, asked.changedFrom]) {
      if (candidate === null) continue;
      // oxlint-disable-next-line no-await-in-loop -- two files
      const config = await loadCandidate(current.config, candidate, environment);
      if (config.sinks[asked.sink] === undefined) return { unknown: `no sink ${shownWord(asked.sink)} is configured` };
      variants.push({ config, sink: createSink(config, asked.sink) });
    }
    return await preview(current, asked, variants);
  } finally {
    await Promise.all(variants.map(({ sink }) => sink.close()));
  }
}

async function preview(
  current: Current,
  asked: PreviewRequest,
  [now, before]: readonly Variant[],
): Promise<Preview | { readonly unknown: string }> {
  const { ledger } = current;
  const selected = await selectedThen(current.config, now!.config, ledger);
  const lanes = plannedLanes(now!.config, asked.sink, selected.of(asked.sink)).filter(
    (lane) => asked.pigeonhole === null || asked.pigeonhole === `${lane.workspace}/${lane.pigeonholeId}`,
  );
  if (lanes.length === 0) {
    return { unknown: `sink ${asked.sink} is sent nothing of ${shownWord(asked.pigeonhole ?? 'any pigeonhole')}` };
  }
  const sinkId = (await findSink(ledger, asked.sink)) ?? 0;
  const items: PreviewedItem[] = [];
  const counts: PreviewCount[] = [];
  for (const lane of lanes) {
    // oxlint-disable-next-line no-await-in-loop -- each reads whole lists: not all at once
    const ref = await findRef(ledger.db, lane.workspace, lane.pigeonholeId);
    const lists: readonly string[] = lane.lists.filter((list) => asked.list === null || list === asked.list);
    if (ref === undefined || lists.length === 0) continue;
    const of = { ref, lists, since: null, until: null, withoutRowOf: null, selected: lane.selected };
    // oxlint-disable-next-line no-await-in-loop
    if (asked.key === null) counts.push(...(await countWhatGoes(ledger, now!.config.sinks[asked.sink]!, of)));
    const room = asked.limit + 1 - items.length;
    if (room <= 0) continue;
    // oxlint-disable-next-line no-await-in-loop
    const found = await storedItems(ledger, { sinkId, ref, lists, key: asked.key }, before === undefined ? room : 1000);
    // oxlint-disable-next-line no-await-in-loop
    items.push(...(await planItems(current, { asked, lane, sinkId, ref }, found, now!, before)).slice(0, room));
  }
  return { items: items.slice(0, asked.limit), more: items.length > asked.limit, counts: sumUp(counts) };
}

interface Place {
  readonly asked: PreviewRequest;
  readonly lane: PlannedLane;
  readonly sinkId: number;
  readonly ref: number;
}

async function planItems(
  current: Current,
  place: Place,
  found: readonly Candidate[],
  now: Variant,
  before: Variant | undefined,
): Promise<PreviewedItem[]> {
  const nowPlanned = await planUnder(current, place, found, now);
  const beforePlanned = before === undefined ? undefined : await planUnder(current, place, found, before);
  const { workspace, pigeonholeId } = place.lane;
  return found.flatMap(({ list, key, revision }, index) => {
    const item = { workspace, pigeonholeId, list, key, revision, now: nowPlanned[index]! };
    if (beforePlanned === undefined) return [item];
    return isDeepStrictEqual(item.now, beforePlanned[index]) ? [] : [{ ...item, before: beforePlanned[index]! }];
  });
}

async function planUnder(
  { ledger }: Current,
  { asked, lane, sinkId, ref }: Place,
  found: readonly Candidate[],
  { config, sink }: Variant,
): Promise<PreviewedOperation[]> {
  const decided = found.map((candidate) => ({
    candidate,
    decision: decideDelivery(candidate, {
      accepts: acceptedBy(config.sinks[asked.sink]!),
      revisions: sink.traits.revisions,
      selected: new Set(lane.selected),
      onConsentWithdrawn: config.sinks[asked.sink]!.onConsentWithdrawn,
      mayForget: () => true,
    }),
  }));
  const sending = decided.filter(({ decision }) => decision.kind === 'send');
  const around = sink.traits.looksAround
    ? await surroundingsOf(
        ledger.db,
        { sinkId, ref },
        sending.map(({ candidate }) => candidate),
      )
    : [];
  const planned = await sink.plan(
    sending.map(({ candidate, decision }, index) => {
      const identity = decision.kind === 'send' && decision.identity;
      return toSubject(candidate, around[index] ?? nothingAround, { identity, place: lane });
    }),
  );
  const plans = new Map(sending.map(({ candidate }, index) => [candidate, planned[index]!]));
  return decided.map(({ candidate, decision }) => {
    const plan = plans.get(candidate);
    if (plan !== undefined) return shown(plan);
    return { kind: 'withhold', reason: decision.kind === 'withhold' ? decision.reason : decision.kind };
  });
}

function shown(plan: Planned): PreviewedOperation {
  switch (plan.kind) {
    case 'send':
      return { kind: 'send', operation: plan.operation };
    case 'nothing':
      return { kind: 'withhold', reason: plan.reason };
    case 'unplannable':
      return { kind: 'fail', cause: plan.cause, detail: plan.detail };
  }
}

/** Over all pigeonholes, by list. */
function sumUp(counts: readonly PreviewCount[]): PreviewCount[] {
  const sums = new Map<string, { list: string; items: number; withheld: Record<string, number> }>();
  for (const { list, items, withheld } of counts) {
    const sum = sums.get(list) ?? { list, items: 0, withheld: {} };
    sum.items += items;
    for (const [reason, n] of Object.entries(withheld)) sum.withheld[reason] = (sum.withheld[reason] ?? 0) + n;
    sums.set(list, sum);
  }
  return [...sums.values()];
}
