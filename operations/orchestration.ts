import { messageOf } from '../base/errors.js';
import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { WorkflowIdReusePolicy } from '@temporalio/common';
import type { Log, Orchestration } from '../work/collaborators.js';
import type { PigeonholeName } from '../work/cycle-results.js';
import {
  deliverToSinkId,
  discoverPigeonholesId,
  forgetAttendeeId,
  importRegistrantsId,
  syncPigeonholeId,
} from '../workflows/ids.js';

/** A workflow that should be running, with everything that is needed to start it. */
export interface WantedWorkflow {
  readonly type: 'discoverPigeonholes' | 'syncPigeonhole' | 'deliverToSink' | 'importRegistrants' | 'forgetAttendee';
  readonly id: string;
  readonly args: readonly unknown[];
}

export function discovering(workspace: string): WantedWorkflow {
  return { type: 'discoverPigeonholes', id: discoverPigeonholesId(workspace), args: [workspace] };
}

export function reading(pigeonhole: PigeonholeName): WantedWorkflow {
  const { workspace, pigeonholeId } = pigeonhole;
  return { type: 'syncPigeonhole', id: syncPigeonholeId(workspace, pigeonholeId), args: [{ workspace, pigeonholeId }] };
}

export function delivering(sink: string): WantedWorkflow {
  return { type: 'deliverToSink', id: deliverToSinkId(sink), args: [sink] };
}

export function importing(id: string): WantedWorkflow {
  return { type: 'importRegistrants', id: importRegistrantsId(id), args: [id] };
}

export function forgetting(id: string): WantedWorkflow {
  return { type: 'forgetAttendee', id: forgetAttendeeId(id), args: [id] };
}

/** Starts and wakes workflows from this process. */
export interface WorkflowStarter extends Orchestration {
  /** Starts a workflow unless it is running. */
  start(workflow: WantedWorkflow): Promise<void>;
  /** Sends a signal; false when no such workflow is running. */
  signal(workflowId: string, name: string): Promise<boolean>;
}

/**
 * @param checkCluster called directly before each start; throws if the Temporal cluster that answers is not the one
 * that drives the ledger
 */
export function createStarter(
  client: Client,
  taskQueue: string,
  log: Log,
  checkCluster: () => Promise<void>,
): WorkflowStarter {
  const options = (workflow: WantedWorkflow) => ({
    taskQueue,
    workflowId: workflow.id,
    args: [...workflow.args],
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
  });
  const signal = async (workflowId: string, name: string): Promise<boolean> => {
    try {
      await client.workflow.getHandle(workflowId).signal(name);
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  };
  return {
    signal,
    async start(workflow) {
      await checkCluster();
      try {
        await client.workflow.start(workflow.type, options(workflow));
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    },
    async wakeSinks(names) {
      // If a wake is lost, the sink starts a few seconds later, when its own timer fires.
      await Promise.all(
        names.map((name) =>
          signal(deliverToSinkId(name), 'wake').catch((error: unknown) =>
            log.warn({ sink: name, error: messageOf(error) }, 'sink could not be woken'),
          ),
        ),
      );
    },
    async startReading(pigeonholes) {
      for (const pigeonhole of pigeonholes) {
        await checkCluster(); // before each: the cluster may be replaced while many pigeonholes are started
        const workflow = reading(pigeonhole);
        // One after another, to spare the server.
        await client.workflow.signalWithStart(workflow.type, { ...options(workflow), signal: 'wake' });
      }
    },
  };
}
