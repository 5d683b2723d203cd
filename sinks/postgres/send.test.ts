import type { ClientBase } from 'pg';
import { whileHeld } from '../../base/lease.js';
import type { PostgresOperation } from './plan.js';
import { writeBatch } from './send.js';

const owner = { ledgerId: 'ledger', sink: 'warehouse' };
const target = { server: 'PostgreSQL at db:5432', schema: 'engagement', owner, statementTimeoutMs: 1000 };
const operation = {
  changeId: '1',
  table: 'votes',
  write: 'remove',
  row: { workspace: 'acme', pigeonhole_id: 1, key: 'a', revision: 1 },
} as unknown as PostgresOperation;

/**
 * Writes one row. While the statement that starts with this text runs, the machine is suspended and the lane is lost.
 */
async function writeThroughPause(pausesAt: string) {
  const statements: string[] = [];
  let isHeld = true;
  const client = {
    query: async (sql: string) => {
      statements.push(sql.split(' ')[0]!);
      if (sql.startsWith(pausesAt)) isHeld = false;
      return { rows: [{ ledger_id: owner.ledgerId, sink: owner.sink }] };
    },
  } as unknown as ClientBase;
  const confirm = (): Promise<void> | undefined => (isHeld ? undefined : Promise.reject(new Error('the lane is lost')));
  const { outcomes } = await whileHeld(confirm, () => writeBatch(client, [operation], target, () => true));
  return { statements, kinds: outcomes.map(({ kind }) => kind) };
}

describe('a transaction of the lane', () => {
  it('is committed while the lane is held', async () => {
    const { statements, kinds } = await writeThroughPause('never');
    expect(statements).toEqual(['begin', 'set', 'select', 'delete', 'commit']);
    expect(kinds).toEqual(['delivered']);
  });

  it.each(['begin', 'select', 'delete'])('is rolled back if the machine pauses during "%s"', async (pausesAt) => {
    const { statements, kinds } = await writeThroughPause(pausesAt);
    expect(statements).not.toContain('commit');
    expect(statements.at(-1)).toBe('rollback');
    expect(kinds).toEqual(['retry']);
  });
});
