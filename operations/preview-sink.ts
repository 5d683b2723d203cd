import { isDeepStrictEqual } from 'node:util';
import type { Collaborators } from '../cycles/collaborators.js';
import type { Config } from '../config/config.js';
import type { Environment } from '../config/environment.js';
import type { Candidate } from '../delivering/candidates.js';
import { storedItems } from '../delivering/replays.js';
import type { Foreseen } from '../delivering/would-send.js';
import { findSink } from '../ledger/sinks.js';
import {
  type PlanningLane,
  foresee,
  countLanes,
  mappingProblem,
  type PlannedSink,
  planningLane,
  startTallies,
} from './count-deliverable.js';
import { fieldNotes, fieldsSeen } from './field-notes.js';
import { literalNames, withoutAddressValues, withoutValues } from './literal-names.js';
import { fieldNames } from '../ledger/seen-fields.js';
import type { Sink } from '../sinks/sink.js';
import { shownWord } from './command-input.js';
import { loadCandidate } from './load-process-config.js';
import { createSink } from '../delivering/open-sinks.js';
import { selectedThen } from './plan-configuration.js';
import { lanesOf } from './plan-deliveries.js';
import { z } from '@hono/zod-openapi';
import { candidateSchema } from './configuration-plan.js';
import { configuredName, itemKey, listName, pigeonholeName } from '../base/printable.js';

/** A request to plan what a sink would receive for stored items under any configuration file. */
export const previewRequestSchema = z
  .strictObject({
    sink: configuredName(),
    list: listName().nullable(),
    pigeonhole: pigeonholeName().nullable().describe("WORKSPACE/ID; null: all that the sink's syncs read."),
    key: itemKey().nullable(),
    limit: z.int().min(1).max(1000),
    configuration: candidateSchema,
    changedFrom: candidateSchema
      .nullable()
      .describe('The file to compare with: only items for which the two differ are shown.'),
  })
  .openapi('PreviewRequest');
export type PreviewRequest = z.infer<typeof previewRequestSchema>;

const previewedCallSchema = z
  .object({
    method: z.string().describe('The HTTP method, or a word such as `append` or `upsert`.'),
    address: z.string().describe('The URL without secrets, the path of a file, or the name of a table.'),
    body: z.unknown().describe('JSON or text; null if there is none. In a batch, the part of this item.'),
  })
  .openapi('PreviewedCall');
export type PreviewedCall = z.infer<typeof previewedCallSchema>;

export const previewedOperationSchema = z
  .discriminatedUnion('kind', [
    z.object({
      kind: z.literal('send'),
      calls: z
        .array(previewedCallSchema)
        .readonly()
        .describe('The calls that would be made, in their order; without `personal`, their values are left out.'),
    }),
    z.object({
      kind: z.literal('withhold'),
      reason: z.string().describe('A short stable code, such as `consent-refused` or `condition`.'),
    }),
    z.object({ kind: z.literal('fail'), cause: z.string(), detail: z.string() }),
  ])
  .openapi('PreviewedOperation');
export type PreviewedOperation = z.infer<typeof previewedOperationSchema>;

/** The result for one item, including the personal data that would be sent. */
const previewedItemSchema = z.object({
  workspace: z.string(),
  pigeonholeId: z.int(),
  list: z.string(),
  key: z.string(),
  revision: z.int(),
  now: previewedOperationSchema,
  before: previewedOperationSchema
    .optional()
    .describe('Result under the file to compare with; absent if none was given.'),
});
export type PreviewedItem = z.infer<typeof previewedItemSchema>;

const previewCountSchema = z.object({
  list: z.string(),
  items: z.int().describe('Number of items that would be sent.'),
  withheld: z.record(z.string(), z.int()).readonly().describe('Counts by reason: consent, or left out by the mapping.'),
  failed: z.int().describe('Number of items that would become dead letters because the mapping fails.'),
  estimated: z
    .boolean()
    .describe('Only the newest of a large number were planned; the counts of the others are an estimate.'),
});

export const previewSchema = z
  .object({
    items: z.array(previewedItemSchema).readonly(),
    more: z.boolean().describe('Whether there are more items than requested.'),
    counts: z
      .array(previewCountSchema)
      .readonly()
      .describe('Counts over all stored items: sent, and withheld by reason.'),
    problems: z
      .array(z.string())
      .readonly()
      .describe('A sentence for each list of which the mapping would withhold everything.'),
    notes: z.array(z.string()).readonly().describe('Fields that the mapping reads and no stored item has.'),
  })
  .openapi('Preview');
export type Preview = z.infer<typeof previewSchema>;

/** A preview, and the names of members that reveal nobody: those of the mapping, and of the fields of the lists. */
export interface NamedPreview extends Preview {
  readonly names: ReadonlySet<string>;
}

type Current = Pick<Collaborators, 'config' | 'ledger'>;

/** A configuration, and the sink that it configures. */
export interface Variant {
  readonly config: Config;
  readonly sink: Sink;
}

/**
 * Plans what a sink would receive for the stored items, newest first, with the same code that sends them. Sends and
 * changes nothing.
 * @returns `unknown` with a sentence if there is no such sink or pigeonhole
 * @throws {ConfigError} if a file cannot be used
 */
