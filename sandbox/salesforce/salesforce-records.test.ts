import { closeDoubles, lead, salesforce } from './salesforce-client.test-kit.js';
import { lockedRow } from './record-rules.js';

afterEach(closeDoubles);

function codes(
  results: readonly { readonly success: boolean; readonly errors: readonly { readonly statusCode: string }[] }[],
): string[] {
  return results.map(({ success, errors }) => (success ? 'ok' : errors[0]!.statusCode));
}

describe('a collection', () => {
  it('upserts each record independently, and returns results in order', async () => {
    const { query, upsert } = await salesforce();
    const first = await upsert('Lead', 'Engagement_Id__c', [lead('1'), lead('2', { LastName: null }), lead('3')]);
    const second = await upsert('Lead', 'Engagement_Id__c', [lead('3', { Title: 'CEO' }), lead('4')]);
    expect(codes(first.json)).toEqual(['ok', 'REQUIRED_FIELD_MISSING', 'ok']);
    expect(second.json).toEqual([
      { id: first.json[2].id, success: true, errors: [], created: false },
      expect.objectContaining({ success: true, created: true }),
    ]);
    const { records } = (await query(`SELECT Title, Name FROM Lead WHERE Id = '${first.json[2].id}'`)).json;
    expect(records).toMatchObject([{ Title: 'CEO', Name: 'Doe' }]);
  });

  it('writes none of the records with the same external id, ignoring case', async () => {
    const { double, upsert } = await salesforce();
    const answer = await upsert('Lead', 'Engagement_Id__c', [lead('a'), lead('b'), lead('A')]);
    expect(codes(answer.json)).toEqual(['DUPLICATE_VALUE', 'ok', 'DUPLICATE_VALUE']);
    expect(double.org.org.all(double.org.org.type('Lead'))).toHaveLength(1);
  });

  it('refuses a record whose external id belongs to two records', async () => {
    const { create, upsert } = await salesforce();
    for (const FirstName of ['Ann', 'Bea']) {
      await create('Contact', { FirstName, LastName: 'Doe', Engagement_Id__c: '1' });
    }
    const answer = await upsert('Contact', 'Engagement_Id__c', [{ LastName: 'Roe', Engagement_Id__c: '1' }]);
    expect(codes(answer.json)).toEqual(['DUPLICATE_EXTERNAL_ID']);
  });

  it.each([
    ['more than 200 records', 'Engagement_Id__c', Array.from({ length: 201 }, (_, n) => lead(String(n))), 400],
    ['a field that is not an external id', 'Email', [lead('1')], 404],
    ['a record without its type', 'Engagement_Id__c', [{ ...lead('1'), attributes: undefined }], 200],
  ])('refuses %s', async (_name, external, records, status) => {
    const { double, upsert } = await salesforce();
    const answer = await upsert('Lead', external, records);
    expect(answer.status).toBe(status);
    expect(double.org.org.all(double.org.org.type('Lead'))).toEqual([]);
  });

  it('updates by id, and reports invalid and deleted ids and those of another object', async () => {
    const { call, create } = await salesforce();
    const [kept, gone, contact] = [
      (await create('Lead', lead('1'))).id,
      (await create('Lead', lead('2'))).id,
      (await create('Contact', { LastName: 'Doe' })).id,
    ];
    await call(`/composite/sobjects?ids=${gone}`, undefined, 'DELETE');
    const records = [kept, gone, contact, 'nothing', undefined].map((id) => ({
      attributes: { type: 'Lead' },
      id,
      Title: 'CEO',
    }));
    const answer = await call('/composite/sobjects', { records }, 'PATCH');
    expect(codes(answer.json)).toEqual(['ok', 'ENTITY_IS_DELETED', 'MALFORMED_ID', 'MALFORMED_ID', 'MISSING_ARGUMENT']);
  });

  it('refuses locked rows, and accepts them later', async () => {
    const { double, upsert } = await salesforce();
    double.org.recordFaults.add(lockedRow('Lead', 1, 1));
    const records = [lead('1'), lead('2'), lead('3')];
    expect(codes((await upsert('Lead', 'Engagement_Id__c', records)).json)).toEqual(['ok', 'UNABLE_TO_LOCK_ROW', 'ok']);
    expect(codes((await upsert('Lead', 'Engagement_Id__c', records)).json)).toEqual(['ok', 'ok', 'ok']);
  });

  it('refuses a record with an unknown field, or the whole request if configured', async () => {
    const wrong = [lead('1'), lead('2', { Nothing__c: 'x' })];
    const { upsert } = await salesforce();
    const { double, upsert: strictly } = await salesforce({ unreadableRecord: 'refuses-request' });
    expect(codes((await upsert('Lead', 'Engagement_Id__c', wrong)).json)).toEqual(['ok', 'INVALID_FIELD']);
    const whole = await strictly('Lead', 'Engagement_Id__c', wrong);
    expect([whole.status, whole.json[0].errorCode]).toEqual([400, 'INVALID_FIELD']);
    expect(double.org.org.all(double.org.org.type('Lead'))).toEqual([]);
  });
});

