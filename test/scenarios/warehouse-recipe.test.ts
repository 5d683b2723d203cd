import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { subjectOf } from '../../sinks/plan-of.test-kit.js';
import { sampleChange } from '../../sinks/sample-change.test-kit.js';
import type { Change } from '../../sinks/change.js';
import type { Lane } from '../../sinks/sink.js';
import { loadProcessConfig } from '../../operations/load-process-config.js';
import { createSink } from '../../delivering/open-sinks.js';
import { freshAccount, startS3Double } from '../../sandbox/s3/start-s3-double.js';
import { useLentDatabases } from '../lend-database.js';

const page = readFileSync(join(__dirname, '../../docs/recipes.md'), 'utf8');
const section = page.slice(page.indexOf('## Into a warehouse'));
const [recipe] = [...section.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, text]) => text!);
const [joined, loading] = [...section.matchAll(/^```sql\n([^]*?)^```$/gm)].map(([, text]) => text!);

const lend = useLentDatabases();

const id = (n: number): string => `00000000-0000-5000-8000-${String(n).padStart(12, '0')}`;
const changeOf = (n: number, list: string, key: string, revision: number, data: Change['data']): Change =>
  sampleChange({ id: id(n), type: `${list}.updated`, list, key, revision, sequence: n, data });
const changes = [
  changeOf(1, 'attendees', '4711', 1, { id: 4711, Name: 'Ann Ray', Email: 'Ann@Example.com' }),
  changeOf(2, 'questions', '11', 1, {
    id: 11,
    question: { id: 11, content: 'Lunch?' },
    attendee: { id: 4711 },
    attendeeId: 4711,
  }),
  changeOf(3, 'questions', '11', 2, {
    id: 11,
    question: { id: 11, content: 'When is lunch?' },
    attendee: { id: 4711 },
    attendeeId: 4711,
  }),
  changeOf(4, 'questions', '12', 1, { id: 12, question: { id: 12, content: 'Gone?' }, attendeeId: 4711 }),
  changeOf(5, 'questions', '12', 2, null),
];

const lane: Lane = {
  workspace: 'acme',
  pigeonholeId: 101,
  ledgerId: 'ledger-1',
  memory: {},
  remember: () => Promise.resolve(),
};

it('the warehouse recipe works with tables that already contain rows', async () => {
  const url = await lend();
  const bucket = await startS3Double();
  const folder = mkdtempSync(join(tmpdir(), 'recipe-'));
  const db = new Client({ connectionString: url });
  await db.connect();
  try {
    await db.query(`create table customers (id int primary key, email text not null);
      insert into customers values (1, 'ann@example.com'), (2, 'bob@example.com');
      create table changes (id text primary key, workspace text, pigeonhole_id bigint, list text, key text, revision int, data jsonb);
      insert into changes values ('${id(2)}', 'acme', 101, 'questions', '11', 1, '{"loaded": "before"}'),
        ('${id(99)}', 'acme', 7, 'questions', '1', 1, '{"event": "last year"}')`);
    bucket.bucket.put('other/of-somebody.csv', { bytes: Buffer.from('1;2') });
    const file = join(folder, 'pigeonpost.yaml');
    writeFileSync(file, recipe!.replace(/^( +)type: s3$/m, `$&\n$1endpoint: ${bucket.url}`));
    const [key] = freshAccount.keys;
    const config = await loadProcessConfig(file, {
      ENGAGEMENT_API_KEY: 'a-key',
      WAREHOUSE_URL: url,
      AWS_ACCESS_KEY_ID: key!.id,
      AWS_SECRET_ACCESS_KEY: key!.secret,
    });
    for (const name of ['warehouse', 'lake']) {
      const sink = createSink(config, name);
      try {
        expect((await sink.check(new AbortController().signal)).filter(({ ok }) => !ok)).toEqual([]);
        const planned = await sink.plan(changes.map((change) => subjectOf(change, {})));
        const operations = planned.flatMap((each) => (each.kind === 'send' ? [each.operation] : []));
        const { outcomes } = await sink.send(operations, lane, new AbortController().signal);
        expect([name, outcomes.map(({ kind }) => kind)]).toEqual([name, changes.map(() => 'delivered')]);
      } finally {
        await sink.close();
      }
    }

    await db.query(joined!);
    expect((await db.query('select customer_id, question from customer_questions')).rows).toEqual([
      { customer_id: 1, question: 'When is lunch?' },
    ]);

    await db.query('create table loaded (line jsonb)');
    const lines = [...bucket.texts()]
      .filter(([name]) => name.startsWith('live/'))
      .flatMap(([, text]) => text.split('\n').slice(0, -1));
    await db.query('insert into loaded select unnest($1::jsonb[])', [lines]);
    await db.query(loading!);
    await db.query(loading!); // a repeated load
    const items = await db.query('select list, key, revision from current_items order by pigeonhole_id, list, key');
    expect(items.rows).toEqual([
      { list: 'questions', key: '1', revision: 1 },
      { list: 'attendees', key: '4711', revision: 1 },
      { list: 'questions', key: '11', revision: 2 },
    ]);
    expect((await db.query('select count(*)::int as n from changes')).rows).toEqual([{ n: 6 }]);
    expect((await db.query('select count(*)::int as n from customers')).rows).toEqual([{ n: 2 }]);
    expect(bucket.bucket.objects.has('other/of-somebody.csv')).toBe(true);
  } finally {
    await db.end();
    await bucket.close();
    rmSync(folder, { recursive: true });
  }
});
