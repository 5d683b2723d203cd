import { isDeepStrictEqual } from 'node:util';
import { z } from '@hono/zod-openapi';
import { itemKey, listName, configuredName } from '../../base/printable.js';
import type { ListName } from '../../base/lists.js';
import type { Config } from '../../config/config.js';
import type { Environment } from '../../config/environment.js';
import type { Collaborators } from '../../cycles/collaborators.js';
import type { Candidate } from '../../delivering/candidates.js';
import type { PlannedLane } from '../../delivering/lane-plans.js';
import { createSink } from '../../delivering/open-sinks.js';
import { storedItems } from '../../delivering/replays.js';
import type { Foreseen } from '../../delivering/would-send.js';
import type { Ledger } from '../../ledger/ledger.js';
import { seenFields, type SeenFields } from '../../ledger/seen-fields.js';
import { findSink } from '../../ledger/sinks.js';
import { useIndexOrder } from '../../ledger/sql-expressions.js';
import type { MappingView } from '../../sinks/mapping/expression.js';
import { addCounts } from '../ledger-status.js';
import { mappingProblem, foresee, type PlanningLane, planningLane, viewOf } from '../count-deliverable.js';
import { fieldNotes, mentionedLists } from '../field-notes.js';
import { nameItems } from '../name-items.js';
import { selectedThen } from '../plan-configuration.js';
import { lanesOf } from '../plan-deliveries.js';
import { namesOf, previewedOperationSchema, shown, type Variant, withoutWhatIsSent } from '../preview-sink.js';
import { triedProblemSchema } from './check-mapping-text.js';
import { loadMapping, maxMappingCharacters } from './load-mapping.js';
import { workWithin } from './work-within.js';

/** Number of stored items, the newest of each list and pigeonhole, for which a mapping is tried. */
export const triedItems = 400;
/** Minimum number of items of a list of a pigeonhole. */
const minShare = 20;
/** No further item is tried after this time. */
const tryMs = 1500;
const sample = 200;

const itemName = z.strictObject({
  workspace: configuredName(),
  pigeonholeId: z.int().min(0),
  list: listName(),
  key: itemKey(),
});

export const tryRequestSchema = z
  .strictObject({
    text: z.string().max(maxMappingCharacters).nullable().describe('The mapping as YAML; null: that of the file.'),
    item: itemName.nullable().describe('The item whose calls are shown; null: the first one that was tried.'),
  })
  .openapi('TryRequest');
export type TryRequest = z.infer<typeof tryRequestSchema>;

const triedCountSchema = z.object({
  list: z.string(),
  items: z.int().describe('Stored items for which the mapping was tried.'),
  matching: z.int().describe('Those that the mapping does not exclude.'),
  sent: z.int().describe('Those that a sink which has received nothing yet would receive.'),
  withheld: z.record(z.string(), z.int()).readonly().describe('Those that it would not receive, by reason.'),
  failed: z.int().describe('Those for which the mapping fails.'),
  delivered: z.int().describe('Those whose present revision was delivered.'),
  differing: z
    .int()
    .describe('Delivered items for which this mapping gives other calls than the running configuration.'),
});
export type TriedCount = z.infer<typeof triedCountSchema>;

const triedItemSchema = itemName.extend({
  noun: z.string(),
  title: z.string().nullable(),
  session: z.string().nullable(),
  result: z.enum(['send', 'withhold', 'fail']),
  reason: z.string().nullable().describe('A short stable code, such as `condition`; null if it is sent.'),
  delivered: z.boolean(),
  differs: z.boolean(),
});
export type TriedItem = z.infer<typeof triedItemSchema>;

const shownItemSchema = itemName.extend({
  sees: z
    .record(z.string(), z.unknown())
    .readonly()
    .nullable()
    .describe(
      'What expressions see: `item`, `attendee`, `session`, `pigeonhole`, `change`, `previous`. Null without personal data, and if the sink may not receive the item.',
    ),
  now: previewedOperationSchema,
  before: previewedOperationSchema.nullable().describe('With the running configuration; null if it has no such sink.'),
});

