import { messageOf } from '../base/errors.js';
import { ApplicationFailure, cancellationSignal, heartbeat } from '@temporalio/activity';
import { LedgerError } from '../ledger/ledger-error.js';
import type { Collaborators, InUse, SpanAttributes } from '../work/collaborators.js';
import { deliverToSink } from '../delivering/deliver-to-sink.js';
import { discoverWorkspace } from '../reading/discover.js';
import { forgetAttendee } from '../delivering/forget-attendee.js';
import { readPigeonhole } from '../reading/read-pigeonhole.js';
import { importRegistrants } from '../importing/import-registrants.js';
import type {
  DeliveryResult,
  ErasureResult,
  ImportResult,
  PigeonholeName,
  ReadingResult,
  WorkRequest,
} from '../work/cycle-results.js';

/** Interval between heartbeats: much shorter than the workflows' heartbeat timeout, which is shorter than a lane's lease. */
const heartbeatEveryMs = 2000;

export type Activities = ReturnType<typeof createActivities>;

/**
 * Creates the activities that workflows call. Each accepts ids, returns counts, is safe to run twice, and keeps using
 * the configuration that was current when it started. Do not rename them: recorded histories contain their names.
 */
export const createActivities = (current: InUse) => ({
  async readPigeonholeTurn(pigeonhole: PigeonholeName): Promise<ReadingResult> {
    const { workspace, pigeonholeId } = pigeonhole;
    const cycle = { name: 'read', attributes: { workspace, pigeonhole: pigeonholeId } };
    return await runCycle(current, cycle, (deps, signal) => readPigeonhole(deps, pigeonhole, signal));
  },

  async discoverTurn(workspace: string): Promise<ReadingResult> {
    const cycle = { name: 'discover', attributes: { workspace } };
    return await runCycle(current, cycle, (deps, signal) => discoverWorkspace(deps, workspace, signal));
  },

  async deliverTurn(sink: string): Promise<DeliveryResult> {
    const cycle = { name: 'deliver', attributes: { sink } };
    return await runCycle(current, cycle, (deps, signal) => deliverToSink(deps, sink, signal));
  },

  async importTurn(id: string): Promise<ImportResult> {
    const cycle = { name: 'import', attributes: { import: id } };
    return await runCycle(current, cycle, (deps, signal) => importRegistrants(deps, id, signal));
  },

  async forgetTurn(id: string): Promise<ErasureResult> {
    const cycle = { name: 'forget', attributes: { erasure: id } };
    return await runCycle(current, cycle, (deps, signal) => forgetAttendee(deps, id, signal));
  },

  /**
   * Ignores the request in a signal. Every account on the machine can reach an embedded Temporal server, so a signal
   * proves no rights. An operator's request goes to the API instead, which checks the rights, writes the request to the
   * ledger, and sends only the signal `wake`.
   */
  async handleWorkRequest(
    scope: { kind: 'workspace' | 'sink' | 'import'; name: string } | { kind: 'pigeonhole'; name: PigeonholeName },
    request: WorkRequest,
  ): Promise<void> {
    await current.use(async ({ log }) =>
      log.warn({ scope: scope.kind, request }, 'ignored a signal with a request that only the API may make'),
    );
  },
});

/** Runs one cycle with a heartbeat on an interval, not on progress: a slow page must not look like a dead process. */
async function runCycle<T>(
  current: InUse,
  { name, attributes }: { readonly name: string; readonly attributes: SpanAttributes },
  work: (deps: Collaborators, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timer = setInterval(() => heartbeat(), heartbeatEveryMs);
  const cycleName = [name, ...Object.values(attributes)].join(' ');
  let reportFailure: (error: unknown) => void = () => undefined;
  try {
    return await current.use(async (deps) => {
      // Called only if `use` fails, because `use` repeats a cycle that failed after the configuration had changed.
      reportFailure = (error) => deps.onCycle(cycleName, messageOf(error));
      const result = await deps.tracer.span(name, attributes, () => work(deps, cancellationSignal()));
      deps.onCycle(cycleName, null);
      return result;
    });
  } catch (error) {
    reportFailure(error);
    throw withRetryDelay(error);
  } finally {
    clearInterval(timer);
  }
}

/** Retries a cycle after 2 s when the configuration has changed: this process, or another one, loads it within seconds. */
function withRetryDelay(error: unknown): unknown {
  if (!(error instanceof LedgerError) || error.kind !== 'configuration') return error;
  return ApplicationFailure.create({ type: 'configuration', message: error.message, nextRetryDelay: '2 seconds' });
}
