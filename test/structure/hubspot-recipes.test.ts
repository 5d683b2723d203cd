import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { writeConfiguration } from '../../cli/init/write-configuration.js';
import { Secret } from '../../config/secret.js';
import { hubspotConfigSchema } from '../../sinks/hubspot/config.js';
import { createHubSpotSink } from '../../sinks/hubspot/hubspot.js';
import { subjectOf } from '../../sinks/plan-of.test-kit.js';
import { sampleChange } from '../../sinks/sample-change.test-kit.js';
import type { Lane, Subject } from '../../sinks/sink.js';
import { property } from '../../sandbox/hubspot/object-type.js';
import { type HubSpotDouble, startHubSpotDouble } from '../../sandbox/hubspot/start-hubspot-double.js';

interface RecordEntry {
  readonly from: string;
  readonly object: string;
}

const pages = ['docs/recipes.md', 'docs/sinks/hubspot.md'];
const documented = pages.flatMap((page) => {
  const text = readFileSync(join(__dirname, '../..', page), 'utf8');
  const blocks = [...text.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, block]) => parse(block!) as unknown);
  return blocks.flatMap(recordsIn).map((records, at) => [`${page}, HubSpot recipe ${at + 1}`, records] as const);
});

const initText = writeConfiguration({
  service: 'https://service.example.com/v2',
  keyVariable: 'SERVICE_KEY',
  pigeonholes: 'all',
  sink: { type: 'hubspot', destination: '', secretVariable: 'HUBSPOT_TOKEN' },
});
const recipes = [
  ...documented,
  ...recordsIn(parse(initText)).map((records) => ['the configuration that init writes', records] as const),
];

/** The records of each HubSpot sink in a block, or the block where it is a list of records. */
function recordsIn(block: unknown): (readonly RecordEntry[])[] {
  if (Array.isArray(block)) return [block as RecordEntry[]];
  const { sinks = {} } = block as { sinks?: Record<string, { type: string; records: RecordEntry[] }> };
  return Object.values(sinks).flatMap(({ type, records }) => (type === 'hubspot' ? [records] : []));
}

let hubspot: HubSpotDouble;
beforeEach(async () => {
  hubspot = await startHubSpotDouble({
    requiredOfContacts: ['lastname'],
    contactProperties: [
      property('member_no', { hasUniqueValue: true }),
      property('last_event'),
      property('next_call', { type: 'date' }),
    ],
    customObjects: [{ name: 'vote', properties: [property('vote_id', { hasUniqueValue: true }), property('choice')] }],
    lists: [{ listId: '1203' }, { listId: '1204' }],
  });
  // What colleagues have typed in, and must find again.
  hubspot.account.portal.create(hubspot.account.contacts, {
    email: 'ann@example.com',
    firstname: 'Annabel',
    lastname: 'Ray-Stone',
    company: 'Stone Ltd',
    member_no: '00123',
  });
});
afterEach(() => hubspot.close());

function openSink(records: readonly RecordEntry[]) {
  const keys = { token: new Secret('hubspot-token'), baseUrl: hubspot.url, records };
  return createHubSpotSink(hubspotConfigSchema.parse(keys), {
    name: 'crm',
    baseFolder: '/',
    network: { allowHosts: [] },
  });
}

const lane: Lane = {
  workspace: 'acme',
  pigeonholeId: 101,
  ledgerId: 'ledger-1',
  memory: {},
  remember: () => Promise.resolve(),
};
const ann = { id: 1, Name: 'Ann Ray', Email: 'Ann@Example.com', Company: 'ACME', attendeeCode: '00123' };
const cher = { id: 2, Name: 'Cher', Email: 'cher@example.com', attendeeCode: '00124' };

/** The same two people in every list: one whom HubSpot has, and one with a name of one word whom it has not. */
function itemsOf(list: string): Subject[] {
  const pigeonhole = { id: 101, name: 'Summit', startDate: '2026-11-21', timezone: 'Europe/Berlin' };
  return [ann, cher].map((person, at) => {
    const own: Readonly<Record<string, object>> = {
      attendees: { ...person, signInTime: '2026-11-21T09:00:00Z', Callback: '2026-12-01' },
      registrants: { ...person, signedInAt: null },
      'qna-questions': { id: 9001 + at, content: 'When is lunch?', status: 'allowed', attendeeId: person.id },
      'poll-mcq-votes': { id: 9101 + at, option: { content: 'Yes' }, attendeeId: person.id },
    };
    const data = own[list] as Record<string, unknown>;
    const change = sampleChange({ id: `${list}-${at}`, list, key: String(at), data });
    return subjectOf(change, { attendee: person, session: { id: 5001, name: 'Keynote' }, pigeonhole });
  });
}

describe('a HubSpot recipe', () => {
  it('is found in both pages and in what init writes', () => {
    expect(recipes.map(([name]) => name.replace(/ \d+$/, ''))).toEqual([
      ...Array<string>(2).fill('docs/recipes.md, HubSpot recipe'),
      ...Array<string>(7).fill('docs/sinks/hubspot.md, HubSpot recipe'),
      'the configuration that init writes',
    ]);
  });

  it.each(recipes)('runs against an account that already holds contacts: %s', async (_, records) => {
    const sink = openSink(records);
    try {
      const failing = (await sink.check(new AbortController().signal)).filter(({ ok }) => !ok);
      expect(failing).toEqual([]);
      const subjects = [...new Set(records.map(({ from }) => from))].flatMap(itemsOf);
      const planned = await sink.plan(subjects);
      const operations = planned.flatMap((each) => (each.kind === 'send' ? [each.operation] : []));
      expect(operations).toHaveLength(subjects.length);
      const { outcomes } = await sink.send(operations, lane, new AbortController().signal);
      expect(outcomes.filter(({ kind }) => kind !== 'delivered')).toEqual([]);
    } finally {
      await sink.close();
    }
    const { portal, contacts } = hubspot.account;
    const people = portal.all(contacts).map(({ values }) => Object.fromEntries(values));
    expect(people.filter(({ email }) => email === 'ann@example.com')).toMatchObject([
      { firstname: 'Annabel', lastname: 'Ray-Stone', company: 'Stone Ltd' },
    ]);
    // Nobody is there twice, and a name of one word is not both names.
    expect(new Set(people.map(({ email }) => email)).size).toBe(people.length);
    expect(people.filter(({ firstname, lastname }) => firstname === lastname)).toEqual([]);
  });
});
