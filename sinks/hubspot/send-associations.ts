import { listOf, problemOf } from './classify-answer.js';
import type { Reply } from './client.js';
import { findContacts } from './find-contacts.js';
import type { RecordStep } from './operation.js';
import type { Sending } from './send-records.js';
import type { Task } from './task.js';

type Pair = { readonly task: Task; readonly step: RecordStep };

/** Associates records of a custom object with the contact that they belong to, and parts them from one that they no longer do. */
export async function sendAssociations(pairs: readonly Pair[], objectType: string, sending: Sending): Promise<void> {
  const written = pairs.filter(({ task, step }) => task.isOpen && task.madeId(step.record) !== undefined);
  const belonging = written.filter(({ step }) => step.contact !== null);
  const contactIds = await findContacts(
    belonging.map(({ task, step }) => ({ task, contact: step.contact! })),
    sending,
  );
  const contactOf = new Map(belonging.map(({ step }, index) => [step, contactIds[index]]));
  const parting = written.filter(({ task, step }) => {
    return task.isOpen && step.contactId !== null && (contactOf.get(step) ?? null) !== step.contactId;
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
  for (const { task, step } of parting.filter(({ task }) => task.isOpen)) {
    const { contactId: _, ...rest } = task.has(step.record);
    task.made(step.record, rest);
  }
  const joining = belonging.filter(({ task, step }) => task.isOpen && contactOf.get(step) != null);
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
  for (const { task, step } of joining.filter(({ task }) => task.isOpen)) {
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
    const { client, asking } = sending;
    const inputs = chunk.map((pair) => toInput(pair.task.madeId(pair.step.record)!, contactOf(pair)));
    const reply = await client.post(client.paths.associations(objectType, 'contacts', call), { inputs }, asking);
    if (reply.kind === 'ok' && listOf(reply.body.errors).length === 0) return;
    if (reply.kind === 'failed') {
      for (const { task } of chunk) task.end(reply.result);
    } else if (chunk.length > 1) {
      for (const pair of chunk) await linkChunk([pair]);
    } else end(chunk[0]!.task, reply, call);
  }
}

function end(task: Task, reply: Exclude<Reply, { kind: 'failed' }>, call: string): void {
  const problem = reply.kind === 'refused' ? reply.problem : problemOf(listOf(reply.body.errors)[0]);
  if (reply.status === 404 || problem.category === 'OBJECT_NOT_FOUND') {
    if (call === 'batch/archive') return; // parted already
    task.end({ kind: 'retry', detail: 'the contact or the record was removed in HubSpot meanwhile' });
    return;
  }
  const cause = `hubspot:association:${problem.code || problem.category || reply.status}`;
  task.end({ kind: 'rejected', cause, detail: `HubSpot refused an association (HTTP ${reply.status})` });
}
