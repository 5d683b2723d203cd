import { Secret } from '../../config/secret.js';
import { canvasConfigSchema } from '../../sinks/canvas/config.js';
import { createCanvasSink } from '../../sinks/canvas/canvas.js';
import { hubspotConfigSchema } from '../../sinks/hubspot/config.js';
import { createHubSpotSink } from '../../sinks/hubspot/hubspot.js';
import type { Sink } from '../../sinks/sink.js';
import { chooseList, type ChosenList } from './send-canaries.js';

const environment = { name: 'crm', baseFolder: '/', network: { allowHosts: [] } };
const draft = {
  mark: 123_456_789_012_345,
  workspace: 'acme',
  pigeonholeId: 101,
  sink: 'crm',
  changeId: '00000000-0000-4000-8000-000000000001',
  withdrawalId: '00000000-0000-4000-8000-000000000002',
};
const facts = { consent: 'obtained' as const, fields: [], pigeonhole: { id: 101, name: 'Summit' }, apart: false };

const hubspot = (record: object): Sink =>
  createHubSpotSink(hubspotConfigSchema.parse({ token: new Secret('t'), records: [record] }), environment);
const canvas = (record: object): Sink => {
  const config = { baseUrl: 'https://canvas.example.com', token: new Secret('t'), records: [record] };
  return createCanvasSink(canvasConfigSchema.parse(config), environment);
};

async function choose(sink: Sink, lists: readonly string[]): Promise<ChosenList> {
  try {
    return await chooseList(sink, draft, lists, facts);
  } finally {
    await sink.close();
  }
}

const contact = { from: 'attendees', object: 'contacts', match: ['email'] };
const grade = { from: 'attendees', course: '"42"', assignment: '"1"', grade: '1' };
const anothers = { kind: 'nothing', says: expect.stringContaining('a value that real people may have') as string };

describe('the list of which a canary is invented', () => {
  it.each<[string, () => Sink, object]>([
    [
      'a person has an e-mail',
      () => hubspot({ ...contact, properties: { email: 'item.Email' } }),
      { kind: 'chosen', list: 'attendees' },
    ],
    ['a contact is one for all', () => hubspot({ ...contact, properties: { email: '"desk@example.com"' } }), anothers],
    [
      'a record is the event',
      () =>
        hubspot({
          from: 'attendees',
          object: 'p_events',
          match: ['event_id'],
          properties: { event_id: '$string(pigeonhole.id)' },
        }),
      anothers,
    ],
    [
      'a registration is of one for all',
      () =>
        hubspot({
          from: 'attendees',
          object: 'marketing-event',
          event: { name: 'pigeonhole.name', organizer: '"ACME"' },
          attendance: '"register"',
          email: '"desk@example.com"',
        }),
      anothers,
    ],
    [
      'a note belongs to one object for all',
      () =>
        hubspot({
          from: 'attendees',
          object: 'notes',
          email: '"desk@example.com"',
          properties: { hs_note_body: '"came"' },
        }),
      anothers,
    ],
    [
      'a student is found by their code',
      () => canvas({ ...grade, user: '"sis_user_id:" & item.attendeeCode' }),
      { kind: 'chosen', list: 'attendees' },
    ],
    ['a student is one for all', () => canvas({ ...grade, user: '"1001"' }), anothers],
    [
      'no condition takes it',
      () => hubspot({ ...contact, when: 'item.Country = "JP"', properties: { email: 'item.Email' } }),
      { kind: 'nothing', says: 'no condition of the mapping takes what can be invented of attendees' },
    ],
    [
      'the mapping fails',
      () => hubspot({ ...contact, properties: { email: '$uppercase(item.id)' } }),
      { kind: 'failed', says: expect.stringMatching(/^its mapping fails: /) as string },
    ],
  ])('is chosen so that nobody’s record is touched: where %s', async (_, sink, chosen) => {
    expect(await choose(sink(), ['attendees'])).toEqual(chosen);
  });

  it('is the first of which something is made, people before what they did', async () => {
    const sink = hubspot({
      from: 'questions',
      object: 'notes',
      email: 'attendee.Email',
      properties: { hs_note_body: 'item.question.content' },
    });
    expect(await choose(sink, ['sessions', 'questions', 'attendees'])).toEqual({ kind: 'chosen', list: 'questions' });
  });

  it('is none where a sink takes nothing of a pigeonhole', async () => {
    const sink = hubspot({ ...contact, properties: { email: 'item.Email' } });
    expect(await choose(sink, [])).toMatchObject({ kind: 'nothing' });
  });
});
