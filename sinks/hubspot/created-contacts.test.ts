import { attendee, Desk, type DeskOptions, kinds, question } from './desk.test-kit.js';

const notes = {
  from: 'qna-questions',
  object: 'notes',
  email: 'attendee.Email',
  contactProperties: { firstname: 'attendee.Name' },
  properties: { hs_note_body: 'item.content' },
};
const registration = {
  from: 'attendees',
  object: 'marketing-event',
  event: { name: 'pigeonhole.name', organizer: '"ACME"' },
  attendance: '"register"',
  email: 'item.Email',
  contactProperties: { firstname: 'item.Name' },
};
const contacts = {
  from: 'attendees',
  object: 'contacts',
  match: ['email'],
  properties: { email: 'item.Email', firstname: 'item.Name' },
};
const ada = { Email: 'ada@example.com', Name: 'Ada' };
const asked = (content = 'When?') => question(1, { content }, { attendee: ada });
const erasedQuestion = question(1, null, { removal: 'erased' });
const erasedAttendee = attendee(1, null, { removal: 'erased' });

let desk: Desk;
afterEach(async () => desk.close());
const open = async (records: readonly object[], options: DeskOptions = {}) =>
  void (desk = await Desk.open(records, options));

/** The dead letter about the only contact. */
const byHand = (kind = 'rejected') => ({
  kind,
  cause: 'hubspot:forget-by-hand',
  detail: expect.stringContaining(desk.contacts[0]!.id) as string,
});

describe('a contact that was created for another record of a person who must be forgotten', () => {
  it('is left to an operator after the note is removed', async () => {
    await open([notes]);
    await desk.deliver([asked()]);
    const outcomes = await desk.deliver([erasedQuestion]);
    expect(outcomes).toMatchObject([byHand()]);
    expect(JSON.stringify(outcomes)).not.toContain('ada@');
    expect(desk.valuesOf('notes')).toEqual([]);
    expect(desk.valuesOf('contacts')).toEqual([{ email: 'ada@example.com', firstname: 'Ada' }]);
    expect(await desk.deliver([erasedQuestion])).toMatchObject([byHand()]);
  });

  it('is left to an operator if the note was edited and removed before', async () => {
    await open([notes]);
    await desk.deliver([asked()]);
    await desk.deliver([asked('Where?')]);
    expect(kinds(await desk.deliver([question(1, null)]))).toEqual(['delivered']);
    expect(await desk.deliver([erasedQuestion])).toMatchObject([byHand()]);
  });

  it('is left to an operator after the registration is cancelled', async () => {
    await open([registration]);
    await desk.deliver([attendee(1, ada)]);
    expect(await desk.deliver([erasedAttendee])).toMatchObject([byHand()]);
    expect(desk.participations).toEqual(['CANCELLED']);
    expect(await desk.deliver([erasedAttendee])).toMatchObject([byHand()]);
  });

  it('is named with the other records if onForget is manual', async () => {
    await open([notes], { environment: { onForget: 'manual' } });
    await desk.deliver([asked()]);
    expect(await desk.deliver([erasedQuestion])).toMatchObject([byHand('unplannable')]);
  });

  it.each([
    ['note', notes, asked(), erasedQuestion, 'contacts/batch/upsert'],
    ['registration', registration, attendee(1, ada), erasedAttendee, 'email-create'],
  ])(
    'is left to an operator if the answer to its creation was lost: for a %s',
    async (_, entry, made, erased, path) => {
      await open([entry]);
      desk.hubspot.faults.add({ effect: { kind: 'dropAfter' }, path });
      expect(kinds(await desk.deliver([made]))).toEqual(['retry']);
      expect(desk.contacts).toHaveLength(1);
      expect(await desk.deliver([erased])).toMatchObject([
        { kind: 'unplannable', detail: expect.stringMatching(/search for the person$/) as string },
      ]);
      expect(kinds(await desk.deliver([made]))).toEqual(['delivered']);
      expect(await desk.deliver([erased])).toMatchObject([byHand()]);
    },
  );

  it('is not removed while the removal of the note is held back', async () => {
    await open([notes]);
    await desk.deliver([asked()]);
    desk.hubspot.faults.add({
      path: 'notes/batch/archive',
      effect: { kind: 'answer', answer: { status: 403, json: { category: 'MISSING_SCOPES' } } },
    });
    expect(kinds(await desk.deliver([erasedQuestion]))).toEqual(['unsent']);
    expect(await desk.deliver([erasedQuestion])).toMatchObject([byHand()]);
    expect(desk.valuesOf('notes')).toEqual([]);
  });
});

describe('a contact that existed before, or that an entry for contacts writes', () => {
  it('needs no operator for the note', async () => {
    await open([notes]);
    desk.createContact({ email: 'ada@example.com' });
    await desk.deliver([asked()]);
    expect(await desk.deliver([erasedQuestion])).toMatchObject([{ kind: 'delivered', object: null }]);
  });

  it('needs no operator for the registration', async () => {
    await open([contacts, registration]);
    await desk.deliver([attendee(1, ada)]);
    expect(kinds(await desk.deliver([erasedAttendee]))).toEqual(['delivered']);
    expect(desk.valuesOf('contacts')).toEqual([{}]);
  });
});
