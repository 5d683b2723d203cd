import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import type { LaneStatus } from './status.js';
import { fieldsSeen } from './fields-seen.js';
import { mentionedLists } from './field-notes.js';
import { lackOf, misspelledCondition } from './lacking-values.js';
import type { RecentByList } from '../delivering/recent-decisions.js';
import {
  judgeObservation,
  judgeWithholding,
  type ListOutcomes,
  type Withholding,
  withheldByCondition,
  withholdingText,
} from './withholding.js';

/** A list of which a sink withholds everything, or suddenly far more than before. */
export interface SinkWithholding {
  readonly list: string;
  readonly kind: Withholding['kind'];
  /** A sentence for a person: it names fields and counts, never a value. */
  readonly text: string;
}

type Lane = Pick<LaneStatus, 'sink' | 'outcomes' | 'recent'>;

/** Stored fields rarely change, but the status is requested every few seconds. */
const rememberedMs = 30_000;
const remembered = new WeakMap<Ledger, Map<string, { readonly at: number; readonly text: string | null }>>();

/**
 * Returns what sinks withhold that they should probably send, by sink; sinks without such a list are left out. Reads the
 * stored fields only where something is withheld so, and at most twice a minute.
 * @param lanes of what sinks are sent now
 */
export async function findWithholding(
  ledger: Ledger,
  config: Pick<Config, 'syncs' | 'sinks'>,
  lanes: readonly Lane[],
): Promise<ReadonlyMap<string, readonly SinkWithholding[]>> {
  const found = new Map<string, SinkWithholding[]>();
  for (const sink of Object.keys(config.sinks)) {
    for (const outcomes of byList(lanes.filter((lane) => lane.sink === sink))) {
      const withholding = judgeWithholding(outcomes) ?? withheldByCondition(outcomes);
      if (withholding === null) continue;
      const { list, kind } = withholding;
      // oxlint-disable-next-line no-await-in-loop -- rarely more than one
      const text = await textOf(ledger, config, sink, withholding);
      if (text !== null) found.set(sink, [...(found.get(sink) ?? []), { list, kind, text }]);
    }
  }
  return found;
}

/** Returns what an observing sink would withhold that it should probably send; none where it would send anything. */
export async function findObservedWithholding(
  ledger: Ledger,
  config: Pick<Config, 'syncs' | 'sinks'>,
  sink: string,
  observation: Parameters<typeof judgeObservation>[0],
): Promise<readonly SinkWithholding[]> {
  const withholding = judgeObservation(observation);
  if (withholding === null) return [];
  const text = await textOf(ledger, config, sink, withholding);
  return text === null ? [] : [{ list: withholding.list, kind: withholding.kind, text }];
}

/** @returns null where nothing is wrong after all: a condition that reads what is there is meant */
async function textOf(
  ledger: Ledger,
  config: Pick<Config, 'syncs' | 'sinks'>,
  sink: string,
  withholding: Withholding,
): Promise<string | null> {
  const place = JSON.stringify([sink, withholding, String(config.sinks[sink]!.type)]);
  return await rememberedText(ledger, place, async () => {
    const { list, kind, reason } = withholding;
    const alone = { syncs: config.syncs, sinks: { [sink]: config.sinks[sink]! } };
    const seen = await fieldsSeen(ledger, alone);
    if (reason === 'condition') {
      const misspelled = misspelledCondition(alone, { sink, list }, seen);
      return misspelled === null ? null : withholdingText(withholding, misspelled);
    }
    const lists: readonly string[] = kind === 'would' ? mentionedLists(alone) : [list];
    const lacks = lists.flatMap((each) => lackOf(alone, { sink, list: each, reason }, seen) ?? []);
    return withholdingText(withholding, lacks[0] ?? null);
  });
}

async function rememberedText(
  ledger: Ledger,
  place: string,
  make: () => Promise<string | null>,
): Promise<string | null> {
  const texts = remembered.get(ledger) ?? new Map<string, { readonly at: number; readonly text: string | null }>();
  remembered.set(ledger, texts);
  const known = texts.get(place);
  if (known !== undefined && performance.now() - known.at < rememberedMs) return known.text;
  const text = await make();
  for (const [each, { at }] of texts) if (performance.now() - at >= rememberedMs) texts.delete(each);
  texts.set(place, { at: performance.now(), text });
  return text;
}

/** Of all lanes of a sink together. Pure. */
export function byList(lanes: readonly Pick<Lane, 'outcomes' | 'recent'>[]): ListOutcomes[] {
  const lists = new Map<
    string,
    { list: string; counts: ListOutcomes['counts'][number][]; recent: ListOutcomes['recent'] }
  >();
  const of = (list: string): { counts: ListOutcomes['counts'][number][]; recent: ListOutcomes['recent'] } => {
    const known = lists.get(list) ?? { list, counts: [], recent: { sent: 0, lacking: 0 } };
    lists.set(list, known);
    return known;
  };
  for (const { outcomes, recent } of lanes) {
    for (const { list, ...count } of outcomes) of(list).counts.push(count);
    for (const [list, { sent, lacking }] of Object.entries(JSON.parse(recent) as RecentByList)) {
      const known = of(list);
      known.recent = { sent: known.recent.sent + sent, lacking: known.recent.lacking + lacking };
    }
  }
  return [...lists.values()];
}
