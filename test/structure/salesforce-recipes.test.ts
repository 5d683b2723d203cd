import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { subjectOf } from '../../sinks/plan-of.test-kit.js';
import { sampleChange } from '../../sinks/sample-change.test-kit.js';
import { deliver } from '../../sinks/salesforce/sample.test-kit.js';
import type { SalesforceOperation } from '../../sinks/salesforce/operation.js';
import type { Fields, Sink, Subject } from '../../sinks/sink.js';
import { loadProcessConfig } from '../../operations/load-process-config.js';
import { createSink } from '../../delivering/open-sinks.js';
import { field } from '../../sandbox/salesforce/sobject-type.js';
import { type SalesforceDouble, startSalesforceDouble } from '../../sandbox/salesforce/start-salesforce-double.js';

/** Whole files with a Salesforce sink, by where they stand. */
const recipes = ['docs/recipes.md', 'docs/sinks/salesforce.md'].flatMap((page) =>
  [...readFileSync(join(__dirname, '../..', page), 'utf8').matchAll(/^```yaml\n([^]*?)^```$/gm)]
    .map(([, text]) => text!)
    .filter((text) => text.includes('type: salesforce'))
    .map((text, at) => [`${page} ${at + 1}`, text] as const),
);

/** Entries of `records` in the guide. */
const guide = readFileSync(join(__dirname, '../../docs/sinks/salesforce.md'), 'utf8');
const [example, ...parts] = [...guide.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, text]) => text!);
const ofContacts = (text: string): boolean => text.includes('object: Contact');

const key = (name: string) => field(name, { externalId: true, unique: true });
const sales = '0058d0000000077AAA';
const pigeonhole = { id: 101, name: 'Summit', startDate: '2026-11-21', timezone: 'Europe/Berlin' };

let salesforce: SalesforceDouble;
let folder: string;
const sinks: Sink[] = [];

beforeEach(async () => {
  salesforce = await startSalesforceDouble({
    instanceUrl: 'https://example.my.salesforce.com',
    fields: {
      Lead: [key('Engagement_Id__c'), key('Engagement_Code__c'), field('Last_Event__c')],
      Contact: [key('Engagement_Id__c'), key('Engagement_Code__c')],
      Account: [key('Domain__c')],
      Campaign: [key('Event_Id__c')],
      CampaignMember: [field('Questions__c', { type: 'double' }), field('Credit__c', { type: 'double' })],
      Task: [field('Engagement_Key__c', { externalId: true })],
    },
  });
  folder = mkdtempSync(join(tmpdir(), 'recipes-'));
  writeFileSync(join(folder, 'sf.pem'), salesforce.org.privateKey!);
});
afterEach(async () => {
  for (const sink of sinks.splice(0)) await sink.close();
  await salesforce.close();
  rmSync(folder, { recursive: true });
});

/** The recipe's Salesforce sink unchanged, except for Salesforce's address. */
async function sinkOf(recipe: string): Promise<Sink<SalesforceOperation>> {
  const file = join(folder, 'pigeonpost.yaml');
  const isWhole = recipe.includes('workspaces:');
  const rest = `workspaces:
  acme: { baseUrl: https://api.example.com, apiKey: "\${ENGAGEMENT_API_KEY}" }
syncs:
  events: { workspace: acme, pigeonholes: { status: [live] }, sinks: [salesforce] }
`;
  const text = recipe
    .replace(/^( +)type: salesforce$/m, (line, indent: string) => `${line}\n${indent}baseUrl: ${salesforce.url}`)
    .replace('/run/secrets/sf.pem', join(folder, 'sf.pem'));
  writeFileSync(file, isWhole ? text : `${rest}${text}`);
  const config = await loadProcessConfig(file, {
    ENGAGEMENT_API_KEY: 'a-key',
    SF_CLIENT_ID: salesforce.org.clientId,
    SF_USERNAME: salesforce.org.username,
  });
  const sink = createSink(config, 'salesforce') as Sink<SalesforceOperation>;
  sinks.push(sink);
  return sink;
}

function add(type: string, values: Fields): { readonly values: Fields } {
  const { org } = salesforce.org;
  return org.create(org.type(type), values);
}

function all(type: string): Fields[] {
  const { org } = salesforce.org;
  return org.all(org.type(type)).map(({ values }) => values);
}