describe('a value', () => {
  it.each([
    ['too long', { Title: 'x'.repeat(129) }, 'STRING_TOO_LONG', ['Title']],
    ['not an e-mail address', { Email: 'ann at example.com' }, 'INVALID_EMAIL_ADDRESS', ['Email']],
    ['not in a restricted picklist', { Region__c: 'East' }, 'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST', ['Region__c']],
    ['not a date', { Seen_On__c: '20/11/2026' }, 'JSON_PARSER_ERROR', []],
    ['a number as text', { Score__c: '5' }, 'JSON_PARSER_ERROR', []],
    ['a text as number', { Title: 5 }, 'JSON_PARSER_ERROR', []],
    ['of a field that is read only', { IsConverted: true }, 'INVALID_FIELD_FOR_INSERT_UPDATE', ['IsConverted']],
    ['missing', { Company: '' }, 'REQUIRED_FIELD_MISSING', ['Company']],
  ])('is refused if it is %s', async (_name, parts, code, fields) => {
    const { upsert } = await salesforce();
    const { json } = await upsert('Lead', 'Engagement_Id__c', [lead('1', parts)]);
    expect(json[0].errors).toEqual([expect.objectContaining({ statusCode: code, fields })]);
  });

  it('can be any text in a picklist that is not restricted', async () => {
    const { upsert } = await salesforce();
    expect(codes((await upsert('Lead', 'Engagement_Id__c', [lead('1', { LeadSource: 'Pigeon' })])).json)).toEqual([
      'ok',
    ]);
  });

  it('that must be unique is refused in a second record', async () => {
    const { create, update } = await salesforce();
    await create('Lead', lead('1'));
    const { id } = await create('Lead', lead('2'));
    expect(codes([await update('Lead', id, { Engagement_Id__c: '1' })])).toEqual(['DUPLICATE_VALUE']);
  });
});

describe('a unique value', () => {
  it('can be used again after its record changed, was deleted, or was reverted', async () => {
    const { call, create, update, upsert } = await salesforce({ unreadableRecord: 'refuses-request' });
    const first = await create('Lead', lead('1'));
    await update('Lead', first.id, { Engagement_Id__c: '2' });
    const taken = await create('Lead', lead('1'));
    await call(`/composite/sobjects?ids=${first.id}`, undefined, 'DELETE');
    const freed = await create('Lead', lead('2'));
    await upsert('Lead', 'Engagement_Id__c', [lead('3'), lead('4', { Unknown__c: 1 })]);
    const takenBack = await create('Lead', lead('3'));
    const again = await create('Lead', lead('3'));
    expect(codes([taken, freed, takenBack, again])).toEqual(['ok', 'ok', 'ok', 'DUPLICATE_VALUE']);
  });
});