export const triedMappingSchema = z
  .object({
    problems: z.array(triedProblemSchema).readonly().describe('Mistakes, because of which nothing was tried.'),
    counts: z.array(triedCountSchema).readonly(),
    complete: z.boolean().describe('Whether the mapping was tried for all stored items.'),
    warnings: z.array(z.string()).readonly().describe('Lists of which everything is withheld, and fields never seen.'),
    items: z.array(triedItemSchema).readonly().describe('The items for which it was tried, the newest first.'),
    item: shownItemSchema.nullable(),
  })
  .openapi('TriedMapping');
export type TriedMapping = z.infer<typeof triedMappingSchema>;
export { shownItemSchema };
type ShownItem = z.infer<typeof shownItemSchema>;

type Current = Pick<Collaborators, 'config' | 'ledger'>;

/**
 * Tries a mapping with stored items, with the code that sends them. The work is limited: the newest items of each list
 * and pigeonhole, and a time. Sends and changes nothing.
 * @param options.personal false: titles, values and texts of people are left out
 * @returns `unknown` with a sentence if the sink has no mapping
 */
export async function tryMapping(
  current: Current,
  sink: string,
  asked: TryRequest,
  { personal, environment }: { readonly personal: boolean; readonly environment?: Environment },
): Promise<TriedMapping | { readonly unknown: string }> {
  const loaded = await loadMapping(current.config, sink, asked.text, environment);
  if ('unknown' in loaded) return loaded;
  if ('problems' in loaded) {
    return { problems: loaded.problems, counts: [], complete: true, warnings: [], items: [], item: null };
  }
  return (await tryLoaded(current, { name: sink, item: asked.item, personal, examples: 1 }, loaded)).tried;
}

/** The items whose calls are shown. */
interface Shown {
  /** Name of the sink. */
  readonly name: string;
  /** Null: the first items that would be sent. */
  readonly item: TryRequest['item'];
  readonly personal: boolean;
  /** Number of items. */
  readonly examples: number;
}

/** Tries the mapping of a sink of a loaded configuration. */
export async function tryLoaded(
  current: Current,
  shows: Shown,
  loaded: Config,
): Promise<{ readonly tried: TriedMapping; readonly examples: readonly ShownItem[] }> {
  const { name } = shows;
  const variants = [{ config: loaded, sink: createSink(loaded, name) }];
  if (current.config.sinks[name] !== undefined) {
    variants.push({ config: current.config, sink: createSink(current.config, name) });
  }
  try {
    return await tryVariants(current, shows, variants);
  } finally {
    await Promise.all(variants.map((each) => each.sink.close()));
  }
}

interface Sampled {
  readonly lane: PlannedLane;
  readonly candidate: Candidate;
  readonly now: Foreseen;
  readonly before: Foreseen | null;
  readonly delivered: boolean;
  readonly differs: boolean;
}

async function tryVariants(
  current: Current,
  asked: Shown,
  [now, before]: readonly Variant[],
): Promise<{ tried: TriedMapping; examples: ShownItem[] }> {
  const { ledger } = current;
  const lanes = lanesOf(now!.config, asked.name, await selectedThen(current.config, now!.config, ledger));
  const sinkId = (await findSink(ledger.db, asked.name)) ?? 0;
  const { tried, complete } = await tryStored(ledger, { name: asked.name, sinkId, lanes, now: now!, before });
  const counts = countsOf(tried);
  const named = await nameItems(ledger, tried.map(nameOfSampled), { personal: asked.personal });
  const sent = tried.filter(({ now: { kind } }) => kind === 'send');
  const first = (sent.length > 0 ? sent : tried).slice(0, asked.examples).map(nameOfSampled);
  const chosen = asked.item === null ? first : [asked.item];
  const examples: ShownItem[] = [];
  for (const each of chosen) {
    const lane = lanes.find((one) => isPlace(one, each) && one.lists.some((list) => list === each.list));
    // One at a time: there are at most three.
    const item = lane && (await showItem(ledger, { ...asked, sinkId, lane, chosen: each }, { now: now!, before }));
    if (item) examples.push(item);
  }
  const warnings = await warningsOf(ledger, now!.config, { sink: asked.name, counts, place: chosen[0] ?? null });
  const items = tried.map((each, at) => toTriedItem(each, named[at]!));
  return { tried: { problems: [], counts, complete, warnings, items, item: examples[0] ?? null }, examples };
}

function nameOfSampled({ lane, candidate: { list, key } }: Sampled) {
  return { workspace: lane.workspace, pigeonholeId: lane.pigeonholeId, list: list as ListName, key };
}

