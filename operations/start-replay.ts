import type { Collaborators } from '../cycles/collaborators.js';
import { numberedLanes, syncsTo, type PlannedLane } from '../delivering/lane-plans.js';
import { type Selected, selectedPigeonhole, selectedPigeonholes } from '../ledger/pigeonholes.js';
import type { Ledger } from '../ledger/ledger.js';
import { placeName, placeNamed } from '../ledger/pauses.js';
import { requestReplay } from '../delivering/replays.js';
import { countDeliverable, startTallies, sumCounts, throughMapping } from './count-deliverable.js';
import type { WorkflowStarter } from './orchestration.js';
import { z } from '@hono/zod-openapi';
import { listNames } from '../base/lists.js';
import { configuredName, itemKey, pigeonholeName, printable } from '../base/printable.js';

/** An operator's request to send stored items again. */
export const replayRequestSchema = z
  .strictObject({
    id: z
      .uuid()
      .describe(
        'Chosen by the client, so that a repeated request is the same replay. The envelope of each sent change contains it.',
      ),
    sink: configuredName().nullable().describe("A sink's name; null: every sink."),
    lists: z.array(z.enum(listNames)).min(1).nullable().describe('Null: all.'),
    pigeonhole: pigeonholeName()
      .nullable()
      .describe("`<workspace>/<id>`; null: every pigeonhole, and the workspaces' own lists."),
    from: z.iso
      .datetime({ offset: true })
      .nullable()
      .describe('ISO 8601: only items that changed since then; null: all.'),
    keys: z
      .array(itemKey())
      .min(1)
      .max(200)
      .optional()
      .describe('Only these items. Requires `pigeonhole`, and one list in `lists`.'),
    dryRun: z.boolean().describe('Whether to count only.'),
    by: printable(200).optional(),
    reason: printable(500).optional(),
  })
  .refine(({ keys, lists, pigeonhole }) => keys === undefined || (lists?.length === 1 && pigeonhole !== null), {
    error: 'keys need one list and a pigeonhole',
  })
  .openapi('ReplayRequest');
export type ReplayRequest = z.infer<typeof replayRequestSchema>;

/** Items of a list that a sink would receive again, and those withheld from it, by reason. */
const replayCountSchema = z.object({
  sink: z.string(),
  list: z.string(),
  items: z.int(),
  withheld: z.record(z.string(), z.int()).readonly(),
  failed: z.int().describe('Items that would become dead letters because the mapping fails.'),
  estimated: z.boolean().describe('Only the newest of a large number were planned, so the counts are an estimate.'),
});
export type ReplayCount = z.infer<typeof replayCountSchema>;

export const replayAnswerSchema = z
  .object({ id: z.string(), dryRun: z.boolean(), counts: z.array(replayCountSchema).readonly() })
  .openapi('Replay');

/** The result of a replay; `unknown` is a sentence that names the missing sink, pigeonhole or list. */
export type ReplayResult = { readonly unknown: string } | z.infer<typeof replayAnswerSchema>;

interface ReplayLane {
  readonly sink: string;
  readonly pigeonholeNumber: number;
  readonly plan: PlannedLane;
  /** The requested lists of the lane. */
  readonly lists: readonly string[];
}

/**
 * Sends stored items again, to one sink or all, or counts them. Each item is decided again when it is sent, so the
 * counts are an estimate.
 */
