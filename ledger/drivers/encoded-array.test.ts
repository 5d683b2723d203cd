import { kinds, useBothDatabases } from './both-databases.test-kit.js';
import { EncodedArray, encodeColumn } from './encoded-array.js';
import { toSqlParameter } from './sql-values.js';

const databases = useBothDatabases();

describe.each(kinds)('a column that is encoded before its statement is run on %s', (kind) => {
  it('arrives as the values do, also beside one without any value', async () => {
    const sql = `select * from unnest($1::text[], $2::int8[], $3::json[], $4::bytea[]) with ordinality
      as n (key, id, payload, hash, nth)`;
    const columns = {
      keys: ['a', null, 'é'],
      ids: [2 ** 40, -1, null],
      payloads: ['{"b": 1}', null, '[]'],
      hashes: [null, null, null],
    };
    const plain = await databases.of(kind).query(sql, Object.values(columns));
    const encoded = await databases
      .of(kind)
      .query(sql, [
        encodeColumn('text', columns.keys),
        encodeColumn('int8', columns.ids),
        encodeColumn('json', columns.payloads),
        encodeColumn('bytea', columns.hashes),
      ]);
    expect(encoded).toEqual(plain);
    expect(encoded).toHaveLength(3);
  });
});

describe('a column', () => {
  it('without a value takes no room', () => {
    const column = encodeColumn('text', [null, null]);
    expect(column).toBeInstanceOf(EncodedArray);
    expect((column as EncodedArray).bytes).toHaveLength(12);
  });

  it('with a value that has no binary form goes as text', () => {
    expect(toSqlParameter(encodeColumn('int4', [1, 2 ** 40]), 'int4')).toBe('{1,1099511627776}');
  });

  it('is refused by a statement that takes another type, without naming a value', () => {
    const column = encodeColumn('text', ['secret']);
    expect(() => toSqlParameter(column, 'uuid')).toThrow(/^a statement was given an array of text: it takes another/);
    expect(() => toSqlParameter(column, undefined)).toThrow(/array of text/);
  });
});
