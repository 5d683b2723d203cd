import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kinds, useBothDatabases } from './drivers/both-databases.test-kit.js';
import { openLedger } from './ledger.js';
import { testKey } from './ledger-key.test-kit.js';
import { describeSchema } from './schema.test-kit.js';

const databases = useBothDatabases({ isEmpty: true });
const file = join(__dirname, 'schema.sql');
const head =
  '-- The schema that all migrations together make: for reading, never run. A test compares it; UPDATE_SCHEMA=1 rewrites it.\n\n';

describe.each(kinds)('the schema on %s', (kind) => {
  it('is what schema.sql says after the last migration', async () => {
    await openLedger(databases.of(kind), testKey);
    const schema = head + (await describeSchema(databases.of(kind)));
    if (process.env['UPDATE_SCHEMA'] === '1') writeFileSync(file, schema);
    expect(readFileSync(file, 'utf8')).toBe(schema);
  });
});
