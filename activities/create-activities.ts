import { heartbeat, cancellationSignal } from '@temporalio/activity';
import type { Collaborators } from './collaborators.js';
import { deliverToSinkTurn } from './deliver-to-sink.js';
import { discoverWorkspace } from './discover.js';
import { readPigeonhole } from './read-pigeonhole.js';
import { handleRequest } from './handle-request.js';
import type { DeliveryTurn, PigeonholeName, ReadingTurn, WorkRequest } from './turns.js';

/** Much shorter than the heartbeat timeout of the workflows, which is shorter than a lane's lease. */
const heartbeatEveryMs = 2000;

export type Activities = ReturnType<typeof createActivities>;

/** The steps that workflows call. Each may run twice; each takes ids and gives back counts. */
export const createActivities = (to: Collaborators) => ({
  async readPigeonholeTurn(pigeonhole: PigeonholeName): Promise<ReadingTurn> {
    return await heartbeating(to, (signal) => readPigeonhole(to, pigeonhole, signal));
  },

  async discoverTurn(workspace: string): Promise<ReadingTurn> {
    return await heartbeating(to, (signal) => discoverWorkspace(to, workspace, signal));
  },

  async deliverTurn(sink: string): Promise<DeliveryTurn> {
    return await heartbeating(to, (signal) => deliverToSinkTurn(to, sink, signal));
  },

  /** Carries out what a person asked for by a signal: written to the ledger, which alone remembers it. */
  async handleWorkRequest(
    scope: { kind: 'workspace' | 'sink'; name: string } | { kind: 'pigeonhole'; name: PigeonholeName },
    request: WorkRequest,
  ): Promise<void> {
    await handleRequest(to.ledger, scope, request);
  },
});

/** Heartbeats on an interval, not by progress: one slow page must not look like a dead process. */
async function heartbeating<T>({ onTurn }: Collaborators, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const timer = setInterval(() => heartbeat(), heartbeatEveryMs);
  try {
    const turn = await work(cancellationSignal());
    onTurn(null);
    return turn;
  } catch (error) {
    onTurn(error instanceof Error ? error.message : String(error));
    throw error;
  } finally {
    clearInterval(timer);
  }
}