function attendee(id: number, Name: string, Email: string, object: Fields | null = null): Subject {
  const data = { id, Name, Email, signInTime: '2026-11-21T09:00:00Z' };
  const change = sampleChange({ list: 'attendees', key: String(id), id: `a-${id}`, sessionId: null, data });
  return subjectOf(change, { attendee: data, pigeonhole, object });
}

describe.each(recipes)('%s', (_, recipe) => {
  it('is accepted by a new org', async () => {
    const lines = await (await sinkOf(recipe)).check(new AbortController().signal);
    expect(lines.filter(({ ok, text }) => !ok || text.startsWith('warning'))).toEqual([]);
  });

  it('keeps names and owners of existing people, and creates no duplicates', async () => {
    const contact = add('Contact', { FirstName: 'A.', LastName: 'King', Email: 'ADA@example.com', OwnerId: sales });
    const lead = add('Lead', { LastName: 'Hopper', Company: 'Navy', Email: 'grace@example.com', OwnerId: sales });
    add('Lead', { FirstName: 'Bob', LastName: 'Ray', Company: 'ACME', Email: 'bob@example.com', OwnerId: sales });
    const sink = await sinkOf(recipe);
    const people = [
      attendee(1, 'Ada Lovelace', 'ada@example.com'),
      attendee(2, 'Grace Hopper', 'Grace@Example.com'),
      attendee(3, 'Bob', 'bob@example.com'), // a name of one word
      attendee(4, 'Cher', 'cher@example.com'), // a new person
    ];
    const outcomes = await deliver(sink, people);
    expect(outcomes.map(({ kind }) => kind)).toEqual(people.map(() => 'delivered'));
    const again = people.map((subject, at) => ({ ...subject, object: outcomes[at]!.object ?? null }));
    expect((await deliver(sink, again)).map(({ kind }) => kind)).toEqual(people.map(() => 'delivered'));
    expect(contact.values).toMatchObject({ FirstName: 'A.', LastName: 'King', OwnerId: sales });
    expect(lead.values).toMatchObject({ FirstName: 'Grace', LastName: 'Hopper', Company: 'Navy', OwnerId: sales });
    expect(all('Lead').map(({ Name }) => Name)).toEqual(['Grace Hopper', 'Bob Ray', 'Cher']);
    expect(all('Contact')).toHaveLength(1);
    expect(all('CampaignMember').map(({ Status }) => Status)).toEqual(people.map(() => 'Responded'));
  });
});

it('docs/recipes.md adds questions to the activities of existing people, without changing other activities', async () => {
  const [, recipe] = recipes.find(
    ([name, text]) => name.startsWith('docs/recipes.md') && text.includes('object: Task'),
  )!;
  const sink = await sinkOf(recipe);
  const contact = add('Contact', { LastName: 'King', Email: 'ADA@example.com' });
  const lead = add('Lead', { LastName: 'Hopper', Company: 'Navy', Email: 'grace@example.com' });
  const call = add('Task', { Subject: 'Call', Status: 'Not Started', WhoId: contact.values.Id });
  const before = { ...call.values };
  const asked = (id: number, email: string, content: string, object: Fields | null = null): Subject => {
    const data = { id, content, status: 'allowed', createdAt: '2026-11-21T23:30:00Z', attendee: { id } };
    const change = sampleChange({ list: 'qna-questions', key: String(id), id: `q-${id}`, data });
    return subjectOf(change, { attendee: { id, Name: 'Ada King', Email: email }, pigeonhole, object });
  };
  const questions = [asked(9, 'ada@example.com', 'Why?'), asked(10, 'Grace@example.com', 'How?')];
  const outcomes = await deliver(sink, questions);
  expect(outcomes.map(({ kind }) => kind)).toEqual(['delivered', 'delivered']);
  await deliver(await sinkOf(recipe), questions); // by a process that knows nothing of the first one
  const edited = asked(9, 'ada@example.com', 'Why not?', outcomes[0]!.object ?? null);
  expect((await deliver(sink, [edited])).map(({ kind }) => kind)).toEqual(['delivered']);
  const question = {
    Subject: 'Question at Summit',
    Status: 'Completed',
    ActivityDate: '2026-11-22', // in the time zone of the event
  };
  expect(all('Task')).toEqual([
    before,
    expect.objectContaining({
      ...question,
      Engagement_Key__c: 'question-9',
      Description: 'Why not?',
      WhoId: contact.values.Id,
    }),
    expect.objectContaining({
      ...question,
      Engagement_Key__c: 'question-10',
      Description: 'How?',
      WhoId: lead.values.Id,
    }),
  ]);
  expect([all('Contact').length, all('Lead').length]).toEqual([1, 1]);
});

