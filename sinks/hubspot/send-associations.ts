import { listOf, problemOf } from './classify-answer.js';
import type { Reply } from './client.js';
import { findContacts } from './find-contacts.js';
import type { RecordStep } from './operation.js';
import type { Sending } from './send-records.js';
import type { Task } from './task.js';

type Pair = { readonly task: Task; readonly step: RecordStep };

/** Associates records of a custom object with the contact that they belong to, and parts them from one that they no longer do. */
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
    objectType,
    'batch/archive',
    sending,
    ({ step }) => step.contactId!,
    (id, contactId) => ({
      from: { id },
      to: [{ id: contactId }],
    }),
  );
  for (const { task, step } of parting.filter(({ task, step }) => task.isOpen(step.record))) {
    const { contactId: _, ...rest } = task.has(step.record);
    task.made(step.record, rest);
  }
  const joining = belonging.filter(({ task, step }) => task.isOpen(step.record) && contactOf.get(step) != null);
  await link(
    joining,
    objectType,
    'batch/associate/default',
    sending,
    ({ step }) => contactOf.get(step)!,
    (id, contactId) => ({
      from: { id },
      to: { id: contactId },
    }),
  );
  for (const { task, step } of joining.filter(({ task, step }) => task.isOpen(step.record))) {
    task.made(step.record, { ...task.has(step.record), contactId: contactOf.get(step) });
  }
}

async function link(
  pairs: readonly Pair[],
  objectType: string,
  call: string,
  sending: Sending,
  contactOf: (pair: Pair) => string,
  toInput: (id: string, contactId: string) => object,
): Promise<void> {
  for (let from = 0; from < pairs.length; from += 100) await linkChunk(pairs.slice(from, from + 100));

  /** One call; where it is not done for all, each of them alone: which it was about is not told in a form to rely on. */
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
  // Only an error of this record means that they are parted already. A 404 of the call is about the call.
  if (call === 'batch/archive' && reply.kind === 'ok' && isMissing) return;
  if (call !== 'batch/archive' && (isMissing || reply.status === 404)) {
    task.end({ kind: 'retry', detail: 'the contact or the record was removed in HubSpot meanwhile' }, step.record);
    return;
  }
  const cause = `hubspot:association:${problem.code || problem.category || reply.status}`;
  task.end({ kind: 'rejected', cause, detail: `HubSpot refused an association (HTTP ${reply.status})` }, step.record);
}
