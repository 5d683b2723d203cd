import { type BatchInput, type RecordReply, runBatch } from './batch.js';
import { findContacts } from './find-contacts.js';
import type { NoteStep } from './operation.js';
import type { Sending } from './send-records.js';
import type { Task } from './task.js';

type Pair = { readonly task: Task; readonly step: NoteStep };

/** The association of a note with a contact. Source: HubSpot, "Associations", "Association type IDs". */
const noteToContact = { associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 202 };

/**
 * Creates notes on the timelines of contacts, and changes those that were created before. One that a person has deleted
 * in HubSpot stays deleted. Creating is the one call here that a repeat would double: when its answer is lost the
 * outcome is `unknown`, and `find-notes.ts` looks for the note before it is created again.
 */
export async function sendNotes(pairs: readonly Pair[], sending: Sending): Promise<void> {
  await change(
    pairs.filter(({ step }) => step.id !== null),
    sending,
  );
  await create(
    pairs.filter(({ step }) => step.id === null),
    sending,
  );
}

async function change(pairs: readonly Pair[], { client, budget }: Sending): Promise<void> {
  const replies = await runBatch(
    client,
    { path: client.paths.objects('notes', 'batch/update'), traced: true, silence: 'failed' },
    pairs.map(({ step }) => ({ body: { id: step.id, properties: step.properties }, key: step.id! })),
    budget,
  );
  pairs.forEach(({ task, step }, index) => {
    const reply = replies[index]!;
    if (reply.kind === 'done') task.made(step.record, { id: step.id });
    else if (reply.kind === 'missing') {
      task.made(step.record, { id: step.id });
      task.note(`note ${step.id} was deleted in HubSpot and is not written again`);
    } else task.endBy(reply, step.record);
  });
}

async function create(pairs: readonly Pair[], sending: Sending): Promise<void> {
  const { client, budget } = sending;
  const contactIds = await findContacts(
    pairs.map(({ task, step }) => ({ task, record: step.record, contact: step.contact })),
    sending,
  );
  const creating = pairs.flatMap((pair, index) => {
    const contactId = contactIds[index];
    if (contactId === null) pair.task.note('no contact matches, and none is to be created: no note');
    return contactId != null && pair.task.isOpen(pair.step.record) ? [{ ...pair, contactId }] : [];
  });
  const inputs = creating.map(({ step, contactId }): BatchInput => ({
    body: { properties: step.properties, associations: [{ to: { id: contactId }, types: [noteToContact] }] },
    key: step.mark,
  }));
  const call = { path: client.paths.objects('notes', 'batch/create'), traced: true, silence: 'failed' } as const;
  const replies = await runBatch(client, call, inputs, budget);
  creating.forEach(({ task, step }, index) => settle(task, step, replies[index]!));
}

function settle(task: Task, step: NoteStep, reply: RecordReply): void {
  if (reply.kind === 'done') task.made(step.record, { id: String(reply.result.id) });
  else if (reply.kind === 'failed' && reply.processed === 'maybe' && 'detail' in reply.result) {
    task.end({ kind: 'unknown', detail: reply.result.detail ?? 'HubSpot did not answer' }, step.record);
  } else task.endBy(reply, step.record);
}
