import { fieldsOf, type Outcome, type Result } from '../sink.js';
import { type BatchInput, type RecordReply, readRecords, type Sending, writeRecords } from './batch.js';
import { listOf, problemOf } from './classify.js';
import { type HubSpotOperation, type NoteStep, type Pair, Task } from './operation.js';
import { findContacts } from './find-contacts.js';

/** The association of a note with a contact. Source: HubSpot, "Associations", "Association type IDs". */
const noteToContact = { associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 202 };

/**
 * Creates notes on the timelines of contacts, and updates existing ones. A note that was deleted in HubSpot stays
 * deleted. Only a repeated creation would produce a duplicate. If the answer to a creation is lost, the outcome is
 * `unknown`, and `findNotes` looks for the note before it is created again.
 */
export async function sendNotes(pairs: readonly Pair<NoteStep>[], sending: Sending): Promise<void> {
  const known = pairs.filter(({ step }) => step.id !== null);
  const changes = known.map(({ step: { id, properties } }) => ({ body: { id, properties }, key: id! }));
  const changed = await writeRecords(sending, 'notes', 'update', changes);
  known.forEach(({ task, step }, index) => {
    const reply = changed[index]!;
    if (reply.kind !== 'done' && reply.kind !== 'missing') return task.endBy(reply, step.record);
    task.made(step.record, { id: step.id });
    if (reply.kind === 'missing') task.note(`note ${step.id} was deleted in HubSpot and is not written again`);
  });
  await create(
    pairs.filter(({ step }) => step.id === null),
    sending,
  );
}

async function create(pairs: readonly Pair<NoteStep>[], sending: Sending): Promise<void> {
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
  const replies = await writeRecords(sending, 'notes', 'create', inputs);
  creating.forEach((pair, index) => settle(pair, replies[index]!));
}

function settle({ task, step, contactId }: Pair<NoteStep> & { readonly contactId: string }, reply: RecordReply): void {
  if (reply.kind === 'done') task.made(step.record, { id: String(reply.result.id) });
  else if (reply.kind === 'failed' && reply.processed === 'maybe' && 'detail' in reply.result) {
    task.made(step.record, { contactId, mayExist: true });
    task.end({ kind: 'unknown', detail: reply.result.detail ?? 'HubSpot did not answer' }, step.record);
  } else task.endBy(reply, step.record);
}

/**
 * Finds out what happened to operations that create notes; a repeat of all other steps is harmless. If a note is found,
 * the engine plans the change again with the note. The operation itself is not continued, because the person's identity
 * may no longer be visible.
 */
export async function recoverNotes(operations: readonly HubSpotOperation[], sending: Sending): Promise<Outcome[]> {
  const tasks = operations.map((operation) => new Task(operation));
  // These tasks are used only for the look-up; their results are not those of the operations.
  const pairs = tasks.flatMap((task) =>
    task.steps('note').flatMap((step) => (step.id === null ? [{ task, step }] : [])),
  );
  const found = await findNotes(pairs, sending);
  return tasks.map((lookUp): Outcome => {
    const own = pairs.flatMap(({ task, step }, index) => (task === lookUp ? [{ step, note: found[index]! }] : []));
    if (own.length === 0) return { kind: 'unsent' };
    if (own.some(({ note }) => note === 'unclear')) {
      const outcome = lookUp.outcome();
      // Only the first look-up of a contact has the reason for which its notes could not be read.
      const why = outcome.kind !== 'delivered' && 'detail' in outcome ? outcome.detail : undefined;
      return { kind: 'unknown', detail: why ?? 'the notes of the contact could not be read' };
    }
    const task = new Task(lookUp.operation);
    for (const { step, note } of own) {
      if (typeof note === 'object') task.made(step.record, note);
      else if (step.sentTo !== undefined) task.made(step.record, null);
    }
    const { object } = task.outcome();
    return { kind: 'unsent', ...(object !== undefined && { object }) };
  });
}

/** Maximum number of pages that are read to look up a note, with up to 500 notes each. */
const MAX_PAGES = 20;

/** `unclear`: the notes could not be read; the task has the reason. */
type Found = { readonly id: string } | 'none' | 'unclear';

/**
 * Looks for notes that an earlier attempt may have created, by the mark in their text. Reads all notes of the contact
 * to which the earlier attempt sent the note, and of the one that the mapping returns now. Does not use HubSpot's
 * search, because its index does not contain new notes immediately.
 */
async function findNotes(pairs: readonly Pair<NoteStep>[], sending: Sending): Promise<Found[]> {
  const wanted = pairs.map(({ task, step }) => ({
    task,
    record: step.record,
    contact: { ...step.contact, create: false },
  }));
  const contactIds = await findContacts(wanted, sending);
  const notes = new Map<string, ReadonlyMap<string, string> | undefined>();
  const found: Found[] = [];
  for (const [index, pair] of pairs.entries()) {
    let note: Found = contactIds[index] === undefined ? 'unclear' : 'none';
    for (const contactId of new Set([pair.step.sentTo, contactIds[index]])) {
      if (contactId == null || typeof note === 'object') continue;
      if (!notes.has(contactId)) notes.set(contactId, await notesOf(contactId, pair, sending));
      const texts = notes.get(contactId);
      const match = [...(texts ?? [])].find(([, text]) => text.includes(pair.step.mark));
      if (match !== undefined) note = { id: match[0] };
      else if (texts === undefined) note = 'unclear';
    }
    found.push(note);
  }
  return found;
}

/** Returns the texts of all notes of a contact, by id; undefined: they could not be read, and the task has ended. */
async function notesOf(
  contactId: string,
  { task, step }: Pair<NoteStep>,
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
  const path = client.path('associations', 'contacts/notes/batch/read');
  const reply = await client.call('POST', path, { inputs }, budget);
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
  sending: Sending,
): Promise<Exclude<RecordReply, { kind: 'done' }> | undefined> {
  for (const record of await readRecords(sending, 'notes', ids, { properties: ['hs_note_body'] })) {
    if (record.kind === 'failed' || record.kind === 'rejected') return record;
    if (record.kind !== 'done') continue;
    const text = fieldsOf(record.result.properties).hs_note_body;
    if (typeof text === 'string') texts.set(String(record.result.id), text);
  }
  return undefined;
}
