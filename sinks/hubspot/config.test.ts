import { Secret } from '../../config/secret.js';
import { hubspotConfigSchema } from './config.js';
import { loadHubSpotConfig } from './load-config.test-kit.js';
import { hubspotSinkType } from './hubspot.js';

const contacts = { from: 'attendees', object: 'contacts', match: ['email'], properties: { email: 'item.Email' } };
const event = {
  from: 'attendees',
  object: 'marketing-event',
  event: { name: 'pigeonhole.name', organizer: '"ACME"' },
  attendance: '"register"',
  email: 'item.Email',
};
const notes = {
  from: 'qna-questions',
  object: 'notes',
  email: 'attendee.Email',
  properties: { hs_note_body: 'item.content' },
};

function problemsOf(keys: Record<string, unknown>): string[] {
  const result = hubspotConfigSchema.safeParse({ token: new Secret('pat-x'), records: [contacts], ...keys });
  return result.success ? [] : result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

describe('the configuration of hubspot', () => {
  it("has HubSpot's address and version by default", () => {
    expect(loadHubSpotConfig({ token: new Secret('pat-x'), records: [contacts] })).toMatchObject({
      baseUrl: 'https://api.hubapi.com',
      apiVersion: '2026-09',
      records: [{ create: true, properties: { email: { write: 'always' } } }],
    });
  });

  it('accepts every kind of record', () => {
    const custom = {
      ...contacts,
      object: 'p_votes',
      match: ['vote_id'],
      properties: { vote_id: 'item.id' },
      contact: { member: 'item.x' },
    };
    expect(problemsOf({ records: [contacts, event, notes, custom] })).toEqual([]);
  });

  it.each([
    [{ records: [] }, 'records: allowed: at least one record'],
    [{ apiVersion: 'v4' }, 'apiVersion: allowed: a version by date such as 2026-09, or v3'],
    [{ records: [{ ...notes, lists: ['1203'] }] }, 'records.0.lists: does not belong to notes; remove it'],
    [{ records: [{ ...contacts, joinedAt: 'item.x' }] }, 'records.0.joinedAt: does not belong to contacts; remove it'],
    [
      { records: [{ ...event, contactProperties: { email: 'item.Email' } }] },
      'records.0.contactProperties: must not contain "email": use the key "email" or "contact" for it',
    ],
    [
      { records: [{ ...contacts, object: 'p_votes', contactProperties: { firstname: 'item.Name' } }] },
      'records.0.contactProperties: needs "email" or "contact", which name the contact',
    ],
    [{ baseUrl: 'http://api.example.com' }, /^baseUrl: must begin with https:/],
    [
      { records: [{ ...contacts, match: ['member_no'] }] },
      'records.0.match: add member_no to "properties", which sets its value',
    ],
    [
      { records: [{ ...contacts, match: ['hs_object_id'] }] },
      /^records\.0\.match: HubSpot does not match by hs_object_id/,
    ],
    [{ records: [{ ...contacts, match: undefined }] }, 'records.0.match: is missing: contacts needs it'],
    [{ records: [{ ...contacts, event: event.event }] }, 'records.0.event: does not belong to contacts; remove it'],
    [{ records: [{ ...event, email: undefined }] }, 'records.0.email: is missing: marketing-event needs it'],
    [{ records: [{ ...notes, email: undefined }] }, /^records\.0\.email: is missing: a note belongs to a contact/],
    [
      { records: [{ ...notes, properties: { other: 'item.content' } }] },
      /^records\.0\.properties: has to give hs_note_body/,
    ],
    [
      { records: [{ ...notes, contact: { email: 'attendee.Email' } }] },
      /^records\.0\.contact: cannot be used together with "email"/,
    ],
    [
      { records: [{ ...contacts, properties: { email: 'item.(' } }] },
      /^records\.0\.properties\.email: is not a usable expression/,
    ],
    [
      { records: [{ ...contacts, properties: { email: { value: 'item.Email', write: 'never' } } }] },
      /^records\.0\.properties\.email\.write: allowed/,
    ],
    [{ records: [{ ...contacts, properties: { 'E-Mail': 'item.Email' } }] }, /^records\.0\.properties\.E-Mail/],
    [{ records: [{ ...contacts, from: 'people' }] }, /^records\.0\.from: allowed/],
    [{ token: 'pat-x' }, /^token: a secret must not be in this file/],
  ])('reports a problem for %j', (keys, problem) => {
    expect(problemsOf(keys)).toContainEqual(typeof problem === 'string' ? problem : expect.stringMatching(problem));
  });

  it('reads only the lists and joins that its records use', () => {
    const config = (...records: object[]) => loadHubSpotConfig({ token: new Secret('pat-x'), records });
    expect(hubspotSinkType.lists(config(contacts, event, notes))).toEqual(['attendees', 'qna-questions']);
    expect(hubspotSinkType.joins!(config(notes))).toEqual(['pigeonholes', 'attendees']);
    expect(hubspotSinkType.joins!(config({ ...contacts, properties: { email: 'session.name' } }))).toEqual([
      'pigeonholes',
      'sessions',
    ]);
  });
});