describe('the rules of the org', () => {
  it('refuse a record that breaks a validation rule, with the rule’s field', async () => {
    const fails = ({ Title }: Record<string, unknown>): boolean => Title === 'King';
    const { upsert } = await salesforce({
      validationRules: [{ object: 'Lead', fails, message: 'No kings.', field: 'Title' }],
    });
    const { json } = await upsert('Lead', 'Engagement_Id__c', [lead('1', { Title: 'King' }), lead('2')]);
    expect(codes(json)).toEqual(['FIELD_CUSTOM_VALIDATION_EXCEPTION', 'ok']);
    expect(json[0].errors[0].fields).toEqual(['Title']);
  });

  it('refuse a duplicate across objects; a header overrides an alert, but not a block', async () => {
    const rule = { object: 'Lead', fields: ['Email'], against: ['Lead', 'Contact'] } as const;
    const header = { 'Sforce-Duplicate-Rule-Header': 'allowSave=true' };
    for (const [action, allowed] of [
      ['alert', 'ok'],
      ['block', 'DUPLICATES_DETECTED'],
    ] as const) {
      const { create } = await salesforce({ duplicateRules: [{ ...rule, action }] });
      await create('Contact', { LastName: 'Doe', Email: 'ann@example.com' });
      const twin = lead('1', { Email: 'Ann@Example.com' });
      const results = [await create('Lead', twin), await create('Lead', twin, header)];
      expect(codes(results)).toEqual(['DUPLICATES_DETECTED', allowed]);
    }
  });
});

describe('a campaign', () => {
  it('has the statuses Sent and Responded, and each member once', async () => {
    const { create, query, upsert } = await salesforce();
    const campaigns = await upsert('Campaign', 'Event_Id__c', [{ Event_Id__c: '101', Name: 'Day' }]);
    const leadId = (await create('Lead', lead('1'))).id;
    const member = { CampaignId: campaigns.json[0].id, LeadId: leadId };
    const made = await upsert('CampaignMember', 'Engagement_Key__c', [{ ...member, Engagement_Key__c: '101-1' }]);
    const again = await upsert('CampaignMember', 'Engagement_Key__c', [{ ...member, Engagement_Key__c: 'other' }]);
    const raised = await upsert('CampaignMember', 'Engagement_Key__c', [
      { Engagement_Key__c: '101-1', Status: 'Responded' },
    ]);
    const unknown = await upsert('CampaignMember', 'Engagement_Key__c', [
      { Engagement_Key__c: '101-1', Status: 'Came' },
    ]);
    const moved = await upsert('CampaignMember', 'Engagement_Key__c', [{ ...member, Engagement_Key__c: '101-1' }]);
    expect([made, again, raised, unknown, moved].map(({ json }) => codes(json)[0])).toEqual([
      'ok',
      'DUPLICATE_VALUE',
      'ok',
      'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST',
      'INVALID_FIELD_FOR_INSERT_UPDATE',
    ]);
    const { records } = (await query('SELECT Status, HasResponded, LeadId FROM CampaignMember')).json;
    expect(records).toMatchObject([{ Status: 'Responded', HasResponded: true, LeadId: leadId }]);
    const statuses = await query(`SELECT Label FROM CampaignMemberStatus WHERE CampaignId = '${campaigns.json[0].id}'`);
    expect(statuses.json.records.map(({ Label }: { Label: string }) => Label)).toEqual(['Sent', 'Responded']);
  });

  it('refuses a member without a person or with an unknown campaign', async () => {
    const { create, upsert } = await salesforce();
    const campaign = (await create('Campaign', { Name: 'Day' })).id;
    const answer = await upsert('CampaignMember', 'Engagement_Key__c', [
      { Engagement_Key__c: '1', CampaignId: campaign },
      { Engagement_Key__c: '2', CampaignId: '7018d0000000099AAA' },
    ]);
    expect(codes(answer.json)).toEqual(['REQUIRED_FIELD_MISSING', 'INVALID_CROSS_REFERENCE_KEY']);
  });
});

describe('a person', () => {
  it('who was converted is found as a contact, and can no longer be changed as a lead', async () => {
    const { double, create, query, update } = await salesforce();
    const { id } = await create('Lead', lead('1', { Email: 'ann@example.com' }));
    const contact = double.org.org.convertLead(double.org.org.byId(id)!);
    const { records } = (
      await query("SELECT ConvertedContactId FROM Lead WHERE Email = 'ANN@example.com' AND IsConverted = true")
    ).json;
    const change = await update('Lead', id, { Title: 'CEO' });
    expect(records[0].ConvertedContactId).toBe(contact.id);
    expect(codes([change])).toEqual(['CANNOT_UPDATE_CONVERTED_LEAD']);
  });

  it('who was merged is in no query, and the membership moves to the remaining contact', async () => {
    const { double, create, query } = await salesforce();
    const [kept, gone] = [
      (await create('Contact', { LastName: 'Doe' })).id,
      (await create('Contact', { LastName: 'Doe' })).id,
    ];
    const campaign = (await create('Campaign', { Name: 'Day' })).id;
    await create('CampaignMember', { CampaignId: campaign, ContactId: gone });
    const { org } = double.org;
    org.mergeContacts(org.byId(kept)!, org.byId(gone)!);
    expect((await query('SELECT ContactId FROM CampaignMember')).json.records[0].ContactId).toBe(kept);
    expect((await query('SELECT Id FROM Contact')).json.totalSize).toBe(1);
  });
});

