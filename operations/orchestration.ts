import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { type Priority, WorkflowIdReusePolicy } from '@temporalio/common';
import type { Ledger } from '../ledger/ledger.js';
import { assignReaders, readersOf } from '../ledger/readers.js';
import type { Orchestration } from '../cycles/collaborators.js';
import { readersWake, sinkWake, type Wakes } from '../cycles/wakes.js';
import {
  deliverToSinkId,
  discoverPigeonholesId,
  forgetAttendeeId,
  importRegistrantsId,
  readPigeonholesId,
} from '../workflows/ids.js';

/** A workflow that should be running, with everything that is needed to start it. */
export interface WantedWorkflow {
  readonly type: 'discoverPigeonholes' | 'readPigeonholes' | 'deliverToSink' | 'importRegistrants' | 'forgetAttendee';
  readonly id: string;
  readonly args: readonly unknown[];
  /** Priority of the activities, if more are waiting than the processes have places for. */
  readonly priority?: Priority;
}

export function discovering(workspace: string): WantedWorkflow {
  return { type: 'discoverPigeonholes', id: discoverPigeonholesId(workspace), args: [workspace] };
}

/** @param number the number of the reader */
export function reading(number: number): WantedWorkflow {
  return { type: 'readPigeonholes', id: readPigeonholesId(number), args: [number] };
}

export function delivering(sink: string): WantedWorkflow {
  return { type: 'deliverToSink', id: deliverToSinkId(sink), args: [sink] };
}

/** A person waits for an import, unless its file was found in a drop folder: then imports of persons go first. */
export function importing({ id, isDropped }: { readonly id: string; readonly isDropped: boolean }): WantedWorkflow {
  const priority = { priorityKey: isDropped ? 4 : 2 }; // 1 to 5, lower goes first
  return { type: 'importRegistrants', id: importRegistrantsId(id), args: [id], priority };
}

export function forgetting(id: string): WantedWorkflow {
  return { type: 'forgetAttendee', id: forgetAttendeeId(id), args: [id] };
}

/** Starts and wakes work from this process. */
export interface WorkflowStarter extends Orchestration {
  /** Starts a workflow unless it is running. */
  start(workflow: WantedWorkflow): Promise<void>;
  /**
   * Wakes a workflow that sleeps until its next cycle: of discovery, an import or an erasure.
   * @returns false when no such workflow is running
   */
  wakeWorkflow(workflow: WantedWorkflow): Promise<boolean>;
}

/**
 * @param checkCluster called directly before each start; throws if the Temporal cluster that answers is not the one
 * that drives the ledger
 */
export function createStarter(
  client: Client,
  taskQueue: string,
  { ledger, wakes }: { readonly ledger: Ledger; readonly wakes: Wakes },
  checkCluster: () => Promise<void>,
): WorkflowStarter {
  const start = async (workflow: WantedWorkflow): Promise<void> => {
    await checkCluster();
    try {
      await client.workflow.start(workflow.type, {
        taskQueue,
        workflowId: workflow.id,
        args: [...workflow.args],
        ...(workflow.priority !== undefined && { priority: workflow.priority }),
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  };
  return {
    start,
    async wakeWorkflow({ id }) {
      try {
        await client.workflow.getHandle(id).signal('wake');
        return true;
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return false;
        throw error;
      }
    },
    async wakeSinks(names) {
      for (const name of names) wakes.wake(sinkWake(name));
    },
    wakeReaders: () => wakes.wakeAll(readersWake),
    async startReading(pigeonholes) {
      await assignReaders(ledger);
      // One after another, to spare the server. Each checks the cluster, which may be replaced meanwhile.
      for (const number of await readersOf(ledger, pigeonholes)) await start(reading(number));
      wakes.wakeAll(readersWake);
    },
  };
}
