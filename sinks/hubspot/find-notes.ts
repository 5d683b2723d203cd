import { fieldsOf } from '../fields-of.js';
import { listOf } from './classify-answer.js';
import { runBatch } from './batch.js';
import { findContacts } from './find-contacts.js';
import type { NoteStep } from './operation.js';
import type { Sending } from './send-records.js';
import type { Task } from './task.js';

/** Pages of a contact's notes that are looked through, of 500 each. */
const mostPages = 20;

/** `unclear`: it could not be found out; the task says why. */
export type Found = { readonly id: string } | 'none' | 'unclear';

/**
 * Looks for the notes that an attempt may have created, by the mark in their text, among all notes of the contact. Not by
 * HubSpot's search, whose index lags behind. Which contact is found out as it was when the note was sent.
 */
export async function findNotes(
  pairs: readonly { readonly task: Task; readonly step: NoteStep }[],
  sending: Sending,
): Promise<Found[]> {
  const wanted = pairs.map(({ task, step }) => ({ task, contact: { ...step.contact, create: false } }));
  const contactIds = await findContacts(wanted, sending);
  const notes = new Map<string, ReadonlyMap<string, string> | undefined>();
  const found: Found[] = [];
  for (const [index, { task, step }] of pairs.entries()) {
    const contactId = contactIds[index];
    if (contactId === null) found.push('none');
    else if (contactId === undefined) found.push('unclear');
    else {
      if (!notes.has(contactId)) notes.set(contactId, await notesOf(contactId, task, sending));
      const texts = notes.get(contactId);
      const match = [...(texts ?? [])].find(([, text]) => text.includes(step.mark));
      if (match !== undefined) found.push({ id: match[0] });
      else found.push(texts === undefined ? 'unclear' : 'none');
    }
  }
  return found;
}

/** The texts of all notes of a contact, by id; undefined: they could not be read, and the task has ended. */
async function notesOf(contactId: string, task: Task, sending: Sending): Promise<Map<string, string> | undefined> {
  const { client, asking } = sending;
  const texts = new Map<string, string>();
  let after: string | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    const query = new URLSearchParams({ limit: '500', ...(after !== undefined && { after }) }).toString();
    const reply = await client.get(`${client.paths.associated('contacts', contactId, 'notes')}?${query}`, asking);
    if (reply.kind === 'failed') {
      task.end(reply.result);
      return undefined;
    }
    if (reply.kind === 'refused' && reply.status !== 404) {
      const detail = `the notes of a contact could not be listed (HTTP ${reply.status})`;
      task.end({ kind: 'unknown', detail });
      return undefined;
    }
    if (reply.kind === 'refused') return texts; // the contact is gone, and its notes with it
    const ids = listOf(reply.body.results).map((each) => String(fieldsOf(each).toObjectId));
    const records = await runBatch(
      client,
      {
        path: client.paths.objects('notes', 'batch/read'),
        fields: { properties: ['hs_note_body'] },
        traced: false,
        silence: 'missing',
      },
      ids.map((id) => ({ body: { id }, key: id })),
      asking,
    );
    for (const record of records) {
      if (record.kind === 'failed' || record.kind === 'rejected') {
        task.endBy(record);
        return undefined;
      }
      if (record.kind === 'done') {
        const text = fieldsOf(record.result.properties).hs_note_body;
        if (typeof text === 'string') texts.set(String(record.result.id), text);
      }
    }
    const next = fieldsOf(fieldsOf(reply.body.paging).next).after;
    if (typeof next !== 'string') return texts;
    after = next;
  }
  const detail = 'the contact has more notes than are looked through: look for the note by hand';
  task.end({ kind: 'unknown', detail });
  return undefined;
}