describe('describe', () => {
  it('returns the type, length, permissions and allowed values of each field', async () => {
    const { call } = await salesforce();
    const { fields } = (await call('/sobjects/Lead/describe')).json;
    const named = (name: string): any => fields.find((each: { name: string }) => each.name === name);
    expect(named('LastName')).toMatchObject({ type: 'string', length: 80, nillable: false, createable: true });
    expect(named('IsConverted')).toMatchObject({ type: 'boolean', createable: false, updateable: false });
    expect(named('Engagement_Id__c')).toMatchObject({ externalId: true, unique: true, custom: true, idLookup: true });
    expect(named('Region__c').picklistValues.map(({ value }: { value: string }) => value)).toEqual(['North', 'South']);
  });
});

describe('a new account', () => {
  const twin = { FirstName: 'Ann', LastName: 'Doe', Email: 'ann@example.com' };
  const ownerOf = async ({ query }: Awaited<ReturnType<typeof salesforce>>): Promise<string> =>
    (await query('SELECT OwnerId FROM Lead')).json.records[0].OwnerId;

  it('shows an alert for a new lead with the e-mail of a contact, and accepts edits', async () => {
    const { create, update } = await salesforce();
    const { id } = await create('Contact', twin);
    const refused = await create('Lead', lead('1', { Email: 'ANN@example.com' }));
    expect(codes([refused, await update('Contact', id, { Title: 'CEO' })])).toEqual(['DUPLICATES_DETECTED', 'ok']);
  });

  it('assigns a lead at each write unless a header prevents it', async () => {
    const org = await salesforce();
    const { id } = await org.create('Lead', lead('1'), { 'Sforce-Auto-Assign': 'false' });
    expect(await ownerOf(org)).toMatch(/^005/);
    await org.update('Lead', id, { Title: 'CEO' }, { 'Sforce-Auto-Assign': 'FALSE' });
    expect(await ownerOf(org)).toMatch(/^005/);
    await org.update('Lead', id, { Title: 'CTO' });
    expect(await ownerOf(org)).toMatch(/^00G/);
  });

  it('assigns by the named rule, and refuses an unknown rule', async () => {
    const rule = { id: '01Q8d0000000002EAA', active: false, ownerId: '00G8d0000000002EAA' };
    const org = await salesforce({ assignmentRules: [rule] });
    const named = (id: string) => org.create('Lead', lead(id), { 'Sforce-Auto-Assign': id });
    expect(codes([await named('01Q8d0000000009EAA'), await named(rule.id)])).toEqual(['MALFORMED_ID', 'ok']);
    expect(await ownerOf(org)).toBe(rule.ownerId);
  });

  it('answers 404 for an object without access', async () => {
    const { call, create, query } = await salesforce({ withheldObjects: ['Campaign'] });
    expect((await call('/sobjects/Campaign/describe')).status).toBe(404);
    expect(codes([await create('Campaign', { Name: 'Day' })])).toEqual(['NOT_FOUND']);
    expect((await query('SELECT Id FROM Campaign')).json[0].errorCode).toBe('INVALID_TYPE');
  });

  it('refuses a task of a lead that is also related to a campaign', async () => {
    const { create } = await salesforce();
    const WhoId = (await create('Lead', lead('1'))).id;
    const WhatId = (await create('Campaign', { Name: 'Day' })).id;
    const refused = await create('Task', { WhoId, WhatId, Subject: 'Question' });
    const accepted = await create('Task', { WhoId, Subject: 'Question' });
    expect(codes([refused, accepted])).toEqual(['FIELD_INTEGRITY_EXCEPTION', 'ok']);
  });
});
