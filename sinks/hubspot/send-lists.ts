import { listOf } from './classify-answer.js';
import { withCorrelationId } from './classify-answer.js';
import type { LeaveStep, RecordStep } from './operation.js';
import type { Sending } from './send-records.js';
import type { Task } from './task.js';

/** A contact and a list that it joins or leaves. */
interface Membership {
  readonly task: Task;
  readonly record: string;
  readonly id: string;
  readonly listId: string;
}

/** Record ids in one call. HubSpot documents no limit. */
const mostIds = 100;

/** Puts contacts that were written into their static lists, and takes them out of those that the mapping no longer gives. */
export async function sendLists(
  pairs: readonly { readonly task: Task; readonly step: RecordStep }[],
  sending: Sending,
): Promise<void> {
  const written = pairs.filter(({ task, step }) => task.isOpen(step.record) && task.madeId(step.record) !== undefined);
  const moving = written.map((pair) => {
    const id = pair.task.madeId(pair.step.record)!;
    const { record, lists, listsBefore, id: idBefore } = pair.step;
    // Another contact than before, after a merge: it is in none of the lists by us.
    const before = id === idBefore ? listsBefore : [];
    const membership = (listId: string): Membership => ({ task: pair.task, record, id, listId });
    return {
      ...pair,
      joins: lists.filter((listId) => !before.includes(listId)).map(membership),
      leaves: before.filter((listId) => !lists.includes(listId)).map(membership),
    };
  });
  const leaves = moving.flatMap((each) => each.leaves);
  const joins = moving.flatMap((each) => each.joins);
  if (leaves.length === 0 && joins.length === 0) return;
  await change('remove', leaves, sending);
  await change('add', joins, sending);
  for (const { task, step } of moving.filter(({ task, step }) => task.isOpen(step.record))) {
    const { lists: _, ...made } = task.has(step.record);
    task.made(step.record, { ...made, ...(step.lists.length > 0 && { lists: step.lists }) });
  }
}

/** Takes contacts out of their lists. What is known of a contact afterwards is the step's to say. */
export async function leaveLists(
  pairs: readonly { readonly task: Task; readonly step: Pick<LeaveStep, 'record' | 'id' | 'lists'> }[],
  sending: Sending,
): Promise<void> {
  const memberships = pairs.flatMap(({ task, step: { record, id, lists } }) =>
    lists.map((listId) => ({ task, record, id, listId })),
  );
  await change('remove', memberships, sending);
}

async function change(how: 'add' | 'remove', memberships: readonly Membership[], sending: Sending): Promise<void> {
  const byList = new Map<string, Membership[]>();
  for (const each of memberships) byList.set(each.listId, [...(byList.get(each.listId) ?? []), each]);
  for (const [listId, members] of byList) {
    for (let from = 0; from < members.length; from += mostIds) {
      await changeOne(how, listId, members.slice(from, from + mostIds), sending);
    }
  }
}

/** Adding what is in the list and removing what is not changes nothing in HubSpot, so that a call may be repeated. */
async function changeOne(
  how: 'add' | 'remove',
  listId: string,
  members: readonly Membership[],
  { client, budget }: Sending,
): Promise<void> {
  const ids = [...new Set(members.map(({ id }) => id))];
  const reply = await client.put(client.paths.list(listId, `/memberships/${how}`), ids, budget);
  for (const { task, record, id } of members) {
    if (reply.kind === 'failed') task.end(reply.result, record);
    else if (reply.kind === 'refused') {
      const what = reply.status === 404 ? 'not-found' : reply.problem.code || reply.problem.category || reply.status;
      const detail = `HubSpot refused list ${listId} (HTTP ${reply.status}): name a static list of contacts in "lists"`;
      task.end(
        { kind: 'rejected', cause: `hubspot:list:${what}`, detail: withCorrelationId(detail, reply.correlationId) },
        record,
      );
    } else if (how === 'add' && listOf(reply.body.recordIdsMissing).map(String).includes(id)) {
      task.end({ kind: 'retry', detail: 'the contact was removed in HubSpot meanwhile' }, record);
    }
  }
}