export async function previewSink(
  current: Current,
  asked: PreviewRequest,
  environment?: Environment,
): Promise<NamedPreview | { readonly unknown: string }> {
  const variants: Variant[] = [];
  try {
    for (const candidate of [asked.configuration, asked.changedFrom]) {
      if (candidate === null) continue;
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
): Promise<NamedPreview | { readonly unknown: string }> {
  const { ledger } = current;
  const selected = await selectedThen(current.config, now!.config, ledger);
  const places = lanesOf(now!.config, asked.sink, selected).filter(
    (lane) => asked.pigeonhole === null || asked.pigeonhole === `${lane.workspace}/${lane.pigeonholeId}`,
  );
  if (places.length === 0) {
    return { unknown: `sink ${asked.sink} receives nothing from ${shownWord(asked.pigeonhole ?? 'any pigeonhole')}` };
  }
  const lanes = places.map((lane) => ({
    ...lane,
    lists: lane.lists.filter((list) => asked.list === null || list === asked.list),
  }));
  const sinkId = (await findSink(ledger.db, asked.sink)) ?? 0;
  const plannedSink = (variant: Variant): PlannedSink => ({ ...variant, sinkName: asked.sink, sinkId });
  const counts = asked.key === null ? await countLanes(ledger, plannedSink(now!), lanes, startTallies()) : [];
  const items: PreviewedItem[] = [];
  for (const lane of lanes) {
    const planning = lane.lists.length === 0 ? undefined : await planningLane(ledger, plannedSink(now!), lane);
    if (planning === undefined) continue;
    const room = asked.limit + 1 - items.length;
    if (room <= 0) break;
    const found = await storedItems(
      ledger.db,
      { sinkId, pigeonholeNumber: planning.pigeonholeNumber, lists: lane.lists, key: asked.key },
      before === undefined ? room : 1000,
    );
    const planned = await planItems(found, planning, before === undefined ? undefined : { ...planning, ...before });
    items.push(...planned.slice(0, room));
  }
  const { syncs, sinks } = now!.config;
  const alone = { syncs, sinks: { [asked.sink]: sinks[asked.sink]! } };
  const seen = await fieldsSeen(ledger, alone);
  return {
    items: items.slice(0, asked.limit),
    more: items.length > asked.limit,
    counts,
    problems: counts.flatMap((count) => mappingProblem(count, alone, asked.sink, seen) ?? []),
    notes: fieldNotes(alone, seen),
    names: await namesOf(ledger, [now!, ...(before === undefined ? [] : [before])], asked.sink, items),
  };
}

/** Returns the names that the settings of the sink spell out, and those of the fields of the previewed lists. */
export async function namesOf(
  ledger: Current['ledger'],
  variants: readonly Pick<Variant, 'config'>[],
  sink: string,
  items: readonly Pick<PreviewedItem, 'workspace' | 'pigeonholeId' | 'list'>[],
): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for (const { config } of variants) literalNames(JSON.parse(JSON.stringify(config.sinks[sink])), names);
  for (const { workspace, pigeonholeId, list } of items) {
    for (const each of [workspace, String(pigeonholeId), list, list.replaceAll('-', '_')]) names.add(each);
  }
  for (const list of new Set(items.map((item) => item.list))) {
    const fields = await fieldNames(ledger, { list, workspace: null, pigeonholeId: null });
    for (const each of fields.values()) for (const name of each) names.add(name);
  }
  return names;
}

/** @param before undefined: there is no file to compare with */
async function planItems(
  found: readonly Candidate[],
  now: PlanningLane,
  before: PlanningLane | undefined,
): Promise<PreviewedItem[]> {
  const nowPlanned = await planShown(now, found);
  const beforePlanned = before === undefined ? undefined : await planShown(before, found);
  const { workspace, pigeonholeId } = now.lane;
  return found.flatMap(({ list, key, revision }, index) => {
    const item = { workspace, pigeonholeId, list, key, revision, now: nowPlanned[index]! };
    if (beforePlanned === undefined) return [item];
    return isDeepStrictEqual(item.now, beforePlanned[index]) ? [] : [{ ...item, before: beforePlanned[index]! }];
  });
}

async function planShown(planning: PlanningLane, found: readonly Candidate[]): Promise<PreviewedOperation[]> {
  return (await foresee(planning, found)).map((each) => shown(each, planning.sink));
}

/** Returns the calls of an operation as a preview shows them, or why there is none. */
export function shown(foreseen: Foreseen, sink: Sink): PreviewedOperation {
  switch (foreseen.kind) {
    case 'send':
      return { kind: 'send', calls: sink.preview(foreseen.operation) };
    case 'withhold':
      return { kind: 'withhold', reason: foreseen.reason };
    case 'supersede':
      return { kind: 'withhold', reason: 'supersede' };
    case 'fail':
      return { kind: 'fail', cause: foreseen.cause, detail: foreseen.detail };
  }
}

interface Operations {
  readonly now: PreviewedOperation;
  readonly before?: PreviewedOperation | undefined;
}

/** Returns an item without the values that would be sent. Pure. @param names names of members that reveal nobody */
export function withoutWhatIsSent<Item extends Operations>(item: Item, names: ReadonlySet<string>): Item {
  const hide = (operation: PreviewedOperation): PreviewedOperation =>
    operation.kind === 'send'
      ? {
          kind: 'send',
          calls: operation.calls.map(({ method, address, body }) => {
            return { method, address: withoutAddressValues(address, names), body: withoutValues(body, names) };
          }),
        }
      : operation;
  return {
    ...item,
    now: hide(item.now),
    ...(item.before === undefined ? {} : { before: hide(item.before) }),
  };
}
