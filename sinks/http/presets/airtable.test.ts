import { type AirtableDouble, startAirtableDouble } from '../../../sandbox/airtable/start-airtable-double.js';
import { GuideSink, kinds, question } from '../guide.test-kit.js';

let airtable: AirtableDouble;
let table: GuideSink;
const byHand = { id: 'rec0000000000ours', fields: { Question: 'By hand', Votes: 99 } };

beforeEach(async () => {
  airtable = await startAirtableDouble();
  table = await open(airtable.token);
});
afterEach(async () => {
  await table.close();
  await airtable.close();
});

const open = (token: string) =>
  GuideSink.open({
    page: 'airtable',
    replace: { 'https://api.airtable.com': airtable.url },
    variables: { AIRTABLE_TOKEN: token },
  });

const fields = () => airtable.rows.slice(1).map((row) => row.fields);
const said = (key: string, text: string, status = 'allowed') => ({
  Item: `qna-questions:101:${key}`,
  Question: text,
  Status: status,
  Session: 'Keynote',
  'Asked by': 'Ann Ray',
});

describe('docs/sinks/http/airtable.md', () => {
  it('writes a row for each question next to existing rows, ten rows per request', async () => {
    const keys = Array.from({ length: 12 }, (_, at) => String(at + 1));
    const found = await table.deliver(keys.map((key) => question(key, `Question ${key}`)));
    expect(new Set(kinds(found))).toEqual(new Set(['delivered']));
    expect(airtable.rows[0]).toEqual(byHand);
    expect(fields()).toEqual(keys.map((key) => said(key, `Question ${key}`)));
    expect(airtable.requests).toHaveLength(2);
  });

  it('keeps to five requests in a second, so that a first load is never refused for 30 seconds', async () => {
    const keys = Array.from({ length: 61 }, (_, at) => String(at + 1));
    const found = await table.deliver(keys.map((key) => question(key, `Question ${key}`)));
    expect(new Set(kinds(found))).toEqual(new Set(['delivered']));
    expect(airtable.requests.map(({ status }) => status)).toEqual(Array.from({ length: 7 }, () => 200));
  });

  it('updates and deletes the row of each item, regardless of the order of Airtable’s response', async () => {
    await table.deliver([question('1', 'One'), question('2', 'Two'), question('3', 'Three')]);
    await table.deliver([question('2', 'Two!', {}, 'answered')]);
    expect(fields()).toEqual([said('1', 'One'), said('2', 'Two!', 'answered'), said('3', 'Three')]);
    expect(kinds(await table.deliver([question('1', null), question('2', null, { removal: 'erased' })]))).toEqual([
      'delivered',
      'delivered',
    ]);
    expect(airtable.rows.slice(1).map((row) => row.fields)).toEqual([said('3', 'Three')]);
    expect(airtable.rows[0]).toEqual(byHand);
  });

  it('clears the name if a question becomes anonymous', async () => {
    await table.deliver([question('1', 'One')]);
    await table.deliver([question('1', 'One', { attendee: null })]);
    const { 'Asked by': _, ...rest } = said('1', 'One');
    expect(fields()).toEqual([rest]);
  });

  it('has one row after a lost response, and sends nothing for an unchanged question', async () => {
    airtable.faults.add({ effect: { kind: 'dropAfter' } });
    expect(kinds(await table.deliver([question('1', 'One')]))).toEqual(['retry']);
    expect(kinds(await table.deliver([question('1', 'One')]))).toEqual(['delivered']);
    expect(await table.deliver([question('1', 'One')])).toEqual([{ kind: 'nothing', reason: 'unchanged' }]);
    expect(fields()).toEqual([said('1', 'One')]);
  });

  it('creates a row again if it was deleted in Airtable', async () => {
    await table.deliver([question('1', 'One')]);
    airtable.removeRow(airtable.rows[1]!.id);
    await table.deliver([question('1', 'One', {}, 'answered')]);
    expect(fields()).toEqual([said('1', 'One', 'answered')]);
    airtable.removeRow(airtable.rows[1]!.id);
    expect(kinds(await table.deliver([question('1', null)]))).toEqual(['delivered']); // the row is already gone
  });

  it('rejects one row because of its content, and writes the other rows of the request', async () => {
    const found = await table.deliver([
      question('1', 'One'),
      question('2', 'Two', {}, { of: 'another kind' }),
      question('3', 'Three'),
    ]);
    expect(found).toMatchObject([
      { kind: 'delivered' },
      { kind: 'rejected', cause: 'INVALID_VALUE_FOR_COLUMN' },
      { kind: 'delivered' },
    ]);
    expect(fields()).toEqual([said('1', 'One'), said('3', 'Three')]);
  });

  it('waits an hour after the calls of the month are used up, and says so', async () => {
    const used = await startAirtableDouble({ perMonth: 1 });
    const sink = await GuideSink.open({
      page: 'airtable',
      replace: { 'https://api.airtable.com': used.url },
      variables: { AIRTABLE_TOKEN: used.token },
    });
    await sink.deliver([question('1', 'One')]);
    expect(await sink.deliver([question('2', 'Two')])).toMatchObject([
      { kind: 'retry', afterMs: 3_600_000, detail: expect.stringContaining('the calls of this month') as string },
    ]);
    await sink.close();
    await used.close();
  });

  it('waits 30 s after HTTP 429', async () => {
    airtable.faults.add({ effect: { kind: 'answer', answer: { status: 429 } } });
    expect(await table.deliver([question('1', 'One')])).toMatchObject([{ kind: 'retry', afterMs: 30_000 }]);
  });

  it('rejects the deletion of one row that Airtable refuses with 403, and continues with the others', async () => {
    await table.deliver([question('1', 'One'), question('2', 'Two')]);
    const json = { error: { type: 'INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND' } };
    const path = `/${airtable.rows[1]!.id}`;
    airtable.faults.add({ effect: { kind: 'answer', answer: { status: 403, json } }, method: 'DELETE', path });
    expect(await table.deliver([question('1', null), question('2', null)])).toMatchObject([
      {
        kind: 'rejected',
        cause: 'INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND',
        detail: expect.stringContaining('check the table'),
      },
      { kind: 'delivered' },
    ]);
    expect(fields()).toEqual([said('1', 'One')]);
  });

  it('pauses if Airtable refuses an upsert with 403', async () => {
    const json = { error: { type: 'INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND' } };
    airtable.faults.add({ effect: { kind: 'answer', answer: { status: 403, json } }, method: 'PATCH' });
    expect(kinds(await table.deliver([question('1', 'One')]))).toEqual(['pause']);
  });

  it('checks the token, pauses if it is rejected, and never shows it', async () => {
    expect((await table.check()).map(({ ok }) => ok)).toEqual([true]);
    const other = await open('patOther.t0ken');
    const [line] = await other.check();
    const found = await other.deliver([question('1', 'One')]);
    await other.close();
    expect(line!.ok).toBe(false);
    expect(found).toMatchObject([{ kind: 'pause', cause: 'credential' }]);
    expect(JSON.stringify([line, found, await table.plan([question('1', 'One')])])).not.toContain('t0ken');
  });
});
