import { createSalesforceSink } from './salesforce.js';
import { attendee, campaignKeys, privateKey, sampleConfig, sampleEnvironment } from './sample.test-kit.js';

const planned = async (record: object, ...subjects: ReturnType<typeof attendee>[]) =>
  await createSalesforceSink(sampleConfig({ url: 'http://127.0.0.1:9' }, record), sampleEnvironment).plan(subjects);

const ada = { id: 7, Name: 'Lovelace', Email: ' Ada@Example.com ' };

describe('a plan', () => {
  it('contains everything that would be found and written, and no secret', async () => {
    const [plan] = await planned({ campaign: campaignKeys }, attendee({ ...ada, signInTime: '2026-11-21T09:00:00Z' }));
    expect(plan).toEqual({
      kind: 'send',
      operation: {
        changeId: 'change-7',
        object: null,
        steps: [
          {
            kind: 'person',
            record: 'Lead',
            objectType: 'Lead',
            known: null,
            key: { field: 'Engagement_Id__c', value: '7' },
            email: 'ada@example.com',
            match: ['externalId', 'contactEmail', 'leadEmail'],
            onSeveral: 'park',
            create: true,
            writes: [
              { name: 'Email', value: ' Ada@Example.com ', policy: 'always' },
              { name: 'LastName', value: 'Lovelace', policy: 'always' },
              { name: 'Company', value: 'unknown', policy: 'always' },
            ],
            isOneWord: false,
            lookups: [],
            happenedAtMs: Date.parse('2026-11-21T09:00:00Z'),
            isUnsure: false,
            isCreating: false,
            campaign: {
              key: { field: 'Event_Id__c', value: '101' },
              fields: { Name: 'ACME Summit' },
              stage: 'attended',
              status: { registered: 'Sent', attended: 'Responded' },
              memberWrites: [],
            },
          },
        ],
      },
    });
    expect(JSON.stringify(plan)).not.toContain(privateKey.slice(40, 80));
  });

  it('is empty if the condition is false or if the identity is not visible', async () => {
    expect(await planned({ when: 'item.Company' }, attendee(ada))).toEqual([{ kind: 'nothing', reason: 'condition' }]);
    const nobody = { externalId: { Engagement_Id__c: 'attendee.attendeeCode' } };
    expect(await planned(nobody, attendee({ id: 7, Name: 'x' }))).toEqual([{ kind: 'nothing', reason: 'no-key' }]);
  });

  it('is a dead letter if the mapping fails, and does not affect others', async () => {
    const record = { properties: { Email: 'item.Email', Seats__c: '$number(item.seats)' } };
    const plans = await planned(
      record,
      attendee({ ...ada, seats: 'secret words' }),
      attendee({ ...ada, id: 8, seats: '3' }),
    );
    expect(plans.map(({ kind }) => kind)).toEqual(['unplannable', 'send']);
    expect(plans[0]).toMatchObject({ cause: 'mapping: salesforce.records[0].properties.Seats__c: D3030' });
    expect(JSON.stringify(plans[0])).not.toContain('secret words');
  });

  it('is a dead letter for an object in place of a value', async () => {
    const plans = await planned(
      { properties: { Email: 'item.Email', LastName: 'item.linkedIn' } },
      attendee({ ...ada, linkedIn: { url: 'u' } }),
    );
    expect(plans).toMatchObject([
      { kind: 'unplannable', cause: 'mapping: salesforce.records[0].properties.LastName: group' },
    ]);
  });

  it('keeps a field if the mapping returns nothing or an empty text, and clears it for null', async () => {
    const record = {
      properties: { Email: 'item.Email', FirstName: 'item.first', LastName: 'item.last', Rating: 'null' },
    };
    const [plan] = await planned(record, attendee({ ...ada, last: '' }));
    expect(plan).toMatchObject({
      operation: { steps: [{ writes: [{ name: 'Email' }, { name: 'Rating', value: null }] }] },
    });
  });

  it.each(['Email', 'email'])('never clears %s, because it identifies the person', async (field) => {
    const record = { email: 'item.Email', properties: { [field]: 'item.none', Rating: 'item.none' } };
    const written = { created: true, keyed: true, written: [field, 'Rating'], writtenAtMs: 0, member: null };
    const object = { Lead: { type: 'Lead', id: '00Q1', ...written } };
    const cleared = { operation: { steps: [{ writes: [{ name: 'Rating', value: null }] }] } };
    expect(await planned(record, attendee(ada, { object }), attendee({ ...ada, none: null }))).toMatchObject([
      cleared,
      cleared,
    ]);
  });

  it('matches nobody by an invalid e-mail address', async () => {
    expect(await planned({}, attendee({ ...ada, Email: 'n/a' }))).toMatchObject([
      { operation: { steps: [{ email: null }] } },
    ]);
  });

  it('truncates the name of a campaign to the limit of Salesforce, between characters', async () => {
    const [plan] = await planned({ campaign: { ...campaignKeys, name: `"${'x'.repeat(79)}🎈"` } }, attendee(ada));
    expect(plan).toMatchObject({ operation: { steps: [{ campaign: { fields: { Name: 'x'.repeat(79) } } }] } });
  });
});
