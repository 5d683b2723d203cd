import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/**
 * The module that holds all statements which write a table. `ledger/streams` are the files `ledger/streams.ts` and
 * `ledger/streams-*.ts`, `ledger/items` all files of that folder. Other modules call its functions, so that a change of a table concerns one module.
 */
const owners = {
  alert_messages: 'operations/alerts/alert-store',
  alert_receivers: 'operations/alerts/alert-store',
  alert_watch: 'operations/alerts/alert-store',
  alerts: 'operations/alerts/alert-store',
  approvals: 'ledger/approvals',
  attempts: 'ledger/attempts',
  audit: 'ledger/audit',
  changes: 'ledger/items',
  configuration_drafts: 'ledger/configuration-drafts',
  configurations: 'ledger/configurations',
  deliveries: 'ledger/deliveries',
  delivery_counts: 'ledger/kept-counts', // and triggers of the table deliveries
  dropped_files: 'ledger/imports',
  engagement_counts: 'reading/recount-engagement',
  engagement_prompts: 'reading/recount-engagement',
  erasing: 'people/held-items',
  erasure_receipts: 'people/erasure',
  erasures: 'people/erasure',
  forgotten: 'people/erasure',
  forgotten_codes: 'people/erasure',
  holds: 'reading/holds',
  import_chunks: 'ledger/imports',
  import_counts: 'ledger/kept-counts', // and triggers of the tables registrants, import_rows and import_chunks
  import_mappings: 'importing/desk/open-registrants',
  import_rows: 'ledger/imports',
  imports: 'ledger/imports',
  incident_notices: 'operations/incidents/incident-store',
  incidents: 'operations/incidents/incident-store',
  intents: 'ledger/intents',
  interruptions: 'operations/statement/interruption-store',
  item_counts: 'ledger/kept-counts', // and triggers of the table items
  items: 'ledger/items',
  kept_credentials: 'ledger/kept-credentials',
  lanes: 'ledger/lanes',
  ledger: 'ledger/identity',
  migrations: 'ledger/migrate',
  missing: 'ledger/missing',
  nightly_exports: 'ledger/nightly-exports',
  observations: 'ledger/observations',
  page_sessions: 'ledger/page-sessions',
  pages: 'ledger/pages',
  parity_findings: 'delivering/parity/parity-store',
  parity_passes: 'delivering/parity/parity-store',
  pauses: 'ledger/pauses',
  pigeonholes: 'ledger/pigeonholes',
  progress: 'reading/progress',
  provisioned: 'importing/provisioning/create-object',
  quotas: 'requests/quota',
  readers: 'ledger/readers',
  reading_watch: 'operations/statement/interruption-store',
  recent_deletions: 'reading/holds',
  registrant_lists: 'reading/recount-registrants',
  registrant_passes: 'reading/recount-registrants',
  registrants: 'ledger/imports',
  replay_lanes: 'delivering/replays',
  replays: 'delivering/replays',
  retention_passes: 'people/retention',
  search_entries: 'ledger/search',
  search_positions: 'ledger/search',
  selections: 'ledger/pigeonholes',
  sign_ins: 'ledger/sign-ins',
  sink_objects: 'ledger/sink-objects',
  sinks: 'ledger/sinks',
  starts: 'ledger/starts',
  statements: 'operations/statement/statement-store',
  streams: 'ledger/streams',
  syncs: 'ledger/pigeonholes',
  tokens: 'ledger/tokens',
  visibility_reviews: 'reading/review-visibility',
  walks: 'ledger/walks',
  workspaces: 'ledger/workspaces',
} as const satisfies Record<string, string>;

type Table = keyof typeof owners;

/** Files whose statements write tables of a sink's database, which are not the ledger's. */
const foreignStores: ReadonlySet<string> = new Set(['sinks/postgres/schema.ts', 'sinks/postgres/send.ts']);

const rooms = [
  'base',
  'config',
  'pigeonhole',
  'ledger',
  'sinks',
  'requests',
  'cycles',
  'people',
  'reading',
  'delivering',
  'importing',
  'operations',
  'activities',
  'workflows',
  'api',
  'worker',
  'cli',
  'dashboard',
];

const root = join(__dirname, '../..');

/** A statement, or a part of one, that writes a table. The name may be interpolated. */
const writes =
  /\b(?:(?:insert into|delete from|merge into|truncate|copy) (?:only )?(?<filled>\$\{|[a-z_]+)\b|update (?:only )?(?<changed>\$\{[^}]*\}|[a-z_]+)(?: (?:as )?[a-z_]+)? set\b)/g;

function sourcesOf(room: string): string[] {
  return readdirSync(join(root, room), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\.(test|test-kit)\.ts$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

/** Returns the tables that a file's statements write. A name that is not written out is returned as `${…}`. */
function tablesWrittenIn(text: string): Set<string> {
  const sql = text.replaceAll(/\s+/g, ' ');
  return new Set([...sql.matchAll(writes)].map(({ groups }) => (groups!['filled'] ?? groups!['changed'])!));
}

const written = rooms
  .flatMap(sourcesOf)
  .filter((file) => !foreignStores.has(file))
  .map((file) => ({ file, tables: tablesWrittenIn(readFileSync(join(root, file), 'utf8')) }));

function isOwner(file: string, table: Table): boolean {
  return file === `${owners[table]}.ts` || ['-', '/'].some((next) => file.startsWith(`${owners[table]}${next}`));
}

describe('the owners of the tables', () => {
  it('cover every table of the schema', () => {
    const folder = join(root, 'ledger/migrations');
    const schema = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    const tables = schema.flatMap((sql) => [...sql.matchAll(/^create table (\w+)/gm)]).map(([, name]) => name!);
    expect(Object.keys(owners).toSorted()).toEqual([...tables, 'migrations'].toSorted());
  });

  it('are the only modules whose statements write the tables', () => {
    const elsewhere = written.flatMap(({ file, tables }) =>
      (Object.keys(owners) as Table[])
        .filter((table) => tables.has(table) && !isOwner(file, table))
        .map((table) => `${file}: ${table}`),
    );
    expect(elsewhere).toEqual([]);
  });

  it('write out the names of the tables, so that their writers can be found', () => {
    const unnamed = written.filter(({ tables }) => [...tables].some((table) => table.startsWith('${')));
    expect(unnamed.map(({ file }) => file)).toEqual([]);
  });
});

describe('the search for statements', () => {
  it.each([
    ['insert into items (pigeonhole_number) values ($1)', ['items']],
    ['with a as (delete from pages where true), b as (update only streams s set x = 1) select 1', ['pages', 'streams']],
    ['update missing\n  set state = $1', ['missing']],
    ['truncate walks', ['walks']],
    ['copy lanes from stdin', ['lanes']],
    ['update ${table} set x = 1', ['${table}']],
    ['select 1 from items for no key update', []],
    ['on conflict (pigeonhole_number) do update set items = 1', []],
    ['// update the items', []],
  ])('finds the tables of %j', (sql, tables) => {
    expect([...tablesWrittenIn(sql)].toSorted()).toEqual(tables);
  });
});
