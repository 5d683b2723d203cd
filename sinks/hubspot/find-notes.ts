import { fieldsOf, type Result } from '../sink.js';
import { type RecordReply, runBatch } from './batch.js';
import { listOf, problemOf } from './classify.js';
import { findContacts } from './send-notes.js';
import type { NoteStep } from './operation.js';
import type { Sending } from './send-records.js';
import type { Task } from './task.js';

/** Maximum number of pages of a contact's notes, with up to 500 notes each. */
const MAX_PAGES = 20;

type Pair = { readonly task: Task; readonly step: NoteStep };

/** `unclear`: the notes could not be read; the task has the reason. */
export type Found = { readonly id: string } | 'none' | 'unclear';

/**
 * Looks for notes that an attempt may have created, by the mark in their text, among all notes of the contact. It does
 * not use HubSpot's search, whose index lags. The contact is the one for which the note was sent.
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
  const detail = 'the contact has more notes than are looked through: look for the note by hand';
  task.end({ kind: 'unknown', detail }, step.record);
  return undefined;
}

/**
 * Lists a page of a contact's notes by the batch read, which every version has. Only an explicit answer means that
 * there are none: an error, a 404 included, may hide a note that would be created twice.
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
      fields: { properties: ['hs_note_body'] },
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
