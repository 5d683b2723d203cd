import type { ConnectionLike } from '@temporalio/client';
import type { PartHealth } from '../api/health.js';
import type { Ledger } from '../ledger/ledger.js';
import type { GuardedWorker } from './run-worker.js';

const withinMs = 3000;

/**
 * Reports whether the parts that a process needs are ready. Never throws; a part that does not answer within 3 s is not
 * ready.
 */
export async function readHealth({
  ledger,
  work,
}: {
  readonly ledger: Ledger;
  /** Null for a process that serves the API, which needs only the store. */
  readonly work: {
    readonly connection: ConnectionLike;
    readonly worker: Pick<GuardedWorker, 'isPolling'>;
  } | null;
}): Promise<PartHealth[]> {
  const store = answers(ledger.db.query('select 1'));
  if (work === null) return [{ part: 'store', ready: await store }];
  const { connection, worker } = work;
  const temporal = answers(
    connection.withDeadline(Date.now() + withinMs, () => connection.workflowService.getSystemInfo({})),
  );
  return [
    { part: 'store', ready: await store },
    { part: 'temporal', ready: await temporal },
    { part: 'worker', ready: worker.isPolling() },
  ];
}

async function answers(question: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, withinMs, false);
  });
  const answered = question.then(
    () => true,
    () => false,
  );
  return await Promise.race([answered, late]).finally(() => clearTimeout(timer));
}
