import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { kinds, useBothDatabases } from './drivers/both-databases.test-kit.js';

const migration = readFileSync(join(__dirname, 'migrations/0023_no_passcodes.sql'), 'utf8');

/** Each stored text with the text after the migration. */
const payloads: readonly (readonly [string, string])[] = [
  ['{"id":1,"name":"A","passcode":"MARK42","status":"live"}', '{"id":1,"name":"A","status":"live"}'],
  ['{"id":1,"passcode":"MARK42"}', '{"id":1}'],
  ['{"passcode":"MARK42"}', '{}'],
  ['{"passcode":null,"status":"live"}', '{"status":"live"}'],
  ['{"id":1,"passcode":423142}', '{"id":1}'],
  ['{"a":"\\"passcode\\":\\"x\\",","passcode":"a\\"b\\\\","z":1}', '{"a":"\\"passcode\\":\\"x\\",","z":1}'],
  [
    '{"description":"passcode","name":"\\u0000\\ud800 ,\\"passcode\\":\\"x\\""}',
    '{"description":"passcode","name":"\\u0000\\ud800 ,\\"passcode\\":\\"x\\""}',
  ],
  ['{"x":{"passcode":"MARK42"},"y":[{"id":2,"passcode":"MARK42"}]}', '{"x":{},"y":[{"id":2}]}'],
];

const databases = useBothDatabases({ isEmpty: true });

describe.each(kinds)('the stored passcodes of events, on %s', (kind) => {
  afterEach(() => databases.of(kind).script('drop table items, changes'));

  it('are removed from payloads and snapshots of pigeonholes, and no other list or text changes', async () => {
    const db = databases.of(kind);
    await db.script(
      'create table items (n integer, list text, payload json); create table changes (n integer, list text, snapshot json)',
    );
    for (const list of ['pigeonholes', 'attendees']) {
      const values = [payloads.map((_, n) => n), list, payloads.map(([text]) => text)];
      await db.query('insert into items select n, $2::text, p from unnest($1::int[], $3::json[]) as t (n, p)', values);
      await db.query(
        'insert into changes select n, $2::text, p from unnest($1::int[], $3::json[]) as t (n, p)',
        values,
      );
    }
    await db.query(`insert into items values (99, 'pigeonholes', null)`);
    await db.script(migration);
    for (const [table, column] of [
      ['items', 'payload'],
      ['changes', 'snapshot'],
    ] as const) {
      const rows = await db.query<{ list: string; text: string }>(
        `select list, ${column}::text as text from ${table} where ${column} is not null order by list, n`,
      );
      expect(rows.map(({ text }) => text)).toEqual([
        ...payloads.map(([before]) => before),
        ...payloads.map(([, after]) => after),
      ]);
    }
  });
});
