import { chunksOf, groupBy } from '../../base/grouping.js';
import type { Fields, Result } from '../sink.js';
import type { ArchiveStep, ByHandStep, RegistrationStep, Step, Pair, Task } from './operation.js';
import { forgetProperties } from './forget-properties.js';
import { leaveLists, sendAssociations, sendLists } from './send-associations.js';
import { sendNotes } from './send-notes.js';
import { sendRecords } from './send-records.js';
import { sendRegistrations } from './send-registrations.js';
import type { Sending } from './batch.js';
import { held } from './classify.js';

/**
 * Carries out the steps of several operations, one kind of step after another, so that one call serves many operations.
 * Contacts come before the records that refer to them. Notes come last, because they are the only step that cannot be
 * repeated.
 * @returns the changes to the lane's memory
 */
export async function carryOut(
  tasks: readonly Task[],
  memory: Fields,
  sending: Sending,
): Promise<Readonly<Record<string, unknown>>> {
  for (const pairs of byType(pairsOf(tasks, 'forget'))) await forgetProperties(pairs, sending);
  const leaves = pairsOf(tasks, 'leave');
  await leaveLists(leaves, sending);
  for (const { task, step } of leaves) if (task.isOpen(step.record)) task.made(step.record, step.made);
  const leaving = pairsOf(tasks, 'registration').filter(losesItsContact);
  await sendRegistrations(leaving, memory, sending); // before the contacts are removed: HubSpot cannot cancel the registration of a removed contact
  for (const pairs of byType(pairsOf(tasks, 'archive'))) await sendArchives(pairs, sending);
  const contacts = pairsOf(tasks, 'record').filter(({ step }) => step.objectType === 'contacts');
  await sendRecords(contacts, sending);
  await sendLists(contacts, sending);
  const staying = pairsOf(tasks, 'registration')
    .filter((pair) => !losesItsContact(pair))
    .map(withPresentContact);
  const remembered = await sendRegistrations(staying, memory, sending);
  for (const pairs of byType(pairsOf(tasks, 'record').filter(({ step }) => step.objectType !== 'contacts'))) {
    await sendRecords(pairs, sending);
    await sendAssociations(pairs, sending);
  }
  await sendNotes(pairsOf(tasks, 'note'), sending);
  for (const { task, step } of pairsOf(tasks, 'by-hand')) {
    // Not while another entry is held back: the dead letter would end its retries.
    if (task.operation.steps.every(({ record }) => task.isOpen(record))) task.end(leftByHand(step), step.record);
  }
  return remembered;
}

function leftByHand({ contactIds }: ByHandStep): Result {
  const detail = `a person must be forgotten, and pigeonpost may have created contacts ${contactIds.join(', ')}: remove the person's data there by hand, then discard the dead letter`;
  return { kind: 'rejected', cause: 'hubspot:forget-by-hand', about: 'record', detail };
}

function pairsOf<Kind extends Step['kind']>(tasks: readonly Task[], kind: Kind): Pair<Extract<Step, { kind: Kind }>>[] {
  return tasks.flatMap((task) => task.steps(kind).map((step) => ({ task, step })));
}

/** Whether the operation also removes the contact whose registration it cancels. */
function losesItsContact({ task, step }: Pair<RegistrationStep>): boolean {
  return task.operation.steps.some(
    (each) => each.kind === 'archive' && each.objectType === 'contacts' && each.id === step.contactId,
  );
}

/**
 * Returns the registration with the contact that the operation has just written, if that replaces a contact that was
 * deleted or merged in HubSpot. A cancellation keeps the contact that was registered.
 */
function withPresentContact({ task, step }: Pair<RegistrationStep>): Pair<RegistrationStep> {
  const written = task
    .steps('record')
    .find(({ objectType, id }) => objectType === 'contacts' && id !== null && id === step.contactId);
  const { id } = written === undefined ? {} : task.has(written.record);
  if (typeof id !== 'string' || step.attendance === 'cancel') return { task, step };
  return { task, step: { ...step, contactId: id } };
}

function byType<P extends { readonly step: { readonly objectType: string } }>(pairs: readonly P[]): Iterable<P[]> {
  return groupBy(pairs, ({ step }) => step.objectType).values();
}

/** Moves records to the recycling bin. HubSpot answers 204 for records that are already there. */
async function sendArchives(pairs: readonly Pair<ArchiveStep>[], { client, budget }: Sending): Promise<void> {
  const { objectType } = pairs[0]!.step;
  const ids = [...new Set(pairs.map(({ step }) => step.id))];
  for (const chunk of chunksOf(ids, 100)) {
    const path = client.path('objects', `${objectType}/batch/archive`);
    const reply = await client.call('POST', path, { inputs: chunk.map((id) => ({ id })) }, budget);
    for (const { task, step } of pairs.filter(({ step }) => chunk.includes(step.id))) {
      // HubSpot answers 204 even for records that no longer exist. A 404 concerns the endpoint, and nothing was
      // removed.
      if (reply.kind === 'ok') {
        task.made(step.record, null);
        task.note(`${objectType} ${step.id} removed`);
      } else if (reply.kind === 'failed') task.end(reply.result, step.record);
      else if (reply.status === 404) {
        const detail = `HubSpot could not remove ${objectType} (HTTP 404): check "object" and "apiVersion"`;
        task.end(held(detail, reply.correlationId), step.record);
      } else {
        const cause = `hubspot:archive:${reply.problem.category || reply.status}`;
        const detail = `HubSpot refused to remove a record (HTTP ${reply.status})`;
        task.end({ kind: 'rejected', cause, detail }, step.record);
      }
    }
  }
}