function isPlace(
  one: Pick<PlannedLane, 'workspace' | 'pigeonholeId'>,
  other: Pick<PlannedLane, 'workspace' | 'pigeonholeId'>,
): boolean {
  return one.workspace === other.workspace && one.pigeonholeId === other.pigeonholeId;
}

/** Plans the newest items of each list and pigeonhole as if the sink had received nothing. */
async function tryStored(
  ledger: Ledger,
  {
    name,
    sinkId,
    lanes,
    now,
    before,
  }: {
    readonly name: string;
    readonly sinkId: number;
    readonly lanes: readonly PlannedLane[];
    readonly now: Variant;
    readonly before: Variant | undefined;
  },
): Promise<{ tried: Sampled[]; complete: boolean }> {
  const until = performance.now() + tryMs;
  const slices = lanes.flatMap((lane) => lane.lists.map((list) => ({ lane, list })));
  const share = Math.max(minShare, Math.floor(triedItems / Math.max(1, slices.length)));
  const tried: Sampled[] = [];
  let complete = true;
  for (const { lane, list } of slices) {
    const room = Math.min(share, triedItems - tried.length);
    if (room === 0 || performance.now() > until) return { tried, complete: false };
    const planning = await planningLane(ledger, { ...now, sinkName: name, sinkId: 0 }, lane);
    if (planning === undefined) continue;
    const { pigeonholeNumber } = planning;
    // One at a time, because the time is limited.
    const found = await ledger.db.transaction(async (tx) => {
      await useIndexOrder(tx);
      return await storedItems(tx, { sinkId: 0, pigeonholeNumber, lists: [list], key: null }, room + 1);
    });
    const sample = async (part: readonly Candidate[]): Promise<Sampled[]> =>
      await sampleItems(planning, part, { now, before, sinkId });
    const sampled = await workWithin(found.slice(0, room), sample, () => performance.now() > until);
    if (sampled.length < found.length) complete = false;
    tried.push(...sampled);
  }
  return { tried, complete };
}

/** Plans some items with both configurations. */
async function sampleItems(
  planning: PlanningLane,
  own: readonly Candidate[],
  { now, before, sinkId }: { readonly now: Variant; readonly before: Variant | undefined; readonly sinkId: number },
): Promise<Sampled[]> {
  const { ledger, lane, pigeonholeNumber } = planning;
  const nowForeseen = await foresee(planning, own);
  const beforeForeseen = before === undefined ? null : await foresee({ ...planning, ...before }, own);
  const delivered = await deliveredOf(ledger, { sinkId, pigeonholeNumber }, own);
  return own.map((candidate, at): Sampled => {
    const [one, other] = [nowForeseen[at]!, beforeForeseen?.[at] ?? null];
    const isDelivered = delivered.has(candidate.sequence);
    const differs =
      isDelivered &&
      other !== null &&
      before !== undefined &&
      !isDeepStrictEqual(shown(one, now.sink), shown(other, before.sink));
    return { lane, candidate, now: one, before: other, delivered: isDelivered, differs };
  });
}

/** Returns the sequences of those changes that the sink has received. */
async function deliveredOf(
  { db }: Pick<Ledger, 'db'>,
  { sinkId, pigeonholeNumber }: { readonly sinkId: number; readonly pigeonholeNumber: number },
  candidates: readonly Candidate[],
): Promise<ReadonlySet<number>> {
  if (sinkId === 0 || candidates.length === 0) return new Set();
  const rows = await db.query<{ sequence: number }>(
    `select d.sequence from unnest($3::int8[]) as n (sequence) cross join lateral (select sequence, state from deliveries
       where sink_id = $1 and pigeonhole_number = $2 and sequence = n.sequence and replay = 0 limit 1) d
     where d.state = 'delivered'`,
    [sinkId, pigeonholeNumber, candidates.map(({ sequence }) => sequence)],
  );
  return new Set(rows.map(({ sequence }) => sequence));
}

function reasonOf(foreseen: Foreseen): string | null {
  if (foreseen.kind === 'send') return null;
  if (foreseen.kind === 'supersede') return 'supersede';
  return foreseen.kind === 'withhold' ? foreseen.reason : foreseen.cause;
}

/** Reasons with which a mapping says that an item is not meant. */
const unmatched: ReadonlySet<string> = new Set(['condition', 'no-record']);

