import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listNames, listsWhere } from '../../base/lists.js';

const root = join(__dirname, '../..');
const rooms = [
  'api',
  'delivering',
  'importing',
  'ledger',
  'operations',
  'people',
  'reading',
  'requests',
  'cycles',
  'worker',
];

const files = rooms
  .flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: 'utf8' }).map((file) => join(room, file)),
  )
  .filter((file) => file.endsWith('.ts') && !/\.test(-kit)?\.ts$/.test(file));

/** Returns the part of every source that the first group of a pattern matches, as `<file>: <part>`. */
function found(pattern: RegExp): string[] {
  return files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(pattern)].map(([, part]) => `${file}: ${part}`),
  );
}

describe('SQL', () => {
  it('takes every set of lists from their traits', () => {
    expect(found(/\blist (?:not )?in \(('[^)]*)\)/g)).toEqual([]);
  });

  it('names single lists that exist', () => {
    const named = found(/\blist (?:=|<>) '([^'$]*)'/g);
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((each) => !(listNames as readonly string[]).includes(each.split(': ')[1]!))).toEqual([]);
  });

  it('has an index of the deliveries of all lists of own records', () => {
    const schema = readFileSync(join(root, 'ledger/migrations/0001_the_ledger.sql'), 'utf8');
    const [, predicate] = /where list in (\(.*?\)) and identity is not null/.exec(schema)!;
    const own = listsWhere(({ person }) => person === 'own-record');
    expect(predicate!.match(/\w+/g)!.toSorted()).toEqual(own.toSorted());
  });
});
