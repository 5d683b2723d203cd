import { type BatchInput, type RecordReply, runBatch } from './batch.js';
import type { NoteStep, ContactReference } from './operation.js';
import type { Sending } from './send-records.js';
import type { Task } from './task.js';

type Pair = { readonly task: Task; readonly step: NoteStep };

/** The association of a note with a contact. Source: HubSpot, "Associations", "Association type IDs". */
const noteToContact = { associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 202 };

/**
 * Creates notes on the timelines of contacts, and updates existing ones. A note that was deleted in HubSpot stays
 * deleted. Creation is the only call that a repeat would duplicate: if its answer is lost, the outcome is `unknown`,
 * and `find-notes.ts` looks for the note before it is created again.
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

/** A step that needs a contact, with its task. */
export interface Wanted {
  readonly task: Task;
  /** The step's entry of `records`. */
  readonly record: string;
  readonly contact: ContactReference;
}

/**
 * Returns the id of each step's contact, and creates missing contacts where the mapping allows it; null: there is
 * none; undefined: it is not known, and the task has ended.
 */
export async function findContacts(
  wanted: readonly Wanted[],
  sending: Sending,
): Promise<(string | null | undefined)[]> {
  const ids: (string | null | undefined)[] = wanted.map(() => null);
  const open = (at: number): boolean => ids[at] === null && wanted[at]!.task.isOpen(wanted[at]!.record);
  const longest = Math.max(0, ...wanted.map(({ contact }) => contact.match.length));
  for (let position = 0; position < longest; position += 1) {
    await ask((at) => (open(at) ? wanted[at]!.contact.match[position] : undefined), 'batch/read');
  }
  await ask(
    (at) => (open(at) && wanted[at]!.contact.create ? wanted[at]!.contact.match[0] : undefined),
    'batch/upsert',
  );
  return ids;

  async function ask(
    valueOf: (at: number) => ContactReference['match'][number] | undefined,
    call: 'batch/read' | 'batch/upsert',
  ): Promise<void> {
    const { client, budget } = sending;
    const asked = wanted.flatMap((_, at) => {
      const found = valueOf(at);
      return found === undefined ? [] : [{ at, contact: wanted[at]!.contact, ...found }];
    });
    for (const property of new Set(asked.map((each) => each.property))) {
      const group = asked.filter((each) => each.property === property);
      const values = [...new Set(group.map(({ value }) => value))];
      const reads = call === 'batch/read';
      const more = property === 'email' ? ['hs_additional_emails'] : [];
      const replies = await runBatch(
        client,
        {
          path: client.paths.objects('contacts', call),
          ...(reads && { fields: { idProperty: property, properties: [property, ...more] } }),
          traced: !reads,
          silence: reads ? 'missing' : 'failed',
        },
        values.map((value) => ({
          body: reads ? { id: value } : created(property, value, group),
          key: value,
          keyProperty: property,
        })),
        budget,
      );
      for (const { at, value } of group) {
        const reply = replies[values.indexOf(value)]!;
        if (reply.kind === 'done') ids[at] = String(reply.result.id);
        else if (reply.kind !== 'missing') {
          ids[at] = undefined;
          wanted[at]!.task.endBy(reply, wanted[at]!.record);
        }
      }
    }
  }
}

/** A contact to create, with the properties of the first step that needs it. */
function created(
  property: string,
  value: string,
  group: readonly { readonly value: string; readonly contact: ContactReference }[],
): Record<string, unknown> {
  const properties = group.find((each) => each.value === value)?.contact.properties;
  return { id: value, idProperty: property, properties: { ...properties, [property]: value } };
}
