import { randomInt, randomUUID } from 'node:crypto';
import type { Collaborators, OpenSink } from '../../work/collaborators.js';
import { plannedLanes } from '../../delivering/lane-plans.js';
import { nameOfError } from '../../work/name-of-error.js';
import type { ReadyCheck } from '../ready/readiness.js';
import {
  beginCanary,
  type NewCanary,
  releaseCanary,
  type Canary,
  noteCanary,
  takeAbandonedCanaries,
} from '../../delivering/canaries.js';
import { findRef, selectedPigeonholes } from '../../ledger/pigeonholes.js';
import { type PigeonholeKey, sinksOf } from '../ready/check-ready.js';
import { canaryFacts, type CanaryFacts, sentSubject, inventedLists } from './invented-item.js';
import { CanaryFlight, canaryLeaseMs } from './canary-flight.js';
import { judgeCanary, notTried, describeNothing } from './judge-canary.js';
import type { Planned, Sink } from '../../sinks/sink.js';
import { isApproved } from '../../ledger/approvals.js';
import { pausesOf } from '../../ledger/pauses.js';

/** Marks all have 15 digits, are exact as numbers, and span a range that `randomInt` accepts. */
const firstMark = 100_000_000_000_000;
const marks = 2 ** 47;

/**
 * Sends a canary through each of the sinks that a pigeonhole feeds and takes it back: one line of the list for each.
 * What was left of earlier ones is taken back first. One that fails hides no other.
 * @param names the sinks that a person has agreed to; others are not sent to
 */
export async function sendCanaries(
  to: Collaborators,
  place: PigeonholeKey,
  names: readonly string[],
): Promise<ReadyCheck[]> {
  await withdrawCanaries(to, place);
  const ref = (await findRef(to.ledger.db, place.workspace, place.pigeonholeId)) ?? 0;
  const selected = (await selectedPigeonholes(to.ledger, Object.keys(to.config.syncs))).filter(
    (row) => row.ref === ref,
  );
  const sinks = sinksOf(to, selected).filter(({ name }) => names.includes(name));
  return await Promise.all(
    sinks.map(async (sink) => {
      const lane = plannedLanes(to.config, sink.name, selected).find(
        ({ workspace, pigeonholeId }) => workspace === place.workspace && pigeonholeId === place.pigeonholeId,
      );
      return await sendCanary(to, sink, place, lane?.lists ?? []);
    }),
  );
}

async function sendCanary(
  to: Collaborators,
  sink: OpenSink,
  place: PigeonholeKey,
  lists: readonly string[],
): Promise<ReadyCheck> {
  const { type } = to.config.sinks[sink.name]!;
  const stopped = await stoppedSink(to, sink);
  if (stopped !== null) return notTried(sink.name, type, stopped.says, stopped.todo);
  const facts = await canaryFacts(to, sink, place);
  const draft = newCanary(sink.name, place);
  const chosen = await chooseList(sink.sink, draft, lists, facts);
  if (chosen.kind !== 'chosen') {
    const line = notTried(sink.name, type, chosen.says);
    return chosen.kind === 'nothing' ? line : { ...line, state: 'failed' };
  }
  const claim = { owner: to.owner, leaseMs: canaryLeaseMs };
  const canary = await beginCanary(to.ledger, { ...draft, list: chosen.list }, claim);
  if (canary === undefined) {
    return notTried(sink.name, type, 'an earlier canary is not taken back yet', 'try again in a minute');
  }
  try {
    const flight = new CanaryFlight(to, sink, facts, canary);
    const sent = await flight.send();
    const withdrawal = await flight.withdraw();
    const {
      name,
      sink: { traits },
    } = sink;
    to.log.info({ sink: name, ...place, sent: sent.kind, withdrawal: withdrawal.kind }, 'canary sent');
    return judgeCanary({ ...canary, sink: name, type, sent, withdrawal, traits: traits.canary ?? {} });
  } catch (error) {
    const kind = nameOfError(error);
    to.log.error({ sink: sink.name, ...place, error: kind }, 'a canary broke off');
    await releaseCanary(to.ledger, canary.number, to.owner).catch(() => undefined); // otherwise its lease expires
    const says = `the attempt broke off (${kind}): what was sent is taken back within minutes`;
    return { ...notTried(sink.name, type, says), state: 'unknown', says, todo: 'check the log, then send another' };
  }
}

