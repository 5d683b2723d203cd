import { type BatchInput, type RecordReply, runBatch, type Task } from './batch.js';
import type { NoteStep, ContactReference } from './operation.js';
import type { Sending } from './send-records.js';
import { fieldsOf, type Result } from '../sink.js';
import { listOf, problemOf } from './classify.js';

type Pair = { readonly task: Task; readonly step: NoteStep };

/** The association of a note with a contact. Source: HubSpot, "Associations", "Association type IDs". */
const noteToContact = { associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 202 };

/**
 * Creates notes on the timelines of contacts, and updates existing ones. A note that was deleted in HubSpot stays
 * deleted. Only a repeated creation would produce a duplicate. If the answer to a creation is lost, the outcome is
 * `unknown`, and `findNotes` looks for the note before it is created again.
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
    if (contactId === null) pair.task.note('no contact matches and "create" is false, so no note was written');
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
 * Returns the id of each step's contact, and creates missing contacts if the mapping allows it. Null: there is no
 * contact. Undefined: the contact could not be determined, and the task has ended.
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
          ...(reads && {
            fields: { idProperty: property, properties: [property, ...more], propertiesWithHistory: [] },
          }),
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

/** Returns the input that creates a contact, with the properties of the first step that needs it. */
function created(
  property: string,
  value: string,
  group: readonly { readonly value: string; readonly contact: ContactReference }[],
): Record<string, unknown> {
  const properties = group.find((each) => each.value === value)?.contact.properties;
  return { id: value, idProperty: property, properties: { ...properties, [property]: value } };
}

/** Maximum number of pages that are read to look up a note, with up to 500 notes each. */
const MAX_PAGES = 20;

/** `unclear`: the notes could not be read; the task has the reason. */
export type Found = { readonly id: string } | 'none' | 'unclear';

/**
 * Looks for notes that an earlier attempt may have created, by the mark in their text. Reads all notes of the contact
 * to which the earlier attempt sent the note. Does not use HubSpot's search, because its index does not contain new
 * notes immediately.
 */
export async function findNotes(pairs: readonly Pair[], sending: Sending): Promise<Found[]> {
  const wanted = pairs.map(({ task, step }) => ({
    task,
    record: step.record,
    contact: { ...step.contact, create: false },
  }));
  const contactIds = await findContacts(wanted, sending);
  const notes = new Map<string, ReadonlyMap<string, string> | undefined>();
  const found: Found[] = [];
  for (const [index, pair] of pairs.entries()) {
    const contactId = contactIds[index];
    if (contactId === null) found.push('none');
    else if (contactId === undefined) found.push('unclear');
    else {
      if (!notes.has(contactId)) notes.set(contactId, await notesOf(contactId, pair, sending));
      const texts = notes.get(contactId);
      const match = [...(texts ?? [])].find(([, text]) => text.includes(pair.step.mark));
      if (match !== undefined) found.push({ id: match[0] });
      else found.push(texts === undefined ? 'unclear' : 'none');
    }
  }
  return found;
}

/** Returns the texts of all notes of a contact, by id; undefined: they could not be read, and the task has ended. */
async function notesOf(
  contactId: string,
  { task, step }: Pair,
  sending: Sending,
): Promise<Map<string, string> | undefined> {
  const texts = new Map<string, string>();
  let after: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const listed = await listNotes(contactId, after, sending);
    if ('failure' in listed) {
      task.end(listed.failure, step.record);
      return undefined;
    }
    const failure = await readTexts(listed.ids, texts, sending);
    if (failure !== undefined) {
      task.endBy(failure, step.record);
      return undefined;
    }
    if (listed.after === undefined) return texts;
    after = listed.after;
  }
  const detail = 'the contact has too many notes to search: look for the note in HubSpot by hand';
  task.end({ kind: 'unknown', detail }, step.record);
  return undefined;
}

/**
 * Reads one page of a contact's notes with the batch read of associations, which every API version has. Only an answer
 * that explicitly lists no notes means that there are none. An error, even a 404, may hide a note, which would then be
 * created twice.
 */
async function listNotes(
  contactId: string,
  after: string | undefined,
  { client, budget }: Sending,
): Promise<{ readonly ids: string[]; readonly after: string | undefined } | { readonly failure: Result }> {
  const inputs = [{ id: contactId, ...(after !== undefined && { after }) }];
  const reply = await client.post(client.paths.associations('contacts', 'notes', 'batch/read'), { inputs }, budget);
  if (reply.kind === 'failed') return { failure: reply.result };
  if (reply.kind === 'refused') {
    return {
      failure: { kind: 'unknown', detail: `the notes of a contact could not be listed (HTTP ${reply.status})` },
    };
  }
  const found = listOf(reply.body.results)
    .map(fieldsOf)
    .find(({ from }) => String(fieldsOf(from).id) === contactId);
  const next = fieldsOf(fieldsOf(found?.paging).next).after;
  if (found !== undefined && Array.isArray(found.to)) {
    const ids = found.to.map((each) => String(fieldsOf(each).toObjectId));
    return { ids, after: typeof next === 'string' ? next : undefined };
  }
  const codes = listOf(reply.body.errors).map((error) => problemOf(error).code);
  if (codes.length === 1 && codes[0] === 'NO_ASSOCIATIONS_FOUND') return { ids: [], after: undefined };
  return { failure: { kind: 'unknown', detail: 'HubSpot answered without saying which notes the contact has' } };
}

async function readTexts(
  ids: readonly string[],
  texts: Map<string, string>,
  { client, budget }: Sending,
): Promise<Exclude<RecordReply, { kind: 'done' }> | undefined> {
  const records = await runBatch(
    client,
    {
      path: client.paths.objects('notes', 'batch/read'),
      fields: { properties: ['hs_note_body'], propertiesWithHistory: [] },
      traced: false,
      silence: 'missing',
    },
    ids.map((id) => ({ body: { id }, key: id })),
    budget,
  );
  for (const record of records) {
    if (record.kind === 'failed' || record.kind === 'rejected') return record;
    if (record.kind !== 'done') continue;
    const text = fieldsOf(record.result.properties).hs_note_body;
    if (typeof text === 'string') texts.set(String(record.result.id), text);
  }
  return undefined;
}
