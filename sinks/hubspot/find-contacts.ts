import { runBatch } from './batch.js';
import type { ContactReference } from './operation.js';
import type { Sending } from './send-records.js';
import type { Task } from './task.js';

/** A step that needs a contact, by the task that it belongs to. */
export interface Wanted {
  readonly task: Task;
  /** The entry of `records` that the step belongs to. */
  readonly record: string;
  readonly contact: ContactReference;
}

/**
 * The id of the contact that each refers to, created with the value that refers to it where there is none and it may be
 * created; null: there is none; undefined: it could not be found out, and the task has ended.
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

/** A contact that is created, with the properties that the first of those who want it gives to a new one. */
function created(
  property: string,
  value: string,
  group: readonly { readonly value: string; readonly contact: ContactReference }[],
): Record<string, unknown> {
  const properties = group.find((each) => each.value === value)?.contact.properties;
  return { id: value, idProperty: property, properties: { ...properties, [property]: value } };
}
