import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { allAsStored, hostileText } from '../test/kit/hostile-texts.js';
import { kinds, useBothDatabases } from './drivers/both-databases.test-kit.js';
import { readableJson } from './sql-expressions.js';

const databases = useBothDatabases();

describe.each(kinds)('JSON from the service, in a statement on %s', (kind) => {
  it('can be read whatever texts it contains, with U+FFFD in place of characters that the store cannot represent', async () => {
    const json = fc.dictionary(
      hostileText,
      fc.oneof(hostileText, fc.array(hostileText, { maxLength: 3 }), fc.dictionary(hostileText, hostileText)),
      { maxKeys: 4 },
    );
    await fc.assert(
      fc.asyncProperty(json, async (value) => {
        const [row] = await databases
          .of(kind)
          .query<{ read: string; kept: string }>(
            `select ${readableJson('$1::json')}::jsonb::text as read, $1::json::text as kept`,
            [JSON.stringify(value)],
          );
        expect(JSON.parse(row!.read)).toEqual(allAsStored(value));
        expect(JSON.parse(row!.kept)).toEqual(value);
      }),
      { numRuns: 300 },
    );
  });
});

const foldersWithStatements = [
  'ledger',
  'requests',
  'people',
  'reading',
  'delivering',
  'importing',
  'operations',
  'api',
];

describe('a statement that reads inside a stored JSON value', () => {
  /** Operators that unescape every text of their value. `json_typeof` does not. */
  const looksInside = /->|#>|::jsonb|\bjsonb?_(?:each|object_keys|array_elements|to_record|populate|extract|path)/;

  it('calls readableJson first', () => {
    const root = join(__dirname, '..');
    const careless = foldersWithStatements
      .flatMap((folder) => sourcesIn(join(root, folder)))
      .flatMap((file) => {
        const text = readFileSync(file, 'utf8');
        // the SQL of a file: its template literals, without arrow functions and ends of HTML comments in them
        const statements = (text.match(/`(?:[^`\\]|\\.)*`/gs) ?? []).map((each) => each.replaceAll(/=>|-->/g, ''));
        return statements.some((each) => looksInside.test(each)) && !text.includes('readableJson')
          ? [file.slice(root.length + 1)]
          : [];
      });
    expect(careless).toEqual([]);
  });
});

function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?<!\.test|\.test-kit)\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}
