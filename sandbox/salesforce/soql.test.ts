import { closeDoubles, lead, salesforce } from './salesforce-client.test-kit.js';

afterEach(closeDoubles);

const LEADS = [
  lead('1', { LastName: "O'Hara", Email: 'ann@example.com', Score__c: 5 }),
  lead('2', { LastName: 'back\\slash', Email: 'bea@example.com', Score__c: 50 }),
  lead('3', { LastName: '100%_sure', Seen_On__c: '2026-11-20' }),
  lead('4', { LastName: 'two\nlines', Email: 'dan@example.org' }),
];

async function found(where: string): Promise<string[]> {
  const { upsert, query } = await salesforce();
  await upsert('Lead', 'Engagement_Id__c', LEADS);
  const { status, json } = await query(`SELECT Engagement_Id__c FROM Lead WHERE ${where}`);
  expect([status, json]).toEqual([200, expect.anything()]);
  return json.records.map((record: { Engagement_Id__c: string }) => record.Engagement_Id__c);
}

describe('a condition', () => {
  it.each([
    [`LastName = 'O\\'Hara'`, ['1']],
    [`LastName = 'back\\\\slash'`, ['2']],
    [`LastName = 'two\\nlines'`, ['4']],
    [`LastName = '100%_sure'`, ['3']],
    [`email = 'ANN@EXAMPLE.COM'`, ['1']],
    [`Email IN ('ann@example.com', 'dan@example.org')`, ['1', '4']],
    [`Email = null`, ['3']],
    [`Email = 'ann@example.com' AND Score__c = 5`, ['1']],
    [`Score__c IN (5, 50) AND IsConverted = false`, ['1', '2']],
  ])('%s finds %j', async (where, ids) => {
    expect(await found(where)).toEqual(ids);
  });

  it.each([
    [`LastName = 'O'Hara'`, 'MALFORMED_QUERY'],
    [`LastName = 'a\\qb'`, 'MALFORMED_QUERY'],
    [`LastName = 'open`, 'MALFORMED_QUERY'],
    [`LastName = 'two\nlines'`, 'MALFORMED_QUERY'],
    [`LastName = "Doe"`, 'MALFORMED_QUERY'],
    [`Email IN ()`, 'MALFORMED_QUERY'],
    [`LastName = '100\\%'`, 'MALFORMED_QUERY'],
    [`Email = 'a' OR Email = 'b'`, 'MALFORMED_QUERY'],
    [`Email = 'a'; DELETE`, 'MALFORMED_QUERY'],
    [`Nothing__c = 'a'`, 'INVALID_FIELD'],
    [`Email = 5`, 'INVALID_FIELD'],
    [`Score__c = '5'`, 'INVALID_FIELD'],
    [`Id = 'short'`, 'INVALID_QUERY_FILTER_OPERATOR'],
  ])('%s is refused: %s', async (where, code) => {
    const { query } = await salesforce();
    const { status, json } = await query(`SELECT Id FROM Lead WHERE ${where}`);
    expect([status, json[0].errorCode]).toEqual([400, code]);
  });
});

describe('a query', () => {
  it('returns its result page by page', async () => {
    const { double, upsert, query } = await salesforce({ queryPage: 2 });
    await upsert('Lead', 'Engagement_Id__c', LEADS);
    const first = (await query("SELECT Engagement_Id__c FROM Lead WHERE Engagement_Id__c IN ('1', '2', '3')")).json;
    expect([first.totalSize, first.done, first.records.length]).toEqual([3, false, 2]);
    const headers = { authorization: double.requests.at(-1)!.headers.authorization! };
    const next: any = await (await fetch(`${double.url}${first.nextRecordsUrl}`, { headers })).json();
    expect([next.done, next.records[0].Engagement_Id__c]).toEqual([true, '3']);
  });

  it('of an unknown object is refused', async () => {
    const { query } = await salesforce();
    expect((await query('SELECT Id FROM Nothing')).json[0].errorCode).toBe('INVALID_TYPE');
  });

  it('finds a record by its id of 15 or 18 characters', async () => {
    const { create, query } = await salesforce();
    const { id } = await create('Lead', lead('1'));
    for (const form of [id, id.slice(0, 15)]) {
      expect((await query(`SELECT Id FROM Lead WHERE Id = '${form}'`)).json.records[0].Id).toBe(id);
    }
  });
});
