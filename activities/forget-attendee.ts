import { isApproved } from '../ledger/approvals.js';
import { eraseCopies } from '../people/forget/erase-copies.js';
import { eraseItems, itemsToErase, slicesOf } from '../people/forget/erase-items.js';
import { eraseReasons } from '../people/forget/erase-reasons.js';
import { eraseRegistrants } from '../people/forget/erase-registrants.js';
import type { Erasure, Receipt } from '../people/forget/erasure.js';
import { erasingLanes, type ErasingLane, settleErasingLane } from '../people/forget/erasing-lanes.js';
import { endErasure, keepReceipts, noteCleared } from '../people/forget/note-erasure.js';
import {
  awaitPages,
  countErased,
  readErasure,
  receiptsOf,
  refsOfErasedQuestions,
  workspacesOf,
} from '../people/forget/read-erasures.js';
import { pausesOf } from '../ledger/pauses.js';
import { findRef, selectedPigeonholes } from '../ledger/pigeonholes.js';
import type { Collaborators } from '../work/collaborators.js';
import { eraseFromLane, judgeErasingLane } from '../delivering/erase-from-lane.js';
import { plannedLanes, syncsTo } from '../delivering/lane-plans.js';
import { requireCurrentConfiguration } from '../work/require-current-configuration.js';
import type { ErasureTurn } from '../work/turns.js';

/** How soon a turn looks again at what it waits for: sinks answer within seconds, where nothing is wrong. */
const soonMs = 1000;
/** Nothing stays unlooked at for longer; a sink that is paused may stay so for days. */
const longestSleepMs = 60_000;

/**
 * One turn of an erasure. First the ledger: items, earlier revisions, what destinations said, registrants, imports. Then
 * every sink that was told of any of it, by a change that takes it back, which the sinks' own workflows deliver; then the
 * files that sinks keep. What became of it stands in a receipt for each place. Safe to run twice, and after an end in the
 * middle: each step finds by itself what is left. No breaker holds it: a person has asked.
 */
export async function forgetAttendee(to: Collaborators, id: string, signal: AbortSignal): Promise<ErasureTurn> {
  await requireCurrentConfiguration(to);
  const erasure = await readErasure(to.ledger, id);
  if (erasure === undefined || erasure.endedAt !== null) {
    return { items: 0, open: 0, nextDueInMs: 0, state: 'finished' };
  }
  // First: the names that a reason is searched for are in the person's records.
  if (erasure.names !== null) await eraseReasons(to.ledger, erasure.names);
  let items = erasure.names === null ? 0 : await eraseFromItems(to, erasure);
  const own = await clearLedger(to, erasure);
  const sinks = await askSinks(to, erasure, signal);
  await keepReceipts(to.ledger.db, erasure.number, sinks);
  const receipts = [...own, ...sinks];
  const open = receipts.filter(({ outcome }) => outcome === 'waiting').length;
  // Once all have answered: what a page brought that was under way when the person was forgotten. Reads all items.
  if (open === 0) await awaitPages(to.ledger, erasure.number);
  const late = open > 0 ? 0 : await eraseFromItems(to, erasure);
  items += late;
  if (open + late > 0) {
    return { items, open, nextDueInMs: await sleepMs(to, erasure), state: 'working' };
  }
  await endErasure(to.ledger, erasure.number);
  // All that there are: the ledger's own are of an earlier turn, where a sink took its time.
  const places = await receiptsOf(to.ledger, erasure.number);
  to.log.info({ erasure: id, places: places.length }, 'a person is forgotten');
  return { items, open, nextDueInMs: 0, state: 'finished' };
}

/** Looks often as long as something moves: a sink that is resumed after days answers within seconds. */
async function sleepMs({ ledger }: Collaborators, { number, requestedAt }: Erasure): Promise<number> {
  const moved = (await receiptsOf(ledger, number)).map(({ at }) => at.getTime());
  const stillForMs = ledger.clock.nowMs() - Math.max(requestedAt.getTime(), ...moved);
  return stillForMs < longestSleepMs ? soonMs : longestSleepMs;
}

/** @returns how many items were erased, or relieved of words of theirs */
async function eraseFromItems(to: Collaborators, { number }: Erasure): Promise<number> {
  const items = await itemsToErase(to.ledger, number);
  let rewritten = 0;
  for (const slice of slicesOf(items)) {
    // oxlint-disable-next-line no-await-in-loop -- a transaction each, under the pigeonhole's lock
    await to.orchestration.wakeSinks(await eraseItems(to.ledger, number, slice));
  }
  // Also of what an attempt before this one has erased that died before it could go on.
  for (const ref of await refsOfErasedQuestions(to.ledger, number)) {
    for (let after: { list: string; key: string } | null = { list: '', key: '' }; after !== null;) {
      // oxlint-disable-next-line no-await-in-loop -- slice after slice
      const slice: Awaited<ReturnType<typeof eraseCopies>> = await eraseCopies(
        to.ledger,
        { erasure: number, ref },
        after,
      );
      // oxlint-disable-next-line no-await-in-loop
      await to.orchestration.wakeSinks(slice.woken);
      rewritten += slice.rewritten;
      after = slice.next;
    }
  }
  return items.length + rewritten;
}

