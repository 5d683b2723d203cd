import { Connection, WorkflowClient } from '@temporalio/client';
import { withClient } from '../processes/postgres-server.js';
import { cpuSecondsOf } from '../processes/program.js';
import type { Sandbox } from '../processes/sandbox.js';
import type { Fleet } from './fleet.js';

/** Kinds of processes whose CPU time is counted separately. */
export const processKinds = ['workers', 'temporal', 'store', 'temporalStore', 'api'] as const;
export type ProcessKind = (typeof processKinds)[number];

/** Counters that only rise while a fleet runs. */
export interface Counters {
  readonly atMs: number;
  /** Completed polls of pigeonholes: requests for the list `qna-questions`, of which every poll makes one. */
  readonly polls: number;
  readonly requests: number;
  /** CPU seconds. */
  readonly cpu: Readonly<Record<ProcessKind, number>>;
  /** Statements in pigeonpost's database, without `begin` and `commit`. */
  readonly statements: number;
  readonly transactions: number;
  readonly walBytes: number;
  readonly temporalTransactions: number;
  readonly temporalRows: number;
  readonly temporalWalBytes: number;
  /** Events in the histories of all workflows. */
  readonly historyEvents: number;
}

/** One statement with its use since the start of the measurement. */
export interface StatementUse {
  readonly query: string;
  readonly calls: number;
  readonly ms: number;
}

const polled = /^GET \/v2\/pigeonholes\/\d+\/qna-questions /;

export async function countPolls(sandbox: Sandbox): Promise<{ atMs: number; polls: number; requests: number }> {
  type State = { requests: { total: number; byPathAndCode: Record<string, number> } };
  const { requests } = await sandbox.control<State>('GET', 'state');
  const polls = Object.entries(requests.byPathAndCode)
    .filter(([path]) => polled.test(path))
    .reduce((sum, [, count]) => sum + count, 0);
  return { atMs: Date.now(), polls, requests: requests.total };
}

export function cpuOf(fleet: Fleet): Counters['cpu'] {
  return {
    workers: fleet.workers.reduce((sum, { pid }) => sum + cpuSecondsOf(pid), 0),
    temporal: cpuSecondsOf(fleet.temporal.pid),
    store: fleet.store.cpuSeconds(),
    temporalStore: fleet.temporalStore.cpuSeconds(),
    api: cpuSecondsOf(fleet.api.pid),
  };
}

/** Prepares the server for counting: makes the statements visible, and moves a checkpoint out of the measurement. */
export async function prepareCounting(fleet: Fleet): Promise<void> {
  await withClient(fleet.store.url('postgres'), async (client) => {
    await client.query('create extension if not exists pg_stat_statements');
    await client.query('checkpoint');
  });
  await withClient(fleet.temporalStore.url('postgres'), (client) => client.query('checkpoint'));
}

/**
 * Reads all counters. The order keeps the cost of reading out of the measured time: at its start, CPU time and polls come
 * last; at its end, first.
 */
export async function readCounters(fleet: Fleet, at: 'start' | 'end'): Promise<Counters> {
  const cheap = async () => ({ ...(await countPolls(fleet.sandbox)), cpu: cpuOf(fleet) });
  const first = at === 'end' ? await cheap() : undefined;
  const store = await withClient(fleet.store.url('postgres'), async (client) => {
    const { rows } = await client.query<Record<string, number>>(
      `select (select coalesce(sum(calls), 0) from pg_stat_statements s join pg_database d on d.oid = s.dbid
                where datname = $1 and query !~* '^(begin|commit|rollback|start transaction)')::float8 as statements,
              (select xact_commit + xact_rollback from pg_stat_database where datname = $1)::float8 as transactions,
              (pg_current_wal_insert_lsn() - '0/0')::float8 as wal`,
      [fleet.database],
    );
    return rows[0]!;
  });
  const temporal = await withClient(fleet.temporalStore.url('postgres'), async (client) => {
    const { rows } = await client.query<Record<string, number>>(
      `select sum(xact_commit + xact_rollback)::float8 as transactions,
              sum(tup_inserted + tup_updated + tup_deleted)::float8 as rows,
              (pg_current_wal_insert_lsn() - '0/0')::float8 as wal
       from pg_stat_database where datname like 'temporal%'`,
    );
    return rows[0]!;
  });
  const historyEvents = await countHistoryEvents(fleet);
  return {
    ...(first ?? (await cheap())),
    statements: store['statements']!,
    transactions: store['transactions']!,
    walBytes: store['wal']!,
    temporalTransactions: temporal['transactions']!,
    temporalRows: temporal['rows']!,
    temporalWalBytes: temporal['wal']!,
    historyEvents,
  };
}

/** Returns what was counted between two readings. */
export function difference(before: Counters, after: Counters): Counters {
  const less = (name: keyof Omit<Counters, 'cpu'>): number => after[name] - before[name];
  return {
    atMs: less('atMs'),
    polls: less('polls'),
    requests: less('requests'),
    cpu: Object.fromEntries(processKinds.map((kind) => [kind, after.cpu[kind] - before.cpu[kind]])) as Counters['cpu'],
    statements: less('statements'),
    transactions: less('transactions'),
    walBytes: less('walBytes'),
    temporalTransactions: less('temporalTransactions'),
    temporalRows: less('temporalRows'),
    temporalWalBytes: less('temporalWalBytes'),
    historyEvents: less('historyEvents'),
  };
}

/** A closed workflow has its final length in Temporal's list. A running one has to be described. */
async function countHistoryEvents({ temporal: { address, namespace } }: Fleet): Promise<number> {
  const connection = await Connection.connect({ address });
  try {
    const client = new WorkflowClient({ connection, namespace });
    let events = 0;
    for await (const { status, workflowId, runId, historyLength } of client.list()) {
      const length =
        status.name === 'RUNNING'
          ? (await client.getHandle(workflowId, runId).describe()).historyLength
          : historyLength;
      events += length ?? 0;
    }
    return events;
  } finally {
    await connection.close();
  }
}

/** Sets the use of all statements to zero. */
export async function forgetStatements(fleet: Fleet): Promise<void> {
  await withClient(fleet.store.url('postgres'), (client) => client.query('select pg_stat_statements_reset()'));
}

/** Returns the statements of pigeonpost's database since `forgetStatements`, most calls first. */
export async function statementsOf(fleet: Fleet): Promise<StatementUse[]> {
  return await withClient(fleet.store.url('postgres'), async (client) => {
    const { rows } = await client.query<StatementUse>(
      `select regexp_replace(query, '\\s+', ' ', 'g') as query, calls::float8 as calls, total_exec_time as ms
       from pg_stat_statements s join pg_database d on d.oid = s.dbid where datname = $1 order by calls desc`,
      [fleet.database],
    );
    return rows;
  });
}

/** Returns the number of rows of each table of pigeonpost's database. */
export async function rowsByTable(fleet: Fleet): Promise<Map<string, number>> {
  return await withClient(fleet.store.url(fleet.database), async (client) => {
    const tables = await client.query<{ table: string }>(
      `select relname as table from pg_stat_user_tables where schemaname = 'public' order by relname`,
    );
    const counts = new Map<string, number>();
    for (const { table } of tables.rows) {
      const { rows } = await client.query<{ n: number }>(`select count(*)::float8 as n from "${table}"`);
      counts.set(table, rows[0]!.n);
    }
    return counts;
  });
}
