import type { ConnectionLike } from '@temporalio/client';
import type { Readiness } from '../api/readiness.js';
import type { Ledger } from '../ledger/ledger.js';
import type { RunningWorker } from './run-worker.js';

const withinMs = 3000;

/** What a process needs to do its work, and whether it has it. Never throws; what does not answer soon is not there. */
export async function readReadiness({
  ledger,
  connection,
  worker,
}: {
  readonly ledger: Ledger;
  readonly connection: ConnectionLike;
  readonly worker: Pick<RunningWorker, 'isPolling'>;
}): Promise<Readiness[]> {
  const [store, temporal] = await Promise.all([
    answers(ledger.db.query('select 1')),
    answers(connection.withDeadline(Date.now() + withinMs, () => connection.workflowService.getSystemInfo({}))),
  ]);
  return [
    { part: 'store', ready: store },
    { part: 'temporal', ready: temporal },
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