export async function startReplay(
  { deps, starter }: { deps: Pick<Collaborators, 'config' | 'ledger' | 'sinks' | 'log'>; starter: WorkflowStarter },
  wanted: ReplayRequest,
): Promise<ReplayResult> {
  const { config, ledger, sinks } = deps;
  if (wanted.sink !== null && !sinks.has(wanted.sink)) return { unknown: `no sink ${wanted.sink} is known` };
  const all = await lanesOf(deps, wanted);
  const lanes = all.filter(({ lists }) => lists.length > 0);
  if (wanted.pigeonhole !== null && all.length === 0) {
    return { unknown: `no pigeonhole ${wanted.pigeonhole} is read for ${wanted.sink ?? 'any sink'}` };
  }
  if (lanes.length === 0) {
    return {
      unknown:
        wanted.sink === null ? 'no sink receives these lists' : `sink ${wanted.sink} receives none of these lists`,
    };
  }
  const from = wanted.from === null ? null : new Date(wanted.from);
  const tallies = startTallies();
  const counts: ReplayCount[] = [];
  const totals: number[] = [];
  for (const { sink: sinkName, pigeonholeNumber, plan, lists } of lanes) {
    if (wanted.keys !== undefined) {
      const items = new Set(wanted.keys).size;
      counts.push({ sink: sinkName, list: lists[0]!, items, withheld: {}, failed: 0, estimated: true });
      totals.push(items);
      continue;
    }
    const { id: sinkId, sink } = sinks.get(sinkName)!;
    const asked = { pigeonholeNumber, lists, since: from, selected: plan.selected };
    // One at a time, because each reads whole lists.
    const rows = await countDeliverable(ledger, config.sinks[sinkName]!, asked);
    const mapped = await throughMapping(
      { ledger, config, sinkName, sink, sinkId, lane: plan, pigeonholeNumber },
      { asked, counts: rows },
      tallies,
    );
    counts.push(...mapped.map((row) => ({ sink: sinkName, ...row })));
    // The replay sends what the rules allow; the mapping decides later, so the progress includes what it withholds.
    totals.push(rows.reduce((sum, { items }) => sum + items, 0));
  }
  const summed = sumCounts(counts, ({ sink, list }) => `${sink} ${list}`);
  if (wanted.dryRun) return { id: wanted.id, dryRun: true, counts: summed };
  await requestReplay(ledger, {
    id: wanted.id,
    lanes: lanes.map(({ sink, pigeonholeNumber }, index) => ({
      sinkId: sinks.get(sink)!.id,
      pigeonholeNumber,
      total: totals[index]!,
    })),
    lists: wanted.lists,
    keys: wanted.keys ?? null,
    from,
    by: wanted.by ?? null,
    reason: wanted.reason ?? null,
  });
  const names = [...new Set(lanes.map(({ sink }) => sink))];
  deps.log.info({ replay: wanted.id, sinks: names }, 'replay requested'); // the audit log records the operator
  await starter.wakeSinks(names);
  return { id: wanted.id, dryRun: false, counts: summed };
}

async function lanesOf(
  { config, ledger, sinks }: Pick<Collaborators, 'config' | 'ledger' | 'sinks'>,
  wanted: ReplayRequest,
): Promise<ReplayLane[]> {
  const lanes: ReplayLane[] = [];
  for (const sink of wanted.sink === null ? sinks.keys() : [wanted.sink]) {
    const selected = await selectedBy(ledger, syncsTo(config, sink), wanted.pigeonhole);
    for (const [pigeonholeNumber, plan] of await numberedLanes({ config, ledger }, sink, selected)) {
      if (wanted.pigeonhole !== null && placeName(plan) !== wanted.pigeonhole) continue;
      lanes.push({
        sink,
        pigeonholeNumber,
        plan,
        lists: plan.lists.filter((list) => wanted.lists?.includes(list) ?? true),
      });
    }
  }
  return lanes;
}

/** @param name only this pigeonhole; null: all that the syncs have selected */
async function selectedBy(ledger: Ledger, syncs: readonly string[], name: string | null): Promise<readonly Selected[]> {
  const place = name === null ? undefined : placeNamed(name);
  // The lists of a workspace itself (id 0) depend on all of its pigeonholes.
  if (place === undefined) return await selectedPigeonholes(ledger, syncs);
  const selected = await selectedPigeonhole(ledger, syncs, place);
  return selected === undefined ? [] : [selected];
}
