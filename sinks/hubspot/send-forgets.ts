import { runBatch, type Task } from './batch.js';
import { held, withCorrelationId } from './classify.js';
import { clockToleranceMs, changedAtMs } from './decide-writes.js';
import type { ArchiveStep, ForgetStep, LeaveStep } from './operation.js';
import { leaveLists } from './send-associations.js';
import type { Sending } from './send-records.js';

/**
 * Clears this sink's values in records that others also use. A property stays if it was last changed before the sink
 * first wrote to the record, or after the sink last wrote the property: its value belongs to another system.
 */
export async function sendForgets(
  pairs: readonly { readonly task: Task; readonly step: ForgetStep }[],
  objectType: string,
  sending: Sending,
): Promise<void> {
  await leaveLists(pairs, sending); // first: what fails after it is done again as a whole
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
export async function sendLeaves(
  pairs: readonly { readonly task: Task; readonly step: LeaveStep }[],
  sending: Sending,
): Promise<void> {
  await leaveLists(pairs, sending);
  for (const { task, step } of pairs) if (task.isOpen(step.record)) task.made(step.record, step.made);
}

/** Moves records to the recycling bin. HubSpot answers 204 for records that are already there. */
export async function sendArchives(
  pairs: readonly { readonly task: Task; readonly step: ArchiveStep }[],
  objectType: string,
  { client, budget }: Sending,
): Promise<void> {
  const ids = [...new Set(pairs.map(({ step }) => step.id))];
  for (let from = 0; from < ids.length; from += 100) {
    const chunk = ids.slice(from, from + 100);
    const path = client.paths.objects(objectType, 'batch/archive');
    const reply = await client.post(path, { inputs: chunk.map((id) => ({ id })) }, budget);
    for (const { task, step } of pairs.filter(({ step }) => chunk.includes(step.id))) {
      // HubSpot answers 204 for records that are already gone. A 404 is about the call: nothing was removed.
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
