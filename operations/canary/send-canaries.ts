import { randomInt, randomUUID } from 'node:crypto';
import type { Collaborators, OpenSink } from '../../work/collaborators.js';
import { plannedLanes } from '../../delivering/lane-plans.js';
import { nameOfError } from '../../work/name-of-error.js';
import type { ReadyCheck } from '../../api/readiness.js';
import { beginCanary, type NewCanary, releaseCanary } from '../../delivering/canaries.js';
import { findRef, selectedPigeonholes } from '../../ledger/pigeonholes.js';
import type { Place } from '../ready/look-ready.js';
import { sinksOf } from '../ready/sinks-of.js';
import { canaryFacts } from './canary-facts.js';
import { CanaryFlight, canaryLeaseMs } from './canary-flight.js';
import { chooseList } from './choose-list.js';
import { judgeCanary, notTried } from './judge-canary.js';
import { stoppedSink } from './stopped-sink.js';
import { withdrawCanaries } from './withdraw-canaries.js';

/** As many digits in every mark, below what a number holds exactly; a range that `randomInt` takes. */
const firstMark = 100_000_000_000_000;
const marks = 2 ** 47;

/**
 * Sends a canary through each of the sinks that a pigeonhole feeds and takes it back: one line of the list for each.
 * What was left of earlier ones is taken back first. One that fails hides no other.
 * @param names the sinks that a person has agreed to; others are not sent to
 */
export async function sendCanaries(to: Collaborators, place: Place, names: readonly string[]): Promise<ReadyCheck[]> {
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
  place: Place,
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
    await releaseCanary(to.ledger, canary.number, to.owner).catch(() => undefined); // else its lease ends by itself
    const says = `the attempt broke off (${kind}): what was sent is taken back within minutes`;
    return { ...notTried(sink.name, type, says), state: 'unknown', says, todo: 'look at the log, then send another' };
  }
}

function newCanary(sink: string, { workspace, pigeonholeId }: Place): Omit<NewCanary, 'list'> {
  const mark = firstMark + randomInt(marks);
  return { mark, workspace, pigeonholeId, sink, changeId: randomUUID(), withdrawalId: randomUUID() };
}
