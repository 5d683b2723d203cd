import { MappingError } from '../mapping/mapping-error.js';
import { environmentOf } from '../sink-environment.test-kit.js';
import { Secret } from '../../config/secret.js';
import { subjectOf } from '../plan-of.test-kit.js';
import { sampleChange } from '../sample-change.test-kit.js';
import type { Fields } from '../sink.js';
import { loadHubSpotConfig } from './load-config.test-kit.js';
import { Planner } from './plan.js';

const ada = { Email: 'Ada@example.com' };
const contact = { match: [{ property: 'email', value: 'ada@example.com' }], create: true, properties: {} };

function plannerOf(keys: object): Planner {
  const notes = {
    from: 'qna-questions',
    object: 'notes',
    email: 'attendee.Email',
    when: 'item.status = "allowed"',
    properties: { hs_note_body: 'item.content' },
  };
  const people = { from: 'attendees', object: 'contacts', match: ['email'], properties: { email: 'item.Email' } };
  const { records } = loadHubSpotConfig({ token: new Secret('t'), records: [people, { ...notes, ...keys }] });
  return new Planner(records, environmentOf('crm'));
}

function question(data: Fields, around: { attendee?: Fields; object?: Fields } = {}) {
  return subjectOf(sampleChange({ id: 'c', list: 'qna-questions', key: '9001', data }), { attendee: ada, ...around });
}

describe('the look-up for an item for which the mapping no longer creates anything', () => {
  it('searches for the note that may exist, by its mark and its contact', async () => {
    const planner = plannerOf({});
    const subject = question({ status: 'hidden', content: 'When?' });
    expect(await planner.plan(subject)).toEqual({ kind: 'nothing', reason: 'condition' });
    expect(await planner.planLookUp(subject)).toEqual({
      kind: 'send',
      operation: {
        changeId: 'c',
        object: { 'new contacts': { mayExist: true } }, // HubSpot may have created the contact of the note
        steps: [
          {
            kind: 'note',
            record: 'notes',
            id: null,
            contact,
            properties: {},
            mark: '[pigeonpost acme/101/qna-questions/9001]',
          },
        ],
      },
    });
  });

  it("is made even if the mapping of the note's text fails", async () => {
    const planner = plannerOf({ properties: { hs_note_body: '$uppercase(item.id)' } });
    const subject = question({ status: 'allowed', id: 7 });
    await expect(planner.plan(subject)).rejects.toThrow(MappingError);
    expect((await planner.planLookUp(subject)).kind).toBe('send');
  });

  it('is not made if the note is known', async () => {
    const planner = plannerOf({ create: false });
    const known = question({ status: 'hidden' }, { object: { notes: { id: '5' } } });
    expect((await planner.planLookUp(known)).kind).toBe('nothing');
  });

  it('makes no call for a note whose contact is no longer known, or for a record, and says that they may exist', async () => {
    const planner = plannerOf({ create: false });
    const nobody = subjectOf(question({ status: 'hidden' }).change);
    const person = subjectOf(sampleChange({ id: 'c', list: 'attendees', key: '7', data: ada }));
    const mayExist = true;
    expect(await planner.planLookUp(nobody)).toMatchObject({
      operation: { steps: [], object: { notes: { mayExist } } },
    });
    expect(await planner.planLookUp(person)).toMatchObject({
      operation: { steps: [], object: { contacts: { mayExist } } },
    });
  });

  it('searches at the contact to which the note was sent, also if no person is visible any more', async () => {
    const known = { object: { notes: { contactId: '7', mayExist: true } } };
    const subject = { ...question({ status: 'hidden' }, known), attendee: null };
    expect(await plannerOf({}).planLookUp(subject)).toMatchObject({
      kind: 'send',
      operation: { steps: [{ sentTo: '7', contact: { match: [], create: false } }] },
    });
  });

  it('needs an operator if the mapping no longer determines the contact', async () => {
    const planner = plannerOf({ email: '$uppercase(attendee)' });
    expect(await planner.planLookUp(question({ status: 'hidden' }))).toMatchObject({
      kind: 'unplannable',
      detail: expect.stringMatching(/^a note may have been created and cannot be looked up \(.*\): check the contact/),
    });
  });
});
