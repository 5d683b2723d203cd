import type { Database, Queryable } from '../../ledger/drivers/database.js';
import type { SqlValue } from '../../ledger/drivers/sql-values.js';

/** The work of one execution of a statement, independent of the speed and load of the machine. */
export interface Weighed {
  readonly sql: string;
  /** Number of rows that any step of the plan read, produced or discarded, over all loops. */
  readonly rows: number;
  /** Number of pages of tables and indexes read, cached or not. */
  readonly pages: number;
  /** Names of the tables that were scanned completely. */
  readonly scanned: readonly string[];
  readonly plan: PlanNode;
}

export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
}

/**
 * Wraps a store so that it executes each statement twice: first with EXPLAIN ANALYZE, which is rolled back, to measure
 * its work, and then normally. Scripts are not measured.
 */
export function weighedDatabase(db: Database, onWeighed: (weighed: Weighed) => void): Database {
  const inTransaction = (tx: Queryable): Queryable => ({
    async query<Row extends object>(sql: string, params: readonly SqlValue[] = []): Promise<Row[]> {
      if (!/^\s*(select|insert|update|delete|with)\b/i.test(sql)) return await tx.query<Row>(sql, params);
      // All four are sent at the same time, so that no other statement runs between them.
      const [, explained, , rows] = await Promise.all([
        tx.query('savepoint weighed'),
        tx.query<Explained>(explain(sql), params),
        tx.query('rollback to savepoint weighed'),
        tx.query<Row>(sql, params),
      ]);
      onWeighed(weigh(sql, explained));
      return rows;
    },
    script: (sql) => tx.script(sql),
  });
  return {
    kind: db.kind,
    query: (sql, params) => db.transaction((tx) => inTransaction(tx).query(sql, params)) as never,
    script: (sql) => db.script(sql),
    transaction: (work, options) => db.transaction((tx) => work(inTransaction(tx)), options),
    withoutLimits: (work) => db.withoutLimits(work),
    maintain: () => db.maintain(),
    analyzeGrown: () => db.analyzeGrown(),
    copyFiles: (folder) => db.copyFiles(folder),
    onFatal: (listener) => db.onFatal(listener),
    close: () => Promise.resolve(),
  };
}

interface Explained {
  'QUERY PLAN': string;
}

function explain(sql: string): string {
  return `explain (analyze, buffers, timing off, format json) ${sql}`;
}

function weigh(sql: string, [row]: readonly Explained[]): Weighed {
  const answer = row!['QUERY PLAN'];
  const [{ Plan: plan }] = (typeof answer === 'string' ? JSON.parse(answer) : answer) as [{ Plan: PlanNode }];
  const nodes = nodesOf(plan);
  return {
    sql,
    rows: nodes.reduce((sum, node) => sum + rowsOf(node), 0),
    pages: (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0),
    scanned: nodes.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name']!),
    plan,
  };
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

function rowsOf(node: PlanNode): number {
  const removed =
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Join Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0);
  return (node['Actual Rows'] + removed) * node['Actual Loops'];
}

/** Formats a plan for failure messages: the rows and loops of each step. */
export function formatPlan(node: PlanNode, depth = 0): string {
  const place = node['Index Name'] ?? node['Relation Name'] ?? '';
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0);
  const line = `${'  '.repeat(depth)}${node['Node Type']} ${place}: ${node['Actual Rows']} rows (${removed} discarded) x ${node['Actual Loops']}`;
  return [line, ...(node.Plans ?? []).map((plan) => formatPlan(plan, depth + 1))].join('\n');
}
