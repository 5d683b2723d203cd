import { chunksOf } from '../../base/chunks-of.js';
import { groupBy } from '../../base/group-by.js';
import type { Fields } from '../sink.js';
import type { ArchiveStep, ForgetStep, HubSpotOperation, LeaveStep, Step } from './operation.js';
import { leaveLists, sendAssociations, sendLists } from './send-associations.js';
import { sendNotes } from './send-notes.js';
import { type Sending, sendRecords } from './send-records.js';
import { sendRegistrations } from './send-registrations.js';
import { runBatch, type Task } from './batch.js';
import { held, withCorrelationId } from './classify.js';
import { changedAtMs, clockToleranceMs } from './decide-writes.js';

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
  for (const [objectType, pairs] of byType(pairsOf(tasks, 'forget'))) await sendForgets(pairs, objectType, sending);
  await sendLeaves(pairsOf(tasks, 'leave'), sending);
  const leaving = pairsOf(tasks, 'registration').filter(losesItsContact);
  await sendRegistrations(leaving, memory, sending); // before the contacts are removed: HubSpot cannot cancel the registration of a removed contact
  for (const [objectType, pairs] of byType(pairsOf(tasks, 'archive'))) await sendArchives(pairs, objectType, sending);
  const contacts = pairsOf(tasks, 'record').filter(({ step }) => step.objectType === 'contacts');
  await sendRecords(contacts, 'contacts', sending);
  await sendLists(contacts, sending);
  const staying = pairsOf(tasks, 'registration').filter((pair) => !losesItsContact(pair));
  const remembered = await sendRegistrations(staying, memory, sending);
  const others = pairsOf(tasks, 'record').filter(({ step }) => step.objectType !== 'contacts');
  for (const [objectType, pairs] of byType(others)) {
    await sendRecords(pairs, objectType, sending);
    await sendAssociations(pairs, objectType, sending);
  }
  await sendNotes(pairsOf(tasks, 'note'), sending);
  return remembered;
}

type Pair<Kind extends Step['kind']> = { readonly task: Task; readonly step: Extract<Step, { kind: Kind }> };

function pairsOf<Kind extends Step['kind']>(tasks: readonly Task[], kind: Kind): Pair<Kind>[] {
  return tasks.flatMap((task) => task.steps(kind).map((step) => ({ task, step })));
}

/** Whether the operation also removes the contact whose registration it cancels. */
function losesItsContact({ task, step }: Pair<'registration'>): boolean {
  return task.operation.steps.some(
    (each) => each.kind === 'archive' && each.objectType === 'contacts' && each.id === step.contactId,
  );
}

function byType<P extends { readonly step: { readonly objectType: string } }>(pairs: readonly P[]): Map<string, P[]> {
  return groupBy(pairs, ({ step }) => step.objectType);
}

/** Whether the operation creates a note. It must then not be repeated without a look-up. */
export function createsNote({ steps }: HubSpotOperation): boolean {
  return steps.some((step) => step.kind === 'note' && step.id === null);
}

/**
 * Clears this sink's values in records that other systems also use. A property keeps its value if it was last changed
 * before the sink first wrote to the record, or after the sink last wrote the property, because the value then belongs
 * to another system.
 */
async function sendForgets(
  pairs: readonly { readonly task: Task; readonly step: ForgetStep }[],
  objectType: string,
  sending: Sending,
): Promise<void> {
  await leaveLists(pairs, sending); // first, because `clear` removes the lists from the item's object, and a later attempt could not leave them
  await clear(
    pairs.filter(({ task, step }) => task.isOpen(step.record)),
    objectType,
    sending,
  );
}

async function clear(
  pairs: readonly { readonly task: Task; readonly step: ForgetStep }[],
  objectType: string,
  { client, budget }: Sending,
): Promise<void> {
  const names = [...new Set(pairs.flatMap(({ step }) => Object.keys(step.writtenAtMs)))];
  const reading = pairs.filter(({ step }) => Object.keys(step.writtenAtMs).length > 0);
  for (const { task, step } of pairs) if (!reading.some((each) => each.step === step)) task.made(step.record, null);
  const read = await runBatch(
    client,
    {
      path: client.paths.objects(objectType, 'batch/read'),
      fields: { properties: names, propertiesWithHistory: names },
      max: 50,
      traced: false,
      silence: 'missing',
    },
    reading.map(({ step }) => ({ body: { id: step.id }, key: step.id })),
    budget,
  );
  const clearing = reading.flatMap(({ task, step }, index) => {
    const reply = read[index]!;
    if (reply.kind === 'missing') task.made(step.record, null);
    else if (reply.kind !== 'done') task.endBy(reply, step.record);
    else {
      const ours = Object.entries(step.writtenAtMs).filter(([name, writtenAtMs]) => {
        const changed = changedAtMs(reply.result, name);
        return (
          changed !== undefined &&
          changed >= step.sinceMs - clockToleranceMs &&
          changed <= writtenAtMs + clockToleranceMs
        );
      });
      task.note(`${ours.length} properties of ${objectType} ${step.id} cleared`);
      if (ours.length > 0) return [{ task, step, properties: Object.fromEntries(ours.map(([name]) => [name, ''])) }];
      task.made(step.record, null);
    }
    return [];
  });
  const replies = await runBatch(
    client,
    { path: client.paths.objects(objectType, 'batch/update'), traced: true, silence: 'failed' },
    clearing.map(({ step, properties }) => ({ body: { id: step.id, properties }, key: step.id })),
    budget,
  );
  clearing.forEach(({ task, step }, index) => {
    const reply = replies[index]!;
    if (reply.kind === 'done' || reply.kind === 'missing') task.made(step.record, null);
    else task.endBy(reply, step.record);
  });
}

/** Removes contacts from lists; their properties stay. */
async function sendLeaves(
  pairs: readonly { readonly task: Task; readonly step: LeaveStep }[],
  sending: Sending,
): Promise<void> {
  await leaveLists(pairs, sending);
  for (const { task, step } of pairs) if (task.isOpen(step.record)) task.made(step.record, step.made);
}

/** Moves records to the recycling bin. HubSpot answers 204 for records that are already there. */
async function sendArchives(
  pairs: readonly { readonly task: Task; readonly step: ArchiveStep }[],
  objectType: string,
  { client, budget }: Sending,
): Promise<void> {
  const ids = [...new Set(pairs.map(({ step }) => step.id))];
  for (const chunk of chunksOf(ids, 100)) {
    const path = client.paths.objects(objectType, 'batch/archive');
    const reply = await client.post(path, { inputs: chunk.map((id) => ({ id })) }, budget);
    for (const { task, step } of pairs.filter(({ step }) => chunk.includes(step.id))) {
      // HubSpot answers 204 even for records that no longer exist. A 404 concerns the endpoint, and nothing was
      // removed.
      if (reply.kind === 'ok') {
        task.made(step.record, null);
        task.note(`${objectType} ${step.id} removed`);
      } else if (reply.kind === 'failed') task.end(reply.result, step.record);
      else if (reply.status === 404) {
        const detail = `HubSpot could not remove ${objectType} (HTTP 404): check "object" and "apiVersion"`;
        task.end(held(withCorrelationId(detail, reply.correlationId)), step.record);
      } else {
        const cause = `hubspot:archive:${reply.problem.category || reply.status}`;
        const detail = `HubSpot refused to remove a record (HTTP ${reply.status})`;
        task.end({ kind: 'rejected', cause, detail }, step.record);
      }
    }
  }
}
