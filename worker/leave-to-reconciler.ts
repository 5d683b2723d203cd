import type { Log } from '../work/collaborators.js';
import { LedgerError } from '../ledger/ledger-error.js';
import { messageOf, type WorkflowStarter } from '../operations/orchestration.js';

/** Longer than a server that answers ever takes, and much shorter than a client of the API waits. */
const withinMs = 5000;

/**
 * A starter for requests of people. The ledger holds the request before a workflow is started or woken, so the
 * request succeeds while Temporal is away, and the reconciler does the rest when Temporal is back.
 */
export function leaveToReconciler(starter: WorkflowStarter, log: Log): WorkflowStarter {
  const attempt = async <Result>(call: () => Promise<Result>, otherwise: Result): Promise<Result> => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`Temporal has not answered within ${withinMs / 1000} s`)), withinMs);
    });
    try {
      return await Promise.race([call(), late]);
    } catch (error) {
      if (error instanceof LedgerError) throw error; // another cluster answers
      log.warn({ error: messageOf(error) }, 'Temporal could not be notified of a request; the reconciler will do so');
      return otherwise;
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    start: (workflow) => attempt(() => starter.start(workflow), undefined),
    signal: (id, name) => attempt(() => starter.signal(id, name), true), // "true": nothing has to be started now
    startReading: (pigeonholes) => attempt(() => starter.startReading(pigeonholes), undefined),
    wakeSinks: (names) => attempt(() => starter.wakeSinks(names), undefined),
  };
}
