import type { ClientBase, Pool } from 'pg';
import type { CheckLine } from '../sink.js';
import { classifyFailure } from './classify.js';
import { inspectSchema, requireOwn, type SchemaState, missingStatements } from './schema.js';
import { MARKER_TABLE, qualified, quoted } from './ddl.js';
import { tables } from './tables.js';

interface CheckedDatabase {
  readonly pool: Pool;
  readonly server: string;
  readonly schema: string;
  readonly sink: string;
  /** Known parameters of the URL that have no effect. */
  readonly ignored: readonly string[];
}

/** The oldest version of PostgreSQL that supports this sink's statements and catalog queries. */
const OLDEST_VERSION = 13;

interface Session {
  readonly version: number;
  readonly user: string;
  readonly encrypted: boolean;
  readonly standby: boolean;
  readonly may_create_schema: boolean;
}

/**
 * Checks whether the sink can write rows: whether the server answers, the schema is free or belongs to this sink, its
 * tables fit or can be created, and the user has the rights. Reads only the catalog and the marker table, and changes
 * nothing. Never throws.
 */
export async function checkDatabase(database: CheckedDatabase, signal: AbortSignal): Promise<CheckLine[]> {
  const { pool, server, schema } = database;
  try {
    const client = await pool.connect();
    const stop = (): void => void client.end().catch(() => undefined);
    signal.addEventListener('abort', stop);
    try {
      return await inspect(client, database);
    } finally {
      signal.removeEventListener('abort', stop);
      client.release(true); // a check is rare and keeps no connection open
    }
  } catch (error) {
    const failure = classifyFailure(error, server, schema);
    return [{ ok: false, text: failure.about === 'destination' ? failure.outcome.detail : failure.detail }];
  }
}

async function inspect(client: ClientBase, { server, schema, sink, ignored }: CheckedDatabase): Promise<CheckLine[]> {
  // Sending uses transactions, which a connection pooler in statement mode refuses.
  await client.query('begin');
  await client.query('rollback');
  const session = await readSession(client);
  const lines: CheckLine[] = [serverLine(server, session)];
  if (ignored.length > 0)
    lines.push({ ok: true, warning: true, text: `these parameters of "url" have no effect: ${ignored.join(', ')}` });
  const state = await inspectSchema(client, schema);
  requireOwn(state, schema, { sink });
  const missing = missingStatements(state, schema);
  const may = await mayCreate(client, schema, state, session);
  if (missing.length === 0) lines.push({ ok: true, text: `schema "${schema}" has its ${tables.length} tables` });
  else if (may) lines.push({ ok: true, text: `${whatIsMissing(state, schema)}: pigeonpost creates what is missing` });
  else {
    const script = scriptOf([...missing, ...grants(schema, session.user)]);
    const text = `${whatIsMissing(state, schema)}, and "${session.user}" may not create what is missing: have the owner run\n${script}`;
    lines.push({ ok: false, text });
  }
  const lacking = await lackingRights(client, schema, state);
  if (lacking.length > 0 && (missing.length === 0 || may)) {
    const script = scriptOf(grants(schema, session.user));
    lines.push({
      ok: false,
      text: `"${session.user}" lacks rights on ${lacking.join(', ')}: have the owner run\n${script}`,
    });
  }
  return lines;
}

function scriptOf(statements: readonly string[]): string {
  return statements.map((statement) => `${statement};`).join('\n');
}

function serverLine(server: string, { version, user, encrypted, standby }: Session): CheckLine {
  if (version < OLDEST_VERSION) {
    return { ok: false, text: `${server} is version ${version}: version ${OLDEST_VERSION} or newer is required` };
  }
  if (standby) return { ok: false, text: `${server} is a read-only standby: name the primary server in "url"` };
  const encryption = encrypted ? 'encrypted' : 'not encrypted';
  return { ok: true, text: `${server} answers as "${user}", version ${version}, ${encryption}` };
}

async function readSession(client: ClientBase): Promise<Session> {
  const { rows } = await client.query<Session>(
    `select current_setting('server_version_num')::int / 10000 as version, current_user::text as user,
       coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as encrypted,
       pg_is_in_recovery() as standby,
       has_database_privilege(current_database(), 'CREATE') as may_create_schema`,
  );
  return rows[0]!;
}

function whatIsMissing({ exists, missingTables, missingColumns, hasMarkerTable }: SchemaState, schema: string): string {
  if (!exists) return `schema "${schema}" does not exist yet`;
  const parts = [
    ...(hasMarkerTable ? [] : [`table ${MARKER_TABLE}`]),
    ...missingTables.map(({ name }) => `table ${name}`),
    ...missingColumns.map(({ table, column }) => `column ${table.name}.${column}`),
  ];
  const more = parts.length > 3 ? ` and ${parts.length - 3} more` : '';
  return `schema "${schema}" has no ${parts.slice(0, 3).join(', ')}${more} yet`;
}

/**
 * Whether this user may create the missing parts: the schema in the database, tables in the schema, or columns of
 * tables that the user owns.
 */
async function mayCreate(
  client: ClientBase,
  schema: string,
  { exists, missingColumns }: SchemaState,
  { may_create_schema: mayCreateSchema }: Session,
): Promise<boolean> {
  if (!exists) return mayCreateSchema;
  const { rows } = await client.query<{ may: boolean }>(
    `select has_schema_privilege($1, 'CREATE') and not exists (
       select from pg_class c where c.oid = any ($2::text[]::regclass[]) and not pg_has_role(c.relowner, 'USAGE')) as may`,
    [schema, [...new Set(missingColumns.map(({ table }) => qualified(schema, table.name)))]],
  );
  return rows[0]!.may;
}

const NEEDED = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];

/** Returns the existing tables on which the user lacks rights, with the rights that are missing. */
async function lackingRights(
  client: ClientBase,
  schema: string,
  { exists, presentTables, hasMarkerTable }: SchemaState,
): Promise<string[]> {
  if (!exists) return [];
  const names = [...presentTables.map(({ name }) => name), ...(hasMarkerTable ? [MARKER_TABLE] : [])];
  const { rows } = await client.query<{ name: string; rights: string[] | null }>(
    `select n.name, (select array_agg(p.privilege) from unnest($3::text[]) as p (privilege)
         where not has_table_privilege(c.oid, p.privilege)) as rights
     from unnest($2::text[]) as n (name)
       join pg_class c on c.relname = n.name and c.relnamespace = (select oid from pg_namespace where nspname = $1)`,
    [schema, names, NEEDED],
  );
  const { rows: usage } = await client.query<{ may: boolean }>(`select has_schema_privilege($1, 'USAGE') as may`, [
    schema,
  ]);
  return [
    ...(usage[0]!.may ? [] : [`schema "${schema}" (USAGE)`]),
    ...rows.flatMap(({ name, rights }) => (rights === null ? [] : [`${name} (${rights.join(', ')})`])),
  ];
}

function grants(schema: string, user: string): string[] {
  return [
    `grant usage on schema ${quoted(schema)} to ${quoted(user)}`,
    `grant select, insert, update, delete on all tables in schema ${quoted(schema)} to ${quoted(user)}`,
  ];
}
