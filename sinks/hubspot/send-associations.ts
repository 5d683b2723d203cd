import { chunksOf, groupBy } from '../../base/grouping.js';
import type { Sending } from './batch.js';
import { listOf, problemOf, type Reply, withCorrelationId } from './classify.js';
import type { ForgetStep, LeaveStep, RecordStep, Pair, Task } from './operation.js';
import { findContacts } from './find-contacts.js';

/** An association of a record with a contact. */
interface Association extends Pair<RecordStep> {
  readonly contactId: string;
}

const isOpen = ({ task, step }: Pair): boolean => task.isOpen(step.record);

/** Associates records of a custom object with their contacts, and removes associations with earlier contacts. */
export async function sendAssociations(pairs: readonly Pair<RecordStep>[], sending: Sending): Promise<void> {
  const written = pairs.filter((pair) => isOpen(pair) && pair.task.madeId(pair.step.record) !== undefined);
  const belonging = written.filter(({ step }) => step.contact !== null);
  const contactIds = await findContacts(
    belonging.map(({ task, step }) => ({ task, record: step.record, contact: step.contact! })),
    sending,
  );
  const contactOf = new Map(belonging.map(({ step }, index) => [step, contactIds[index]]));
  const parting = written.flatMap((pair): Association[] => {
    const { contactId } = pair.step;
    const isOther = contactId !== null && (contactOf.get(pair.step) ?? null) !== contactId;
    return isOpen(pair) && isOther ? [{ ...pair, contactId }] : [];
  });
  await link(parting, 'batch/archive', sending);
  for (const { task, step } of parting.filter(isOpen)) {
    const { contactId: _, ...rest } = task.has(step.record);
    task.made(step.record, rest);
  }
  const joining = belonging.flatMap((pair): Association[] => {
    const contactId = contactOf.get(pair.step);
    return isOpen(pair) && contactId != null ? [{ ...pair, contactId }] : [];
  });
  await link(joining, 'batch/associate/default', sending);
  for (const { task, step, contactId } of joining.filter(isOpen)) {
    task.made(step.record, { ...task.has(step.record), contactId });
  }
}

type AssociationCall = 'batch/archive' | 'batch/associate/default';

/**
 * Makes one call for all associations. If it does not succeed for all, makes one call for each, because HubSpot's errors
 * do not always say which association failed.
 */
async function link(associations: readonly Association[], call: AssociationCall, sending: Sending): Promise<void> {
  for (const chunk of chunksOf(associations, 100)) {
    const { client, budget } = sending;
    const inputs = chunk.map(({ task, step, contactId }) => ({
      from: { id: task.madeId(step.record)! },
      to: call === 'batch/archive' ? [{ id: contactId }] : { id: contactId },
    }));
    const path = client.path('associations', `${chunk[0]!.step.objectType}/contacts/${call}`);
    const reply = await client.call('POST', path, { inputs }, budget);
    if (reply.kind === 'ok' && listOf(reply.body.errors).length === 0) continue;
    if (reply.kind === 'failed') for (const { task, step } of chunk) task.end(reply.result, step.record);
    else if (chunk.length === 1) end(chunk[0]!, reply, call);
    else for (const association of chunk) await link([association], call, sending);
  }
}

function end({ task, step }: Pair, reply: Exclude<Reply, { kind: 'failed' }>, call: AssociationCall): void {
  const problem = reply.kind === 'refused' ? reply.problem : problemOf(listOf(reply.body.errors)[0]);
  const isMissing = problem.category === 'OBJECT_NOT_FOUND';
  // The association is already removed only if HubSpot reports an error for this record. A 404 for the whole call
  // concerns the endpoint.
  if (call === 'batch/archive' && reply.kind === 'ok' && isMissing) return;
  if (call !== 'batch/archive' && (isMissing || reply.status === 404)) {
    const detail = 'the contact or the record was removed in HubSpot in the meantime';
    return task.end({ kind: 'retry', detail }, step.record);
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
export async function sendLists(pairs: readonly Pair<RecordStep>[], sending: Sending): Promise<void> {
  const written = pairs.filter((pair) => isOpen(pair) && pair.task.madeId(pair.step.record) !== undefined);
  const leaves: Membership[] = [];
  const joins: Membership[] = [];
  for (const { task, step } of written) {
    const { record, lists, listsBefore } = step;
    const id = task.madeId(record)!;
    // If the contact was merged into another one, this sink has not added that contact to any list.
    const before = id === step.id ? listsBefore : [];
    const membership = (listId: string): Membership => ({ task, record, id, listId });
    leaves.push(...before.filter((listId) => !lists.includes(listId)).map(membership));
    joins.push(...lists.filter((listId) => !before.includes(listId)).map(membership));
  }
  await change('remove', leaves, sending);
  await change('add', joins, sending);
  for (const { task, step } of written.filter(isOpen)) {
    const { lists: _, ...made } = task.has(step.record);
    task.made(step.record, { ...made, ...(step.lists.length > 0 && { lists: step.lists }) });
  }
}

/** Removes contacts from lists. The caller sets the item's object afterwards. */
export async function leaveLists(pairs: readonly Pair<ForgetStep | LeaveStep>[], sending: Sending): Promise<void> {
  const memberships = pairs.flatMap(({ task, step: { record, id, lists } }) =>
    lists.map((listId) => ({ task, record, id, listId })),
  );
  await change('remove', memberships, sending);
}

/** Adds or removes contacts. Repeats change nothing in HubSpot. */
async function change(
  how: 'add' | 'remove',
  memberships: readonly Membership[],
  { client, budget }: Sending,
): Promise<void> {
  const lists = groupBy(memberships, ({ listId }) => listId).values();
  for (const members of [...lists].flatMap((all) => chunksOf(all, MAX_IDS))) {
    const { listId } = members[0]!;
    const ids = [...new Set(members.map(({ id }) => id))];
    const reply = await client.call('PUT', client.path('lists', `${listId}/memberships/${how}`), ids, budget);
    for (const { task, record, id } of members) {
      if (reply.kind === 'failed') task.end(reply.result, record);
      else if (reply.kind === 'refused') {
        const what = reply.status === 404 ? 'not-found' : reply.problem.code || reply.problem.category || reply.status;
        const sentence = `HubSpot refused list ${listId} (HTTP ${reply.status}): name a static list of contacts in "lists"`;
        const detail = withCorrelationId(sentence, reply.correlationId);
        task.end({ kind: 'rejected', cause: `hubspot:list:${what}`, detail }, record);
      } else if (how === 'add' && listOf(reply.body.recordIdsMissing).map(String).includes(id)) {
        task.end({ kind: 'retry', detail: 'the contact was removed in HubSpot in the meantime' }, record);
      }
    }
  }
}
