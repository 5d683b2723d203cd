import { ApplicationFailure, cancellationSignal, heartbeat } from '@temporalio/activity';
import { LedgerError } from '../ledger/ledger-error.js';
import type { Collaborators, InUse } from '../work/collaborators.js';
import { deliverToSink } from '../delivering/deliver-to-sink.js';
import { discoverWorkspace } from '../reading/discover.js';
import { forgetAttendee } from './forget-attendee.js';
import { readPigeonhole } from '../reading/read-pigeonhole.js';
import { importRegistrants } from '../importing/import-registrants.js';
import type { DeliveryTurn, ErasureTurn, ImportTurn, PigeonholeName, ReadingTurn, WorkRequest } from '../work/turns.js';
import type { SpanAttributes } from '../base/telemetry.js';

/** Much shorter than the heartbeat timeout of the workflows, which is shorter than a lane's lease. */
const heartbeatEveryMs = 2000;

export type Activities = ReturnType<typeof createActivities>;

/**
 * The steps that workflows call. Each may run twice; each takes ids and gives back counts, and works from its first
 * line to its last under the configuration that was current when it began.
 */
export const createActivities = (current: InUse) => ({
  async readPigeonholeTurn(pigeonhole: PigeonholeName): Promise<ReadingTurn> {
    const { workspace, pigeonholeId } = pigeonhole;
    const turn = { name: 'read', attributes: { workspace, pigeonhole: pigeonholeId } };
    return await takeTurn(current, turn, (to, signal) => readPigeonhole(to, pigeonhole, signal));
  },

  async discoverTurn(workspace: string): Promise<ReadingTurn> {
    const turn = { name: 'discover', attributes: { workspace } };
    return await takeTurn(current, turn, (to, signal) => discoverWorkspace(to, workspace, signal));
  },

  async deliverTurn(sink: string): Promise<DeliveryTurn> {
    const turn = { name: 'deliver', attributes: { sink } };
    return await takeTurn(current, turn, (to, signal) => deliverToSink(to, sink, signal));
  },

  async importTurn(id: string): Promise<ImportTurn> {
    const turn = { name: 'import', attributes: { import: id } };
    return await takeTurn(current, turn, (to, signal) => importRegistrants(to, id, signal));
  },

  async forgetTurn(id: string): Promise<ErasureTurn> {
    const turn = { name: 'forget', attributes: { erasure: id } };
    return await takeTurn(current, turn, (to, signal) => forgetAttendee(to, id, signal));
  },

  /**
   * Ignores what a signal asks for. The API writes what a person asks for to the ledger, after it has checked their rights,
   * and sends "wake" only. Every account of this machine reaches an embedded Temporal server: a signal proves no right.
   */
  async handleWorkRequest(
    scope: { kind: 'workspace' | 'sink' | 'import'; name: string } | { kind: 'pigeonhole'; name: PigeonholeName },
    request: WorkRequest,
  ): Promise<void> {
    await current.use(async ({ log }) =>
      log.warn(
        { scope: scope.kind, request },
        'a signal asked for something that only the API may change: it is ignored',
      ),
    );
  },
});

/** Heartbeats on an interval, not by progress: one slow page must not look like a dead process. */
async function takeTurn<T>(
  current: InUse,
  { name, attributes }: { readonly name: string; readonly attributes: SpanAttributes },
  work: (to: Collaborators, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timer = setInterval(() => heartbeat(), heartbeatEveryMs);
  const turnName = [name, ...Object.values(attributes)].join(' ');
  let noteFailure: (error: unknown) => void = () => undefined;
  try {
    return await current.use(async (to) => {
      // Noted once `use` gives up: a turn that fails because another configuration is current runs again with that one.
      noteFailure = (error) => to.onTurn(turnName, error instanceof Error ? error.message : String(error));
      const turn = await to.tracer.span(name, attributes, () => work(to, cancellationSignal()));
      to.onTurn(turnName, null);
      return turn;
    });
  } catch (error) {
    noteFailure(error);
    throw refusal(error);
  } finally {
    clearInterval(timer);
  }
}

/** Another configuration is current: soon a process has it, or this one, so that waiting longer and longer gains nothing. */
function refusal(error: unknown): unknown {
  if (!(error instanceof LedgerError) || error.kind !== 'configuration') return error;
  return ApplicationFailure.create({ type: 'configuration', message: error.message, nextRetryDelay: '2 seconds' });
}