/** What the ledger itself held, once nothing of it is left but what an import is sending at this moment. */
async function clearLedger({ ledger }: Collaborators, erasure: Erasure): Promise<Receipt[]> {
  if (erasure.names === null) return [];
  const { rows, imports, underWay } = await eraseRegistrants(ledger, erasure.number, erasure.names);
  const workspaces = await workspacesOf(ledger, erasure.number);
  const receipts: Receipt[] = [
    {
      place: 'ledger',
      count: await countErased(ledger, erasure.number),
      outcome: 'erased',
      detail: null,
      todo: null,
    },
    {
      place: 'imports',
      count: rows,
      outcome: underWay > 0 ? 'waiting' : rows > 0 ? 'erased' : 'nothing',
      detail: underWay > 0 ? `${underWay} rows are being sent` : null,
      todo: null,
    },
    ...imports.map(({ number, dropped }) => ({
      place: `import:${number}`,
      count: 1,
      outcome: 'by-hand' as const,
      detail: dropped ? 'dropped-file' : 'file',
      todo: dropped
        ? `the file of import ${number} stands in its drop folder still: delete it there, and take the person out of other copies`
        : `the file of import ${number} is not kept here: where it is kept, take the person out of it`,
    })),
    ...workspaces.map((workspace) => ({
      place: `service:${workspace}`,
      count: 1,
      outcome: 'by-hand' as const,
      detail: 'no-deletion-call',
      todo: 'the Event Engagement Service has no call that deletes a person: remove them in its dashboard',
    })),
  ];
  await keepReceipts(ledger.db, erasure.number, receipts);
  if (underWay === 0) await noteCleared(ledger, erasure.number);
  return receipts;
}

async function askSinks(to: Collaborators, { number }: Erasure, signal: AbortSignal): Promise<Receipt[]> {
  const lanes = await erasingLanes(to.ledger, number);
  const known = new Map((await receiptsOf(to.ledger, number)).map((receipt) => [receipt.place, receipt]));
  const receipts: Receipt[] = [];
  for (const lane of lanes) {
    // oxlint-disable-next-line no-await-in-loop -- one after another: a lane that keeps files is taken for it
    const verdict = judgeErasingLane(lane, await conditionsOf(to, lane));
    const before = known.get(verdict.place);
    const keepsFiles = to.sinks.get(lane.sink)?.sink.erase !== undefined;
    if (verdict.outcome === 'waiting' || lane.open > 0) receipts.push(verdict);
    else if (before !== undefined && before.outcome !== 'waiting') receipts.push(before);
    else {
      // oxlint-disable-next-line no-await-in-loop
      const settled = keepsFiles ? await eraseFromLane(to, lane, verdict, signal) : verdict;
      if (settled.outcome !== 'waiting') {
        const { sinkId, ref } = lane;
        // oxlint-disable-next-line no-await-in-loop
        await settleErasingLane(to.ledger.db, { sinkId, ref, erasure: number });
      }
      // oxlint-disable-next-line no-await-in-loop -- at once: files that were rewritten are not looked through again
      await keepReceipts(to.ledger.db, number, [settled]);
      receipts.push(settled);
    }
  }
  return receipts;
}

async function conditionsOf(
  { ledger, config, sinks }: Collaborators,
  { sink: name, ref }: ErasingLane,
): Promise<{ served: boolean; stopped: string | null }> {
  const sink = sinks.get(name);
  if (sink === undefined) return { served: false, stopped: null };
  const selected = await selectedPigeonholes(ledger, syncsTo(config, name));
  let served = false;
  for (const { workspace, pigeonholeId } of plannedLanes(config, name, selected)) {
    // oxlint-disable-next-line no-await-in-loop -- one short look-up each
    served ||= (await findRef(ledger.db, workspace, pigeonholeId)) === ref;
  }
  const [pause] = await pausesOf(ledger, [{ scope: 'sink', name }]);
  if (pause !== undefined) return { served, stopped: `sink ${name} is paused: resume it to have the person removed` };
  const observes = sink.observing && !(await isApproved(ledger, sink.id, sink.destination));
  return { served, stopped: observes ? `sink ${name} observes: approve it to have the person removed` : null };
}
