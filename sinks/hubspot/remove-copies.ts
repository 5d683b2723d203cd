import { type ExtraHeld, fieldsOf, type Outcome } from '../sink.js';
import { readRecords, type Sending } from './batch.js';
import type { HubSpotOperation, NoteStep } from './operation.js';

/**
 * Removes copies of notes, which users made in HubSpot. Reads each one first: only a note that still has the mark of the
 * item is moved to the recycling bin.
 */
export async function removeCopies(
  extras: readonly ExtraHeld<HubSpotOperation>[],
  sending: Sending,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const { operation, copies } of extras) outcomes.push(await removeCopiesOf(operation, copies, sending));
  return outcomes;
}

async function removeCopiesOf(
  operation: HubSpotOperation | null,
  copies: readonly string[],
  sending: Sending,
): Promise<Outcome> {
  const notes = (operation?.steps ?? []).filter((step): step is NoteStep => step.kind === 'note');
  const replies = await readRecords(sending, 'notes', copies, { properties: ['hs_note_body'] });
  const marked: string[] = [];
  for (const [index, id] of copies.entries()) {
    const reply = replies[index]!;
    if (reply.kind === 'failed') return reply.result;
    if (reply.kind === 'rejected') return reply;
    if (reply.kind === 'missing' || notes.some((note) => note.id === id)) continue;
    const text = String(fieldsOf(reply.result.properties).hs_note_body);
    if (notes.some(({ mark }) => text.includes(mark))) marked.push(id);
  }
  if (marked.length > 0) {
    const { client, budget } = sending;
    const inputs = marked.map((id) => ({ id }));
    const reply = await client.call('POST', client.path('objects', 'notes/batch/archive'), { inputs }, budget);
    if (reply.kind === 'failed') return reply.result;
    if (reply.kind === 'refused') {
      const detail = `HubSpot refused to remove copies of a note (HTTP ${reply.status})`;
      return { kind: 'rejected', cause: `hubspot:archive:${reply.problem.category || reply.status}`, detail };
    }
  }
  return { kind: 'delivered', detail: `${marked.length} copies of the note removed` };
}
