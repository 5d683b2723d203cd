import { chunksOf } from '../../base/chunks-of.js';
import { groupBy } from '../../base/group-by.js';
import { listOf, problemOf, withCorrelationId } from './classify.js';
import type { Reply } from './client.js';
import { findContacts } from './send-notes.js';
import type { RecordStep, LeaveStep } from './operation.js';
import type { Sending } from './send-records.js';
import type { Task } from './batch.js';

type Pair = { readonly task: Task; readonly step: RecordStep };

/** Associates records of a custom object with their contacts, and removes associations with earlier contacts. */
export async function sendAssociations(pairs: readonly Pair[], objectType: string, sending: Sending): Promise<void> {
  const written = pairs.filter(({ task, step }) => task.isOpen(step.record) && task.madeId(step.record) !== undefined);
  const belonging = written.filter(({ step }) => step.contact !== null);
  const contactIds = await findContacts(
    belonging.map(({ task, step }) => ({ task, record: step.record, contact: step.contact! })),
    sending,
  );
  const contactOf = new Map(belonging.map(({ step }, index) => [step, contactIds[index]]));
  const parting = written.filter(({ task, step }) => {
    return task.isOpen(step.record) && step.contactId !== null && (contactOf.get(step) ?? null) !== step.contactId;
  });
  await link(
    parting,
    {
      objectType,
      call: 'batch/archive',
      contactOf: ({ step }) => step.contactId!,
      toInput: (id, contactId) => ({ from: { id }, to: [{ id: contactId }] }),
    },
    sending,
  );
  for (const { task, step } of parting.filter(({ task, step }) => task.isOpen(step.record))) {
    const { contactId: _, ...rest } = task.has(step.record);
    task.made(step.record, rest);
  }
  const joining = belonging.filter(({ task, step }) => task.isOpen(step.record) && contactOf.get(step) != null);
  await link(
    joining,
    {
      objectType,
      call: 'batch/associate/default',
      contactOf: ({ step }) => contactOf.get(step)!,
      toInput: (id, contactId) => ({ from: { id }, to: { id: contactId } }),
    },
    sending,
  );
  for (const { task, step } of joining.filter(({ task, step }) => task.isOpen(step.record))) {
    task.made(step.record, { ...task.has(step.record), contactId: contactOf.get(step) });
  }
}

/** One kind of change to associations: the batch call, the contact of each record, and the form of an input. */
interface AssociationChange {
  readonly objectType: string;
  readonly call: 'batch/archive' | 'batch/associate/default';
  readonly contactOf: (pair: Pair) => string;
  readonly toInput: (id: string, contactId: string) => object;
}

async function link(
  pairs: readonly Pair[],
  { objectType, call, contactOf, toInput }: AssociationChange,
  sending: Sending,
): Promise<void> {
  for (const chunk of chunksOf(pairs, 100)) await linkChunk(chunk);

  /**
   * Makes one call for all associations. If it does not succeed for all, makes one call for each, because HubSpot's
   * errors do not always say which association failed.
   */
  async function linkChunk(chunk: readonly Pair[]): Promise<void> {
    const { client, budget } = sending;
    const inputs = chunk.map((pair) => toInput(pair.task.madeId(pair.step.record)!, contactOf(pair)));
    const reply = await client.post(client.paths.associations(objectType, 'contacts', call), { inputs }, budget);
    if (reply.kind === 'ok' && listOf(reply.body.errors).length === 0) return;
    if (reply.kind === 'failed') {
      for (const { task, step } of chunk) task.end(reply.result, step.record);
    } else if (chunk.length > 1) {
      for (const pair of chunk) await linkChunk([pair]);
    } else end(chunk[0]!, reply, call);
  }
}

function end({ task, step }: Pair, reply: Exclude<Reply, { kind: 'failed' }>, call: string): void {
  const problem = reply.kind === 'refused' ? reply.problem : problemOf(listOf(reply.body.errors)[0]);
  const isMissing = problem.category === 'OBJECT_NOT_FOUND';
  // The association is already removed only if HubSpot reports an error for this record. A 404 for the whole call
  // concerns the endpoint.
  if (call === 'batch/archive' && reply.kind === 'ok' && isMissing) return;
  if (call !== 'batch/archive' && (isMissing || reply.status === 404)) {
    task.end(
      { kind: 'retry', detail: 'the contact or the record was removed in HubSpot in the meantime' },
      step.record,
    );
    return;
  }
  const cause = `hubspot:association:${problem.code || problem.category || reply.status}`;
  task.end({ kind: 'rejected', cause, detail: `HubSpot refused an association (HTTP ${reply.status})` }, step.record);
}

/** A contact, and the list to which it is added or from which it is removed. */
interface Membership {
  readonly task: Task;
  readonly record: string;
  readonly id: string;
  readonly listId: string;
}

/** Maximum number of record ids in one call. HubSpot documents no limit. */
const MAX_IDS = 100;

/** Adds written contacts to their static lists, and removes them from lists that the mapping no longer returns. */
export async function sendLists(
  pairs: readonly { readonly task: Task; readonly step: RecordStep }[],
  sending: Sending,
): Promise<void> {
  const written = pairs.filter(({ task, step }) => task.isOpen(step.record) && task.madeId(step.record) !== undefined);
  const moving = written.map((pair) => {
    const id = pair.task.madeId(pair.step.record)!;
    const { record, lists, listsBefore, id: idBefore } = pair.step;
    // If the contact was merged into another one, this sink has not added that contact to any list.
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

/** Removes contacts from lists. The caller sets the item's object afterwards. */
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
  for (const [listId, members] of groupBy(memberships, (each) => each.listId)) {
    for (const chunk of chunksOf(members, MAX_IDS)) await changeOne(how, listId, chunk, sending);
  }
}

/** Adds or removes contacts. Repeats change nothing in HubSpot. */
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
      task.end({ kind: 'retry', detail: 'the contact was removed in HubSpot in the meantime' }, record);
    }
  }
}
