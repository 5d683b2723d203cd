import { generateKeyPairSync } from 'node:crypto';
import { type BigQueryDouble, startBigQueryDouble } from '../../../sandbox/bigquery/start-bigquery-double.js';
import { typeErrors } from '../../../test/kit/type-errors.js';
import { GuideSink, kinds, question } from '../guide.test-kit.js';

let bigquery: BigQueryDouble;
let stage: GuideSink;

const openStage = (key = bigquery.privateKey, url = bigquery.url) =>
  GuideSink.open({
    page: 'bigquery',
    replace: {
      'https://bigquery.googleapis.com': url,
      '    auth:\n': `    auth:\n      tokenUrl: ${url}/token\n`,
      '${file:/run/secrets/bigquery-key.pem}': '${BIGQUERY_KEY}',
    },
    variables: { BIGQUERY_KEY: key },
  });

beforeEach(async () => {
  bigquery = await startBigQueryDouble();
  stage = await openStage();
});
afterEach(async () => {
  await stage.close();
  await bigquery.close();
});

const before = { id: 'before', list: 'questions', key: '1', text: 'loaded last year' };
const inserts = () => bigquery.requests.filter(({ path }) => path.endsWith('/insertAll'));

const forbid = (reason: string): void => {
  const json = { error: { code: 403, message: reason, errors: [{ domain: 'global', reason, message: reason }] } };
  bigquery.faults.add({ effect: { kind: 'answer', answer: { status: 403, json } }, path: '/insertAll' });
};

describe('docs/sinks/http/bigquery.md', () => {
  it('inserts a row for each change in one request, next to existing rows', async () => {
    const outcomes = await stage.deliver([question('1', 'When is lunch?'), question('2', 'And dinner?')]);
    expect(kinds(outcomes)).toEqual(['delivered', 'delivered']);
    expect(inserts()).toHaveLength(1);
    expect(bigquery.rows).toEqual([
      before,
      expect.objectContaining({ key: '1', text: 'When is lunch?', session: 'Keynote', deleted: false }),
      expect.objectContaining({ key: '2', text: 'And dinner?', session: 'Keynote', deleted: false }),
    ]);
  });

  it('sends bodies of the type in Google’s discovery document, for existing and for deleted items', async () => {
    await stage.deliver([question('1', 'When is lunch?')]);
    await stage.deliver([question('1', null)]);
    const bodies = inserts().map(({ body }) => JSON.parse(body) as object);
    const published = {
      package: '@maxim_mazurok/gapi.client.bigquery-v2',
      type: 'gapi.client.bigquery.TableDataInsertAllRequest',
      global: true,
    };
    expect(bodies).toHaveLength(2);
    const wrong = { ...bodies[0], row: [] };
    expect(typeErrors(published, [...bodies, wrong])).toEqual([expect.stringContaining('"row"')]);
  });

  it('inserts a row only once if the response was lost', async () => {
    bigquery.faults.add({ effect: { kind: 'dropAfter' }, path: '/insertAll' });
    expect(kinds(await stage.deliver([question('1', 'When is lunch?')]))).toEqual(['retry']);
    expect(kinds(await stage.deliver([question('1', 'When is lunch?')]))).toEqual(['delivered']);
    expect(bigquery.rows).toHaveLength(2);
  });

  it('reports a deleted item with a row without content', async () => {
    await stage.deliver([question('1', 'When is lunch?'), question('2', null, {}, 9)]);
    expect(bigquery.rows.at(-1)).toEqual({
      id: 'change-2',
      list: 'qna-questions',
      key: '2',
      revision: expect.any(Number),
      found_at: '2026-11-21T09:30:00.000Z',
      deleted: true,
    });
  });

  it('rejects a row that does not fit the schema, and inserts the others', async () => {
    const odd = question('2', 'x', { session: { id: 5001, name: { en: 'Keynote' } } });
    const outcomes = await stage.deliver([question('1', 'When is lunch?'), odd, question('3', 'Where?')]);
    expect(outcomes).toMatchObject([
      { kind: 'delivered' },
      { kind: 'rejected', cause: 'bigquery:invalid' },
      { kind: 'delivered' },
    ]);
    expect(bigquery.rows.map(({ key }) => key)).toEqual(['1', '1', '3']);
  });

  it.each(['rateLimitExceeded', 'quotaExceeded'])('waits 30 s after 403 %s', async (reason) => {
    forbid(reason);
    expect(await stage.deliver([question('1', 'x')])).toMatchObject([{ kind: 'retry', afterMs: 30_000 }]);
    expect(kinds(await stage.deliver([question('1', 'x')]))).toEqual(['delivered']);
  });

  it('waits for a table that BigQuery does not know yet, also with a deletion', async () => {
    const young = await startBigQueryDouble({ unknownFor: 2 });
    const sink = await openStage(young.privateKey, young.url);
    const deletion = question('2', null, {}, 9);
    expect(await sink.deliver([question('1', 'x'), deletion])).toMatchObject(
      Array.from({ length: 2 }, () => ({ kind: 'retry', afterMs: 60_000 })),
    );
    expect(kinds(await sink.deliver([question('1', 'x'), deletion]))).toEqual(['delivered', 'delivered']);
    expect(young.rows.slice(1)).toMatchObject([{ key: '1' }, { key: '2', deleted: true }]);
    await sink.close();
    await young.close();
  });

  it('pauses in a project without billing', async () => {
    const unpaid = await startBigQueryDouble({ billing: false });
    const sink = await openStage(unpaid.privateKey, unpaid.url);
    expect(await sink.deliver([question('1', 'x')])).toMatchObject([
      { kind: 'pause', detail: expect.stringContaining('that billing is enabled for the project') },
    ]);
    await sink.close();
    await unpaid.close();
  });

  it('pauses after 403 for any other reason', async () => {
    forbid('responseTooLarge');
    expect(kinds(await stage.deliver([question('1', 'x')]))).toEqual(['pause']);
  });

  it('passes its check, pauses with a wrong key, and shows no key', async () => {
    expect((await stage.check()).filter(({ ok }) => !ok)).toEqual([]);
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    const key = other.export({ type: 'pkcs8', format: 'pem' }) as string;
    const wrong = await openStage(key);
    const said = JSON.stringify([await wrong.deliver([question('1', 'x')]), await wrong.check()]);
    await wrong.close();
    expect(said).toContain('"pause"');
    expect(said).not.toContain(key.split('\n')[1]);
  });
});