describe('docs/sinks/salesforce.md', () => {
  const about = (list: string, data: Fields): Subject => {
    const change = sampleChange({ list, key: list, id: list, data: { attendeeId: 1, attendee: { id: 1 }, ...data } });
    return subjectOf(change, { attendee: { id: 1, Name: 'Ada King', Email: 'ada@example.com' }, pigeonhole });
  };

  it('has further entries that an org accepts together with the example', async () => {
    const entries = parts.filter((text) => !ofContacts(text));
    expect(entries).toHaveLength(2);
    add('Contact', { LastName: 'King', Email: 'ADA@example.com' });
    const sink = await sinkOf(`${example!}${entries.join('')}`);
    expect((await sink.check(new AbortController().signal)).filter(({ ok }) => !ok)).toEqual([]);
    const outcomes = await deliver(sink, [
      attendee(1, 'Ada King', 'ada@example.com'),
      about('engagement', { scope: 'pigeonhole', asked: 2, interactions: 5 }),
      about('qna-questions', { id: 9, content: 'Why?', status: 'allowed', createdAt: '2026-11-21T10:00:00Z' }),
    ]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['delivered', 'delivered', 'delivered']);
    expect(all('CampaignMember')).toEqual([
      expect.objectContaining({ Status: 'Responded', Questions__c: 2, Credit__c: 5 }),
    ]);
    const campaign = all('Campaign')[0]!.Id;
    expect(all('Task')).toEqual([expect.objectContaining({ WhoId: all('Contact')[0]!.Id, WhatId: campaign })]);
  });

  it('has an external id for registrants, with which guests with a name of one word are leads and members', async () => {
    const [, externalId] = /`from: registrants`[^`]*`(externalId: [^`]*)`/.exec(guide.replaceAll(/\s+/g, ' '))!;
    const entry = example!
      .replace('from: attendees', 'from: registrants')
      .replace(/externalId: \{ Engagement_Id.*/, externalId!);
    expect(entry).toContain('from: registrants');
    add('Lead', { FirstName: 'Bob', LastName: 'Ray', Company: 'ACME', Email: 'bob@example.com', OwnerId: sales });
    const sink = await sinkOf(entry);
    const lines = await sink.check(new AbortController().signal);
    expect(lines.filter(({ ok, text }) => !ok || text.startsWith('warning'))).toEqual([]);
    const guests = ['Bob', 'Cher'].map((Name, at) => {
      const data = { attendeeCode: `00${at}`, Name, Email: `${Name}@example.com`, signedInAt: null };
      return subjectOf(sampleChange({ list: 'registrants', key: Name, id: Name, sessionId: null, data }), {
        pigeonhole,
      });
    });
    expect((await deliver(sink, guests)).map(({ kind }) => kind)).toEqual(['delivered', 'delivered']);
    expect(all('Lead').map(({ Name }) => Name)).toEqual(['Bob Ray', 'Cher']);
    expect(all('CampaignMember').map(({ Status }) => Status)).toEqual(['Sent', 'Sent']);
  });

  it('has a lookup that sets the account of a new contact', async () => {
    const known = add('Account', { Name: 'ACME', Domain__c: 'example.com' });
    const other = add('Account', { Name: 'Guests' });
    const head = example!.slice(0, example!.indexOf('      - from:'));
    const entry = parts.find(ofContacts)!.replace(/001\w{15}/, String(other.values.Id));
    const sink = await sinkOf(`${head}${entry}`);
    const lines = await sink.check(new AbortController().signal);
    expect(lines.filter(({ ok, text }) => !ok || text.startsWith('warning'))).toEqual([]);
    await deliver(sink, [attendee(1, 'Ada', 'ada@example.com'), attendee(2, 'Cher', 'cher@home.example')]);
    expect(all('Contact').map(({ AccountId }) => AccountId)).toEqual([known.values.Id, other.values.Id]);
  });
});
