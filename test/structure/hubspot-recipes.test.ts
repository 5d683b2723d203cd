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
import type { HubSpotOptions } from '../../sandbox/hubspot/account.js';
import { property } from '../../sandbox/hubspot/object-type.js';
import { type HubSpotDouble, startHubSpotDouble } from '../../sandbox/hubspot/start-hubspot-double.js';
import { environmentOf } from '../../sinks/sink-environment.test-kit.js';

interface RecordEntry {
  readonly from: string;
  readonly object: string;
}

const pages = ['docs/recipes.md', 'docs/sinks.md', 'docs/sinks/hubspot.md'];
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

/** The rows of the guide's table of names: required properties, and the expressions for both parts of a name. */
const nameRows = [
  ...readFileSync(join(__dirname, '../../docs/sinks/hubspot.md'), 'utf8').matchAll(
    /^\| (nothing, or the first name|the last name|both) \| `(.*)` \| `(.*)` \|$/gm,
  ),
].map(([, required, firstname, lastname]) => ({ required, firstname: firstname!, lastname: lastname! }));

/** A recipe with the expressions that the guide has for an account. */
function withNames(records: readonly RecordEntry[], row: (typeof nameRows)[number]): readonly RecordEntry[] {
  const [shipped] = nameRows;
  const replaced = new Map(
    (['firstname', 'lastname'] as const).flatMap((part) =>
      ['item.', 'attendee.'].map((of) => [shipped![part].replaceAll('item.', of), row[part].replaceAll('item.', of)]),
    ) as [string, string][],
  );
  const text = JSON.stringify(records);
  return JSON.parse(text, (_, value: unknown) => replaced.get(String(value)) ?? value) as RecordEntry[];
}

let hubspot: HubSpotDouble;
async function openAccount(options: HubSpotOptions = {}): Promise<void> {
  hubspot = await startHubSpotDouble({
    contactProperties: [
      property('member_no', { hasUniqueValue: true }),
      property('last_event'),
      property('next_call', { type: 'date' }),
    ],
    customObjects: [{ name: 'vote', properties: [property('vote_id', { hasUniqueValue: true }), property('choice')] }],
    lists: [{ listId: '1203' }, { listId: '1204' }],
    ...options,
  });
  // What colleagues have typed in, and must find again.
  hubspot.account.portal.create(hubspot.account.contacts, {
    email: 'ann@example.com',
    firstname: 'Annabel',
    lastname: 'Ray-Stone',
    company: 'Stone Ltd',
    member_no: '00123',
  });
  hubspot.account.portal.create(hubspot.account.contacts, { email: 'prince@example.com', lastname: 'Prince' });
}
afterEach(() => hubspot.close());

function openSink(records: readonly RecordEntry[]) {
  const keys = { token: new Secret('hubspot-token'), baseUrl: hubspot.url, records };
  return createHubSpotSink(hubspotConfigSchema.parse(keys), environmentOf('crm'));
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
const prince = { id: 3, Name: 'Prince', Email: 'prince@example.com', attendeeCode: '00125' };

/** The same people in every list: one whom HubSpot has, and two with a name of one word, of whom it has one. */
function itemsOf(list: string): Subject[] {
  const pigeonhole = { id: 101, name: 'Summit', startDate: '2026-11-21', timezone: 'Europe/Berlin' };
  return [ann, cher, prince].map((person, at) => {
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

/** Checks, sends everything to the account, and returns its contacts. */
async function run(records: readonly RecordEntry[]): Promise<Record<string, string>[]> {
  const sink = openSink(records);
  try {
    const lines = await sink.check(new AbortController().signal);
    expect(lines.filter(({ ok, text }) => !ok || text.includes('one word'))).toEqual([]);
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
  return portal.all(contacts).map(({ values }) => Object.fromEntries(values));
}

describe('a HubSpot recipe', () => {
  it('is found in both pages and in the output of init', async () => {
    await openAccount();
    expect(recipes.map(([name]) => name.replace(/ \d+$/, ''))).toEqual([
      ...Array<string>(2).fill('docs/recipes.md, HubSpot recipe'),
      'docs/sinks.md, HubSpot recipe',
      ...Array<string>(7).fill('docs/sinks/hubspot.md, HubSpot recipe'),
      'the configuration that init writes',
    ]);
    expect(nameRows).toHaveLength(3);
  });

  describe.each([
    ['the first name', ['firstname'], nameRows[0]!],
    ['the last name', ['lastname'], nameRows[1]!],
    ['both names', ['firstname', 'lastname'], nameRows[2]!],
  ] as const)('in an account that requires %s', (_, requiredOfContacts, row) => {
    it.each(recipes)('runs in an account with existing contacts: %s', async (_name, records) => {
      await openAccount({ requiredOfContacts });
      const people = await run(withNames(records, row));
      expect(people.filter(({ email }) => email === 'ann@example.com')).toMatchObject([
        { firstname: 'Annabel', lastname: 'Ray-Stone', company: 'Stone Ltd' },
      ]);
      // Nobody is there twice, and a name of one word is not both names.
      expect(new Set(people.map(({ email }) => email)).size).toBe(people.length);
      expect(people.filter(({ firstname, lastname }) => firstname === lastname)).toEqual([]);
    });
  });

  it.each([
    ['that init writes', recipes.at(-1)![1], 'properties'],
    ['for registrants', recipes[1]![1], 'contactProperties'],
  ])('%s gets a warning if the account requires the last name', async (_, records, properties) => {
    await openAccount({ requiredOfContacts: ['lastname'] });
    const sink = openSink(records);
    const lines = await sink.check(new AbortController().signal);
    await sink.close();
    expect(lines).toContainEqual({
      ok: true,
      warning: true,
      text: `crm.records[0].${properties}.lastname: HubSpot requires lastname of new contacts, but the mapping returns nothing for a field of one word, such as the name "Ada". Such a record becomes a dead letter: see "Required properties" in docs/sinks/hubspot.md`,
    });
  });
});
