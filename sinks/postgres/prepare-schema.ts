import type { ClientBase } from 'pg';
import { columnStatements, markerStatements, schemaStatement, tableStatements } from './ddl.js';
import { inspectSchema, requireOwn, type SchemaOwner, type SchemaState } from './inspect-schema.js';
import { MARKER_TABLE, qualified } from './names.js';
import { tables } from './tables.js';

/** A migration waits no longer than this for whoever reads a table: it would hold up all other readers behind it. */
const LOCK_TIMEOUT_MS = 5_000;

/**
 * Makes the schema this sink's: claims it, and makes what is missing. Where nothing is missing, nothing is locked.
 * Safe to run twice, also at once. Adds only; a version before goes on working, since it names its columns.
 * @throws {DestinationChanged} when the schema is somebody else's, or cannot be made to fit; the driver's errors
 */
export async function prepareSchema(client: ClientBase, schema: string, owner: SchemaOwner): Promise<void> {
  const seen = await inspectSchema(client, schema, tables);
  requireOwn(seen, schema, owner);
  if (seen.owner !== null && missingStatements(seen, schema).length === 0) return;
  await client.query('begin');
  try {
    await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`pigeonpost schema ${schema}`]);
    const state = await inspectSchema(client, schema, tables); // another process may have been faster
    requireOwn(state, schema, owner);
    for (const statement of missingStatements(state, schema)) await client.query(statement);
    if (state.owner === null) {
      await client.query(`insert into ${qualified(schema, MARKER_TABLE)} (ledger_id, sink) values ($1, $2)`, [
        owner.ledgerId,
        owner.sink,
      ]);
    }
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined); // what went wrong first is what is told
    throw error;
  }
}

/** What has to be run, by this sink or by a person, until the schema has what is needed. */
export function missingStatements(state: SchemaState, schema: string): string[] {
  return [
    ...(state.exists ? [] : [schemaStatement(schema)]),
    ...(state.hasMarkerTable ? [] : markerStatements(schema)),
    ...state.missingTables.flatMap((table) => tableStatements(schema, table)),
    ...state.missingColumns.flatMap(({ table, column }) => columnStatements(schema, table, column)),
  ];
}
