import { kinds, storeErrorOf, useBothDatabases } from './both-databases.test-kit.js';
import type { Database } from './database.js';
import { type SqlValue, toSqlParameter } from './sql-values.js';

/** Texts that break manual quoting. */
const texts = [
  '',
  ' ',
  'NULL',
  'null',
  '{}',
  '{"a":[1,2]}',
  'a,b',
  'quote " and \' and \\ and \\" and \\\\',
  'line\nbreak\ttab\r',
  'emoji 👩‍👩‍👧 and ünïcode 漢字',
  '$1 ; drop table x; --',
];

/** JSON whose bytes must not change, including spaces and key order. */
const jsonTexts = [
  '{"b": 1,  "a":2}',
  '{"nul":"\\u0000"}',
  '{"half":"\\ud800"}',
  '{"emoji":"👍","quote":"\\"","backslash":"\\\\"}',
  '[1.0, 1e2, 12345678901234567890]',
  '"text"',
  'null',
];

const stores = useBothDatabases();

describe.each(kinds)('values on %s', (kind) => {
  let db: Database;
  beforeAll(() => {
    db = stores.of(kind);
  });

  const one = async (sql: string, params: SqlValue[] = []): Promise<unknown> => {
    const [row] = await db.query<{ value: unknown }>(`select ${sql} as value`, params);
    return row?.value;
  };

  it.each<[string, SqlValue, unknown]>([
    ['boolean', true, true],
    ['integer', -5, -5],
    ['int8', Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    ['int8', 12n, 12],
    ['numeric', '1.5', 1.5],
    ['numeric', 7, 7],
    ['float8', 0.1, 0.1],
    ['float8', Number.NaN, Number.NaN],
    ['timestamptz', new Date('2026-11-21T09:30:00.123Z'), new Date('2026-11-21T09:30:00.123Z')],
    ['timestamptz', '2026-11-21 09:30:00.1239+02', new Date('2026-11-21T07:30:00.123Z')],
    ['timestamptz', '2026-11-21 09:30:00.1Z', new Date('2026-11-21T09:30:00.100Z')],
    ['timestamptz', '0099-01-01 00:00:00Z', new Date('0099-01-01T00:00:00Z')],
    ['timestamp', '2026-11-21 09:30:00', new Date('2026-11-21T09:30:00Z')],
    ['date', '2026-11-21', '2026-11-21'],
    ['uuid', '4f1c0000-0000-5000-8000-000000000000', '4f1c0000-0000-5000-8000-000000000000'],
    ['text', null, null],
    ['text', undefined, null],
    ['jsonb', '{"b": 1, "a": 2}', '{"a": 2, "b": 1}'],
  ])('of type %s are returned: %p', async (type, value, expected) => {
    expect(await one(`$1::${type}`, [value])).toEqual(expected);
  });

  it.each(texts)('of type text keep %p', async (text) => {
    expect(await one('$1::text', [text])).toBe(text);
  });

  it.each(jsonTexts)('of type json keep the bytes of %p and are returned as text', async (text) => {
    expect(await one('$1::json', [text])).toBe(text);
  });

  it('of type bytea are returned as a Buffer of the same bytes', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    expect(await one('$1::bytea', [bytes])).toEqual(bytes);
    expect(await one('$1::bytea', [new Uint8Array(bytes).subarray(3, 7)])).toEqual(bytes.subarray(3, 7));
    expect(await one('$1::bytea', [Buffer.alloc(0)])).toEqual(Buffer.alloc(0));
  });

  it.each<[string, SqlValue[]]>([
    ['text[]', [...texts, null]],
    ['json[]', [...jsonTexts, null]],
    ['int8[]', [1, -2, null, Number.MAX_SAFE_INTEGER]],
    ['integer[]', [1, 2]],
    ['boolean[]', [true, false, null]],
    ['bytea[]', [Buffer.from([0, 1, 255]), null, Buffer.alloc(0)]],
    ['timestamptz[]', [new Date('2026-11-21T09:30:00.123Z'), null]],
    ['int8[]', [-(2 ** 32), 2 ** 32 - 1, 2 ** 31, Number.MIN_SAFE_INTEGER]],
    ['int4[]', [2 ** 31 - 1, -(2 ** 31), 0]],
    ['uuid[]', ['4f1c0000-0000-5000-8000-00000000000f', null]],
    ['text[]', []],
    [
      'text[]',
      [
        ['a', 'b"'],
        ['c,', '\\'],
      ],
    ],
  ])('of type %s are returned unchanged', async (type, values) => {
    expect(await one(`$1::${type}`, [values])).toEqual(values);
  });

  it('of an array are refused if the element type cannot represent them, and otherwise converted', async () => {
    expect(await storeErrorOf(one('$1::int4[]', [[2 ** 31]]))).toMatchObject({ sqlState: '22003' });
    expect(await storeErrorOf(one('$1::int8[]', [[1.5]]))).toMatchObject({ sqlState: '22P02' });
    expect(await one('$1::int8[]', [[12n]])).toEqual([12]);
    expect(await one('$1::int8[]', [['7']])).toEqual([7]);
    expect(await one('$1::uuid[]', [['4F1C0000-0000-5000-8000-000000000000']])).toEqual([
      '4f1c0000-0000-5000-8000-000000000000',
    ]);
  });

  it('of type json keep their bytes when a text[] is converted to rows', async () => {
    const rows = await db.query<{ j: string | null }>(
      'select j from unnest($1::text[]::json[]) with ordinality as t(j, n) order by n',
      [[...jsonTexts, null]],
    );
    expect(rows.map(({ j }) => j)).toEqual([...jsonTexts, null]);
  });

  it('that a JavaScript number would round are refused', async () => {
    for (const sql of ['9007199254740993::int8', '9007199254740993::numeric', `'{9007199254740993}'::int8[]`]) {
      expect(await storeErrorOf(one(sql))).toMatchObject({ kind: 'other', message: expect.stringContaining('2^53') });
    }
    expect(await one('1')).toBe(1); // the connection stays usable
  });

  it('that a JavaScript date cannot represent are refused', async () => {
    for (const sql of [`'infinity'::timestamptz`, `'0044-03-15 BC'::timestamptz`]) {
      expect(await storeErrorOf(one(sql))).toMatchObject({ kind: 'other' });
    }
  });

  it('that cannot be parameters are refused without being quoted', async () => {
    const object = { email: 'ada@example.com' } as unknown as SqlValue;
    const error = await storeErrorOf(one('$1::json', [object]));
    expect(error.message).toBe('a statement was given an object as a parameter: pass JSON as its text');
    expect(await storeErrorOf(one('$1::timestamptz', [new Date(Number.NaN)]))).toMatchObject({ kind: 'other' });
  });

  it.each([
    ['a NUL character', 'a\u0000b'],
    ['half a surrogate pair', 'a\ud800b'],
  ])('with %s, which a text column cannot store, are stored with U+FFFD in its place', async (_, text) => {
    expect(await one('$1::text', [text])).toBe('a\ufffdb');
    expect(await one('$1::text[]', [[text, 'whole']])).toEqual(['a\ufffdb', 'whole']); // in binary form
    expect(await one('$1::varchar[]', [[text, 'whole']])).toEqual(['a\ufffdb', 'whole']); // in text form
  });

  it('of 5 MB in one row, and in 20,000 rows, are returned unchanged', async () => {
    const long = 'ä'.repeat(2_500_000);
    expect(await one('$1::text', [long])).toBe(long);
    const ids = Array.from({ length: 20_000 }, (_, id) => id);
    const names = ids.map((id) => `name ${id} ${'x'.repeat(id % 100)}`);
    const rows = await db.query<{ id: number; name: string }>(
      'select id, name from unnest($1::integer[], $2::text[]) as t(id, name)',
      [ids, names],
    );
    expect(rows).toEqual(ids.map((id) => ({ id, name: names[id] })));
  });
});

describe('an array', () => {
  it('is sent as text if a value has no binary form', () => {
    expect(toSqlParameter([1, 2 ** 40], 'int4')).toBe('{1,1099511627776}');
  });
});
