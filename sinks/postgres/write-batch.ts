import type { ClientBase } from 'pg';
import type { Outcome } from '../sink.js';
import { confirmHeld } from '../while-held.js';
import { classifyFailure } from './classify-failure.js';
import { DestinationChanged } from './destination-changed.js';
import type { PostgresOperation, Write } from './format.js';
import { readOwner, requireSameOwner, type SchemaOwner } from './inspect-schema.js';
import { MARKER_TABLE } from './names.js';
import { storableJson } from './storable-json.js';
import { tables } from './tables.js';
import { writeStatement } from './write-statements.js';

export interface Target {
  /** As it is named to a person. */
  readonly server: string;
  readonly schema: string;
  readonly owner: SchemaOwner;
  readonly statementTimeoutMs: number;
}

export interface Written {
  /** One per operation, in their order. */
  readonly outcomes: readonly Outcome[];
  /** The tables are not what they were. */
  readonly looksAgain: boolean;
}

/**
 * Writes a batch in one transaction. Where PostgreSQL refuses a row, the batch is halved until that row stands alone:
 * it is rejected, the others are written. Never throws.
 * @param mayGoOn asked before each transaction; once false, what has not been written is `unsent`
 */
export async function writeBatch(
  client: ClientBase,
  operations: readonly PostgresOperation[],
  target: Target,
  mayGoOn: () => boolean,
): Promise<Written> {
  const outcomes: Outcome[] = operations.map(() => ({ kind: 'unsent' }));
  const groups = [[...operations.keys()]];
  for (let group = groups.shift(); group !== undefined && mayGoOn(); group = groups.shift()) {
    const settle = (outcome: Outcome): void => group!.forEach((position) => (outcomes[position] = outcome));
    try {
      await confirmHeld();
      await transact(
        client,
        group.map((position) => operations[position]!),
        target,
      );
      settle({ kind: 'delivered' });
    } catch (error) {
      const failure = classifyFailure(error, target.server, target.schema);
      if (failure.about === 'destination') {
        // Nothing else would pass either.
        for (const positions of [group, ...groups]) for (const at of positions) outcomes[at] = failure.outcome;
        return { outcomes, looksAgain: failure.looksAgain };
      }
      if (group.length === 1) settle({ kind: 'rejected', cause: failure.cause, detail: failure.detail });
      else groups.unshift(group.slice(0, Math.ceil(group.length / 2)), group.slice(Math.ceil(group.length / 2)));
    }
  }
  return { outcomes, looksAgain: false };
}

async function transact(client: ClientBase, operations: readonly PostgresOperation[], target: Target): Promise<void> {
  const { schema, owner, statementTimeoutMs } = target;
  await client.query('begin');
  try {
    // Here and not when connecting: poolers between us and the server refuse or forget settings of a session.
    await client.query(`set local statement_timeout = ${statementTimeoutMs}`);
    const found = await readOwner(client, schema);
    if (found === null) throw new DestinationChanged(lostMarker(schema));
    requireSameOwner(found, schema, owner);
    for (const { statement, rows } of statementsFor(operations, schema))
      await client.query(statement, [storableJson(rows)]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined); // what went wrong first is what is told
    throw error;
  }
}

function lostMarker(schema: string): string {
  return `schema "${schema}" has lost the row in ${MARKER_TABLE}: find out who removed it, then resume the sink`;
}

/** One statement per table and kind of write, tables in an order that all writers share. */
function statementsFor(
  operations: readonly PostgresOperation[],
  schema: string,
): { statement: string; rows: PostgresOperation['row'][] }[] {
  const latest = [...latestByItem(operations).values()];
  const kinds: readonly Write[] = ['row', 'tombstone', 'clear', 'remove'];
  return tables.flatMap((table) =>
    kinds.flatMap((write) => {
      const rows = latest.filter((each) => each.table === table.name && each.write === write).map(({ row }) => row);
      return rows.length === 0 ? [] : [{ statement: writeStatement(write, table, schema), rows }];
    }),
  );
}

/** PostgreSQL refuses to upsert one row twice in a statement (SQLSTATE 21000): the newest revision counts. */
function latestByItem(operations: readonly PostgresOperation[]): Map<string, PostgresOperation> {
  const latest = new Map<string, PostgresOperation>();
  for (const operation of operations) {
    const { workspace, pigeonhole_id, key, revision } = operation.row;
    const item = JSON.stringify([operation.table, workspace, pigeonhole_id, key]);
    const before = latest.get(item);
    if (before === undefined || Number(before.row['revision']) <= Number(revision)) latest.set(item, operation);
  }
  return latest;
}
