import { messageOf } from '../base/errors.js';
import { ApplicationFailure, cancellationSignal, heartbeat } from '@temporalio/activity';
import { LedgerError } from '../ledger/ledger-error.js';
import type { Collaborators, InUse } from '../cycles/collaborators.js';
import type { SpanAttributes } from '../base/tracer.js';
import { stayWithSink } from '../delivering/stay-with-sink.js';
import { discoverWorkspace } from '../reading/discover.js';
import { forgetAttendee } from '../delivering/forget-attendee.js';
import { readGroup } from '../reading/read-group.js';
import { importRegistrants } from '../importing/import-registrants.js';
import {
  type ErasureResult,
  type ImportResult,
  type ReadingResult,
  startStayTime,
  type StayResult,
} from '../cycles/cycle-results.js';

/** Interval between heartbeats: much shorter than the workflows' heartbeat timeout, which is shorter than a lane's lease. */
export const heartbeatEveryMs = 3000;

export type Activities = ReturnType<typeof createActivities>;

/**
 * Creates the activities that workflows call. Each accepts ids, returns counts, and is safe to run twice. A cycle keeps
 * using the configuration that was current when it started. Do not rename them: recorded histories contain their names.
 */
export const createActivities = (current: InUse) => ({
  /** @param number the number of the reader */
  async readStay(number: number): Promise<StayResult> {
    const leftMs = startStayTime();
    return await runStay(current, `reader ${number}`, (deps, signal) => readGroup(deps, number, signal, leftMs));
  },

  async discoverTurn(workspace: string): Promise<ReadingResult> {
    const cycle = { name: 'discover', attributes: { workspace } };
    return await runCycle(current, cycle, (deps, signal) => discoverWorkspace(deps, workspace, signal));
  },

  async deliverStay(sink: string): Promise<StayResult> {
    const leftMs = startStayTime();
    return await runStay(current, `deliver ${sink}`, (deps, signal) => stayWithSink(deps, sink, signal, leftMs));
  },

  async importTurn(id: string): Promise<ImportResult> {
    const cycle = { name: 'import', attributes: { import: id } };
    return await runCycle(current, cycle, (deps, signal) => importRegistrants(deps, id, signal));
  },

  async forgetTurn(id: string): Promise<ErasureResult> {
    const cycle = { name: 'forget', attributes: { erasure: id } };
    return await runCycle(current, cycle, (deps, signal) => forgetAttendee(deps, id, signal));
  },
});

/** Runs one cycle as one trace. */
async function runCycle<T>(
  current: InUse,
  { name, attributes }: { readonly name: string; readonly attributes: SpanAttributes },
  work: (deps: Collaborators, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const cycleName = [name, ...Object.values(attributes)].join(' ');
  return await runStay(current, cycleName, async (deps, signal) => {
    return await deps.tracer.span(name, attributes, () => work(deps, signal));
  });
}

/**
 * Runs work that may take minutes. Its heartbeats are sent at an interval, not on progress: a slow page must not look
 * like a dead process.
 */
async function runStay<T>(
  current: InUse,
  name: string,
  work: (deps: Collaborators, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timer = setInterval(() => heartbeat(), heartbeatEveryMs);
  let reportFailure: (error: unknown) => void = () => undefined;
  try {
    return await current.use(async (deps) => {
      // Called only if `use` fails, because `use` repeats work that failed after the configuration had changed.
      reportFailure = (error) => deps.onCycle(name, messageOf(error));
      const result = await work(deps, cancellationSignal());
      deps.onCycle(name, null);
      return result;
    });
  } catch (error) {
    reportFailure(error);
    throw withRetryDelay(error);
  } finally {
    clearInterval(timer);
  }
}

/** Retries after 2 s when the configuration has changed: this process, or another one, loads it within seconds. */
function withRetryDelay(error: unknown): unknown {
  if (!(error instanceof LedgerError) || error.kind !== 'configuration') return error;
  return ApplicationFailure.create({ type: 'configuration', message: error.message, nextRetryDelay: '2 seconds' });
}
