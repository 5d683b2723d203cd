import { readFileSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import type { Stage } from './stage.js';

/** Returns workflows that failed or ended early. They must wait and continue regardless of failures around them. */
export async function failedWorkflows(stage: Stage): Promise<string[]> {
  const connection = await Connection.connect({ address: temporalAddress(stage) });
  try {
    const ended = new Client({ connection }).workflow.list({
      query: "ExecutionStatus = 'Failed' or ExecutionStatus = 'TimedOut' or ExecutionStatus = 'Terminated'",
    });
    const failed: string[] = [];
    for await (const { workflowId, status } of ended) failed.push(`workflow ${workflowId} is ${status.name}`);
    return failed;
  } finally {
    await connection.close();
  }
}

/** Returns the address of the running server. The port of an embedded one is only on its command line. */
function temporalAddress(stage: Stage): string {
  const pid = stage.temporalPid();
  const port = pid === undefined ? undefined : /--port=(\d+)/.exec(readFileSync(`/proc/${pid}/cmdline`, 'latin1'))?.[1];
  if (port === undefined) throw new Error('the Temporal server is not running after everything has settled');
  return `127.0.0.1:${port}`;
}