function countsOf(tried: readonly Sampled[]): TriedCount[] {
  const counts = new Map<string, { -readonly [Key in keyof TriedCount]: TriedCount[Key] }>();
  for (const { candidate, now, delivered, differs } of tried) {
    const { list } = candidate;
    const none = { list, items: 0, matching: 0, sent: 0, withheld: {}, failed: 0, delivered: 0, differing: 0 };
    const count = counts.get(list) ?? none;
    counts.set(list, count);
    const reason = reasonOf(now);
    count.items += 1;
    if (reason === null || !unmatched.has(reason)) count.matching += 1;
    if (now.kind === 'send') count.sent += 1;
    else if (now.kind === 'fail') count.failed += 1;
    else count.withheld = addCounts({ ...count.withheld }, { [reason!]: 1 });
    if (delivered) count.delivered += 1;
    if (differs) count.differing += 1;
  }
  return [...counts.values()];
}

function toTriedItem(
  sampled: Sampled,
  { noun, title, session }: { readonly noun: string; readonly title: string | null; readonly session: string | null },
): TriedItem {
  const { now, delivered, differs } = sampled;
  const result = now.kind === 'supersede' ? 'withhold' : now.kind;
  return { ...nameOfSampled(sampled), noun, title, session, result, reason: reasonOf(now), delivered, differs };
}

/** Returns the sentences that the status would show about lists, and those about fields that no item of a sample has. */
async function warningsOf(
  ledger: Ledger,
  { syncs, sinks }: Config,
  {
    sink,
    counts,
    place,
  }: { readonly sink: string; readonly counts: readonly TriedCount[]; readonly place: TryRequest['item'] },
): Promise<string[]> {
  if (place === null) return [];
  const alone = { syncs, sinks: { [sink]: sinks[sink]! } };
  const seen = new Map<string, readonly SeenFields[]>();
  for (const list of mentionedLists(alone)) {
    const of = { list, workspace: place.workspace, pigeonholeId: list === 'pigeonholes' ? 0 : place.pigeonholeId };
    seen.set(list, await seenFields(ledger, { ...of, sample }));
  }
  return [
    ...counts.flatMap(
      ({ sent, ...count }) => mappingProblem({ ...count, items: sent, estimated: false }, alone, sink, seen) ?? [],
    ),
    ...fieldNotes(alone, seen),
  ];
}

/** Returns what expressions see of one item, and the calls for it in the state in which the destination is. */
async function showItem(
  ledger: Ledger,
  {
    name,
    personal,
    sinkId,
    lane,
    chosen,
  }: {
    readonly name: string;
    readonly personal: boolean;
    readonly sinkId: number;
    readonly lane: PlannedLane;
    readonly chosen: NonNullable<TryRequest['item']>;
  },
  { now, before }: { readonly now: Variant; readonly before: Variant | undefined },
): Promise<TriedMapping['item']> {
  const planning = await planningLane(ledger, { ...now, sinkName: name, sinkId }, lane);
  if (planning === undefined) return null;
  const { pigeonholeNumber } = planning;
  const query = { sinkId, pigeonholeNumber, lists: [chosen.list], key: chosen.key };
  const [candidate] = await storedItems(ledger.db, query, 1);
  if (candidate === undefined) return null;
  const calls = async (lanePlanning: PlanningLane) => {
    const [foreseen] = await foresee(lanePlanning, [candidate]);
    return shown(foreseen!, lanePlanning.sink);
  };
  const item = {
    ...chosen,
    now: await calls(planning),
    ...(before === undefined ? {} : { before: await calls({ ...planning, ...before }) }),
  };
  const sees = personal ? await viewOf(planning, candidate) : null;
  if (personal) return { ...item, before: item.before ?? null, sees: sees && fieldsOfView(sees) };
  const names = await namesOf(ledger, [now, ...(before === undefined ? [] : [before])], name, [chosen]);
  const hidden = withoutWhatIsSent(item, names);
  return { ...hidden, before: hidden.before ?? null, sees: null };
}

function fieldsOfView({ item, attendee, session, pigeonhole, change, previous }: MappingView): Record<string, unknown> {
  const { data: _, ...envelope } = change;
  return { item, attendee, session, pigeonhole, change: envelope, previous };
}
