import { TestOrg } from './org.test-kit.js';
import { createSalesforceSink } from './salesforce.js';
import { campaignKeys, sampleConfig, sampleEnvironment } from './sample.test-kit.js';

let org: TestOrg;
beforeEach(async () => {
  org = await TestOrg.open();
});
afterEach(() => org.close());

async function problems(record: object = {}, environment: object = {}): Promise<string[]> {
  const sink = createSalesforceSink(sampleConfig(org, record), { ...sampleEnvironment, ...environment });
  const lines = await sink.check(new AbortController().signal);
  await sink.close();
  return lines.filter(({ ok }) => !ok).map(({ text }) => text);
}

const place = 'salesforce.records[0]';
const given = { Email: 'item.Email', LastName: 'item.Name', Company: '"x"' };

describe('a check', () => {
  it('finds no problem in the example, and changes nothing', async () => {
    expect(await problems({ campaign: campaignKeys })).toEqual([]);
    expect(org.calls().every(({ method }) => method === 'GET')).toBe(true);
  });

  it.each([
    ['a missing field', { ...given, Nickname__c: '1' }, `${place}.properties.Nickname__c: Lead has no such field`],
    [
      'a required field without a mapping',
      { Email: 'item.Email', LastName: '"x"' },
      `${place}.properties: Lead requires Company`,
    ],
    [
      'a text for a number',
      { ...given, Seats__c: '"many"' },
      `${place}.properties.Seats__c: returns a value that a field of type double`,
    ],
    [
      'a text that is too long',
      { ...given, FirstName: `"${'x'.repeat(41)}"` },
      `${place}.properties.FirstName: returns 41 characters, but the field accepts 40`,
    ],
    [
      'a value that the picklist lacks',
      { ...given, Grade__c: '"Warm"' },
      `${place}.properties.Grade__c: returns none of the picklist values: "Hot", "Cold"`,
    ],
  ])('reports %s', async (_, properties, expected) => {
    expect((await problems({ properties })).join('\n')).toContain(expected);
  });

  async function warnings(properties: object): Promise<string[]> {
    const sink = createSalesforceSink(
      sampleConfig(org, { properties: { ...given, ...properties } }),
      sampleEnvironment,
    );
    const lines = await sink.check(new AbortController().signal);
    await sink.close();
    return lines.filter(({ warning }) => warning === true).map(({ text }) => text);
  }

  it('warns if the mapping would replace names of people found by e-mail', async () => {
    const found = await warnings({ LastName: '"Day"', FirstName: { value: '"Ada"', write: 'if-empty' } });
    expect(found).toEqual([expect.stringContaining(`${place}.properties.LastName: "always" replaces the name`)]);
  });

  it.each([
    ['$lastName(item.Name ? item.Name : "unknown")', undefined],
    ['$lastName(item.Name)', 'an item without a value'],
    ['$substringAfter(item.Name, "Ada")', 'a field of one word, such as the name "Ada"'],
  ])('says for which items a required field has no value: %s', async (value, when) => {
    const found = await warnings({ LastName: { value, write: 'if-empty' } });
    const text = `${place}.properties.LastName: Salesforce requires LastName of a new Lead, but the mapping returns nothing for ${when}. `;
    expect(found).toEqual(when === undefined ? [] : [expect.stringContaining(text)]);
  });

  it('reports an external id field that is not flagged as one', async () => {
    const told = await problems({ externalId: { FirstName: 'item.id' } });
    expect(told.join('\n')).toContain('Lead.FirstName is not flagged External ID');
    expect(told.join('\n')).toContain('Lead.FirstName is not unique');
  });

  it('reports a campaign status that does not exist and may not be added', async () => {
    org.double.org.permissions.CampaignMemberStatus = { createable: false };
    const campaign = { ...campaignKeys, status: { registered: 'Sent', attended: 'Was there' } };
    expect((await problems({ campaign })).join('\n')).toContain(
      `${place}.campaign.status: no campaign has "Was there"`,
    );
  });

  it('reports missing permissions of the user', async () => {
    org.double.org.permissions.Lead = { createable: false, deletable: false };
    const told = (await problems({}, { onForget: 'delete' })).join('\n');
    expect(told).toContain('the user may not create a Lead');
    expect(told).toContain('the user may not delete a Lead');
  });

  it.each([
    ['clear-our-fields', 'attendees', true],
    ['delete', 'attendees', false],
    ['delete', 'qna-questions', true], // the item can become anonymous
  ])('with onForget: %s for %s reports memberships that it may not delete: %s', async (onForget, from, isReported) => {
    org.double.org.permissions.CampaignMember = { deletable: false };
    const text = `${place}.campaign: the user may not delete a CampaignMember, which is necessary when a person is forgotten`;
    expect(await problems({ from, campaign: campaignKeys }, { onForget })).toEqual(isReported ? [text] : []);
  });

  it('says why the login fails', async () => {
    const sink = createSalesforceSink(sampleConfig(org, {}, { clientId: 'other' }), sampleEnvironment);
    const lines = await sink.check(new AbortController().signal);
    await sink.close();
    expect(lines).toEqual([{ ok: false, text: expect.stringContaining('check "clientId"') }]);
  });
});

describe('the choices of a campaign', () => {
  const choices = async (record: object = {}) =>
    await org.sink(record).choices!('campaign', new AbortController().signal);

  it('are a campaign for each event, and those that an external id names, the newest first', async () => {
    for (const [name, id] of [
      ['Spring', 'e1'],
      ['Unnamed', null],
      ['Autumn', 'e2'],
    ] as const) {
      org.add('Campaign', { Name: name, ...(id === null ? {} : { Event_Id__c: id }) });
    }
    expect(await choices()).toMatchObject({
      kind: 'offered',
      items: [
        { value: 'Event_Id__c', label: 'A campaign for each event' },
        { value: 'Event_Id__c=e2', label: 'Autumn' },
        { value: 'Event_Id__c=e1', label: 'Spring' },
      ],
    });
    expect(org.calls().every(({ method }) => method === 'GET')).toBe(true);
  });
});
