import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * While a new version is being deployed, processes of the previous version work on the same store. These tests check
 * what a migration must not do to them (decision 0031). No version precedes migration 0001.
 */
const firstHeld = 2;
const folder = join(__dirname, 'migrations');

/** Forbidden statements, each with its alternative. */
const breaking: readonly { readonly what: RegExp; readonly instead: string }[] = [
  {
    what: /\bdrop (?:table|column|view|type|function|schema)\b/,
    instead: 'stop using it, and drop it a release later',
  },
  { what: /\brename (?:to|column|constraint)?\b/, instead: 'add the new one, and keep both for a release' },
  { what: /\balter column \w+ (?:set data )?type\b/, instead: 'add a column of the new type' },
  {
    what: /\balter column \w+ set not null\b/,
    instead: 'the version before may write null: require it a release later',
  },
  {
    what: /\badd column (?:if not exists )?\w+ (?:(?!\bdefault\b|\bgenerated\b)[^,;])*\bnot null\b(?:(?!\bdefault\b|\bgenerated\b)[^,;])*[,;]/,
    instead: 'give it a default: the version before does not write it',
  },
  { what: /\btruncate\b/, instead: 'what is stored stays' },
];

/** Tables that grow with use. An index build that blocks writers on these stops reading and delivery for minutes. */
const large =
  'items|changes|deliveries|sink_objects|pages|missing|engagement_counts|engagement_prompts|import_rows|registrants|audit|progress';

/** A migration may declare an exception at the top of its file, with the reason, for the operator who upgrades. */
const admitted = /^-- Breaks the version before: \S/m;

/** Whether the head of a migration lacks the sentences that the operator needs. */
function isSilent(sql: string): boolean {
  const head = /^(?:--.*\n)+/.exec(sql)?.[0] ?? '';
  return !/Locks: /.test(head) || !/Previous\s+(?:--\s+)?version: /.test(head);
}

function faultsOf(sql: string): string[] {
  if (admitted.test(sql)) return [];
  const statements = sql.replaceAll(/--.*$/gm, ' ').replaceAll(/\s+/g, ' ').toLowerCase();
  // no other process uses a table that the migration itself creates
  const own = [...statements.matchAll(/create table (?:if not exists )?(\w+)/g)].map(([, name]) => name!);
  const onOthers = statements
    .split(/(?<=;)/)
    .filter((statement) => !own.some((name) => new RegExp(`(?:alter|drop) table (?:only )?${name}\\b`).test(statement)))
    .join('');
  return breaking.filter(({ what }) => what.test(onOthers)).map(({ instead }) => instead);
}

function buildsThatKeepWritersOut(sql: string): string[] {
  const statements = sql.replaceAll(/--.*$/gm, ' ').replaceAll(/\s+/g, ' ').toLowerCase();
  const own = [...statements.matchAll(/create table (?:if not exists )?(\w+)/g)].map(([, name]) => name!);
  return [
    ...statements.matchAll(
      new RegExp(`create (?:unique )?index (?!concurrently)(?:if not exists )?(\\w+) on (${large})\\b`, 'g'),
    ),
  ]
    .filter(([, , table]) => !own.includes(table!))
    .map(([, name]) => name!);
}

describe('a migration', () => {
  const files = readdirSync(folder)
    .filter((name) => Number(name.slice(0, 4)) >= firstHeld)
    .toSorted();

  it('has a unique number, because a store runs only one migration of each number', () => {
    const numbers = readdirSync(folder).map((name) => name.slice(0, 4));
    expect(numbers.filter((number, at) => numbers.indexOf(number) !== at)).toEqual([]);
  });

  it('does not remove or change anything that the previous version reads or writes', () => {
    expect(Object.fromEntries(files.map((name) => [name, faultsOf(readFileSync(join(folder, name), 'utf8'))]))).toEqual(
      Object.fromEntries(files.map((name) => [name, []])),
    );
  });

  it('states its locks and its effect on the previous version at the top', () => {
    expect(files.filter((name) => isSilent(readFileSync(join(folder, name), 'utf8')))).toEqual([]);
    expect(
      isSilent('-- 0002: a table.\n-- Locks: none. Previous version: keeps running.\ncreate table colours ();'),
    ).toBe(false);
    expect(isSilent('-- 0002: a table.\n-- Locks: none.\ncreate table colours ();')).toBe(true);
  });

  it('builds no index of a large table in its transaction, because that blocks writers (decision 0051)', () => {
    const found = files.flatMap((name) =>
      buildsThatKeepWritersOut(readFileSync(join(folder, name), 'utf8')).map((at) => [name, at]),
    );
    expect(found).toEqual([]);
    expect(
      buildsThatKeepWritersOut('create index a on items (key);\ncreate unique index b\n on changes (id);'),
    ).toEqual(['a', 'b']);
    expect(buildsThatKeepWritersOut('create index concurrently if not exists a on items (key);')).toEqual([]);
    expect(buildsThatKeepWritersOut('create index a on alerts (since);')).toEqual([]);
  });

  it.each([
    ['alter table sinks drop column wake;', 1],
    ['drop table sinks;', 1],
    ['alter table sinks rename column wake to woken;', 1],
    ['alter table sinks alter column name type varchar(10);', 1],
    ['alter table sinks add column colour text not null;', 1],
    ["alter table sinks add column colour text not null default 'red', add column size integer not null;", 1],
    ["alter table sinks add column colour text not null default 'red';", 0],
    ['alter table sinks add column colour text default null check (colour is not null);', 0],
    [
      'alter table sinks add column colour text;\n-- and drop column nothing\ncreate index sinks_colour on sinks (colour);',
      0,
    ],
    ['create table colours (name text not null);\nalter table colours alter column name type varchar(9);', 0],
    ['-- Breaks the version before: it cannot send meanwhile.\nalter table sinks drop column wake;', 0],
  ])('with %s has the expected number of faults: %d', (sql, faults) => {
    expect(faultsOf(sql)).toHaveLength(faults);
  });
});
