import type { ConnectionLike } from '@temporalio/client';
import type { PartHealth } from '../api/health.js';
import type { Ledger } from '../ledger/ledger.js';
import type { RunningWorker } from './run-worker.js';

const withinMs = 3000;

/** What a process needs to do its work, and whether it has it. Never throws; what does not answer soon is not there. */
export async function readHealth({
  ledger,
  connection,
  worker,
}: {
  readonly ledger: Ledger;
  readonly connection: ConnectionLike;
  /** Null in a process that has none. */
  readonly worker: Pick<RunningWorker, 'isPolling'> | null;
}): Promise<PartHealth[]> {
  const [store, temporal] = await Promise.all([
    answers(ledger.db.query('select 1')),
    answers(connection.withDeadline(Date.now() + withinMs, () => connection.workflowService.getSystemInfo({}))),
  ]);
  return [
    { part: 'store', ready: store },
    { part: 'temporal', ready: temporal },
    ...(worker === null ? [] : [{ part: 'worker' as const, ready: worker.isPolling() }]),
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
