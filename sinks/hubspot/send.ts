import type { Fields } from '../sink.js';
import type { HubSpotOperation, Step } from './operation.js';
import { sendAssociations, sendLists } from './send-associations.js';
import { sendArchives, sendForgets, sendLeaves } from './send-forgets.js';
import { sendNotes } from './send-notes.js';
import { sendRecords, type Sending } from './send-records.js';
import { sendRegistrations } from './send-registrations.js';
import type { Task } from './batch.js';

/**
 * Carries out all steps of some operations, kind by kind, so that one call serves many of them: contacts before what
 * refers to them, and notes, which alone cannot be repeated, last.
 * @returns what the lane is to remember
 */
export async function carryOut(
  tasks: readonly Task[],
  memory: Fields,
  sending: Sending,
): Promise<Readonly<Record<string, unknown>>> {
  for (const [objectType, pairs] of byType(pairsOf(tasks, 'forget'))) await sendForgets(pairs, objectType, sending);
  await sendLeaves(pairsOf(tasks, 'leave'), sending);
  const leaving = pairsOf(tasks, 'registration').filter(losesItsContact);
  await sendRegistrations(leaving, memory, sending); // of a contact that is gone HubSpot cancels nothing
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

/** Whether the operation takes away the contact whose registration it cancels. */
function losesItsContact({ task, step }: Pair<'registration'>): boolean {
  return task.operation.steps.some(
    (each) => each.kind === 'archive' && each.objectType === 'contacts' && each.id === step.contactId,
  );
}

function byType<P extends { readonly step: { readonly objectType: string } }>(pairs: readonly P[]): Map<string, P[]> {
  const groups = new Map<string, P[]>();
  for (const pair of pairs) {
    const { objectType } = pair.step;
    groups.set(objectType, [...(groups.get(objectType) ?? []), pair]);
  }
  return groups;
}

/** Whether carrying it out creates a note: what cannot be repeated without looking. */
export function createsNote({ steps }: HubSpotOperation): boolean {
  return steps.some((step) => step.kind === 'note' && step.id === null);
}