function newCanary(sink: string, { workspace, pigeonholeId }: PigeonholeKey): Omit<NewCanary, 'list'> {
  const mark = firstMark + randomInt(marks);
  return { mark, workspace, pigeonholeId, sink, changeId: randomUUID(), withdrawalId: randomUUID() };
}

/** `nothing`: it may well be meant so; `failed`: real items of the list fail in the same way. */
export type ChosenList =
  | { readonly kind: 'chosen'; readonly list: string }
  | { readonly kind: 'nothing' | 'failed'; readonly says: string };

/** The first list of which a sink makes something of an invented item; else what is in the way. */
export async function chooseList(
  sink: Pick<Sink, 'plan'>,
  draft: Omit<NewCanary, 'list'>,
  lists: readonly string[],
  facts: CanaryFacts,
): Promise<ChosenList> {
  const wanted = inventedLists.filter((list) => lists.includes(list));
  const [first] = wanted;
  if (first === undefined) return { kind: 'nothing', says: 'it takes nothing of this pigeonhole that can be invented' };
  const begunAt = new Date();
  const planned = await sink.plan(wanted.map((list) => sentSubject({ ...draft, list, begunAt, object: null }, facts)));
  const at = planned.findIndex(({ kind }) => kind === 'send');
  if (at >= 0) return { kind: 'chosen', list: wanted[at]! };
  const failed = planned.find((each): each is Extract<Planned, { kind: 'unplannable' }> => each.kind === 'unplannable');
  if (failed !== undefined) return { kind: 'failed', says: `its mapping fails: ${failed.detail}` };
  const reason = planned[0]?.kind === 'nothing' ? planned[0].reason : 'nothing';
  return { kind: 'nothing', says: describeNothing(reason, first) };
}

/** Why a sink is sent nothing at present, and what helps; null: it is. */
export async function stoppedSink(
  { ledger }: Pick<Collaborators, 'ledger'>,
  { id, name, observing, destination }: Pick<OpenSink, 'id' | 'name' | 'observing' | 'destination'>,
): Promise<{ readonly says: string; readonly todo: string } | null> {
  const [pause] = await pausesOf(ledger, [{ scope: 'sink', name }]);
  if (pause !== undefined) return { says: 'it is paused', todo: `pigeonpost resume sink:${name}` };
  if (!observing || (await isApproved(ledger, id, destination))) return null;
  return { says: 'it observes, and nobody has approved it', todo: `pigeonpost sink approve ${name}` };
}

/**
 * Takes back the canaries that a process left behind, or could not take back. Safe to run at any time and twice at once:
 * each is taken by one process. A sink that is stopped is sent nothing, and its canary waits.
 * @param place of one pigeonhole; null: of all
 */
export async function withdrawCanaries(to: Collaborators, place: PigeonholeKey | null): Promise<void> {
  const taken = await takeAbandonedCanaries(to.ledger, place, { owner: to.owner, leaseMs: canaryLeaseMs });
  for (const canary of taken) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- few, and no hurry
      await withdrawCanary(to, canary);
    } catch (error) {
      const { sink, workspace, pigeonholeId } = canary;
      to.log.error({ sink, workspace, pigeonholeId, error: nameOfError(error) }, 'taking a canary back broke off');
    } finally {
      // oxlint-disable-next-line no-await-in-loop -- not kept from the next look until its lease ends
      await releaseCanary(to.ledger, canary.number, to.owner);
    }
  }
}

async function withdrawCanary(to: Collaborators, canary: Canary): Promise<void> {
  const { sink: name, workspace, pigeonholeId } = canary;
  const sink = to.sinks.get(name);
  if (sink === undefined) {
    const detail = `sink ${name} is not configured any more`;
    await noteCanary(to.ledger, { ...canary, state: 'left', detail }, { owner: to.owner, leaseMs: 0 });
    to.log.warn({ sink: name, workspace, pigeonholeId }, 'a canary is left to a person');
    return;
  }
  if ((await stoppedSink(to, sink)) !== null) return;
  const facts = await canaryFacts(to, sink, { workspace, pigeonholeId });
  const withdrawal = await new CanaryFlight(to, sink, facts, canary).withdraw();
  to.log.info({ sink: name, workspace, pigeonholeId, withdrawal: withdrawal.kind }, 'canary taken back');
}
