import { markGone } from '../ledger/lock-pigeonhole.js';
import { abandonWalks, failStream, postponeStream } from '../ledger/streams.js';
import { waitWorkspace } from '../ledger/workspaces.js';
import type { ApiError } from '../pigeonhole/api-error.js';
import { isWorthLogging, judgeFailure, type Verdict, pauseForKey } from '../work/failures.js';
import { PermitRefusal } from '../work/requests/permit-refusal.js';
import { streamLogFields, type StreamReading } from './stream-reading.js';

/**
 * Retry intervals after "not found": until the pigeonhole or session counts as deleted in the service, and afterwards.
 */
const retryInMs = 5 * 60_000;
const retryGoneInMs = 24 * 60 * 60_000;

/** Stores the consequence of a failed request: when the stream, or the whole workspace, is read again. */
export async function settleFailure(
  reading: StreamReading,
  error: ApiError | PermitRefusal,
  { mayRestart }: { mayRestart: boolean },
): Promise<Verdict> {
  const { deps, place, lease, cycle } = reading;
  const isRefusal = error instanceof PermitRefusal;
  const wait = isRefusal ? 'quota' : error.kind;
  const workspaceWaits = place.workspaceWait?.reason === wait ? place.workspaceWait.count : 0;
  const streamFailures = cycle.pages > 0 ? 0 : lease.failures; // consecutive failures: a stored page resets them
  const verdict = judgeFailure(
    error,
    { streamFailures, workspaceWaits, atCursor: mayRestart && reading.cursor !== null },
    { now: deps.ledger.clock.nowMs(), random: Math.random() },
  );
  const line = {
    ...streamLogFields(reading),
    ...(isRefusal ? { kind: error.reason } : { kind: error.kind, code: error.code, requestId: error.requestId }),
  };
  if (verdict.affects === 'workspace') {
    const { reason, waitMs } = verdict;
    await waitWorkspace(deps.ledger, place.workspace, { reason, waitMs, count: workspaceWaits + 1 });
    if (verdict.reason === 'credential') await pauseForKey(deps, place.workspace, error.message);
    if (workspaceWaits === 0) deps.log.warn({ ...line, waitMs: verdict.waitMs }, `workspace waits: ${verdict.reason}`);
  } else if (verdict.affects === 'request') {
    await postponeStream(deps.ledger, lease, verdict.waitMs);
  } else if (verdict.affects === 'stream' && !isRefusal && isOfEndedOutage(reading, error)) {
    await postponeStream(deps.ledger, lease, 0); // the outage caused it, so it is no failure of the stream
  } else if (verdict.affects === 'stream' && !isRefusal) {
    const mayBeOutage = error.kind === 'transient' && deps.gate.outages.mayBegin(place.workspace, streamFailures + 1);
    await failOrGone(reading, error, { waitMs: reading.nextPollInMs ?? verdict.waitMs, mayBeOutage });
    if (isWorthLogging(error.kind, streamFailures, deps.gate.outages.isDown(place.workspace))) {
      deps.log.warn({ ...line, error: error.message }, 'stream cannot be read');
    }
  }
  return verdict;
}

/**
 * Whether the request had no response because of an outage that has ended since. Only a request to the service as it is
 * now can show whether the stream fails.
 */
function isOfEndedOutage({ deps, place, outagesBefore }: StreamReading, { kind }: ApiError): boolean {
  return kind === 'transient' && deps.gate.outages.endedOf(place.workspace) > outagesBefore;
}

/** @param options.mayBeOutage true: the stream is tried again, but does not count as failing yet */
async function failOrGone(
  reading: StreamReading,
  error: ApiError,
  { waitMs, mayBeOutage }: { readonly waitMs: number; readonly mayBeOutage: boolean },
): Promise<void> {
  const { deps, lease } = reading;
  // A walk that continued from a repeated cursor, for example, would fail every time.
  if (error.kind === 'protocol') await abandonWalks(deps.ledger, lease);
  if (error.kind !== 'pigeonholeNotFound' && error.kind !== 'sessionNotFound') {
    await failStream(deps.ledger, lease, { detail: mayBeOutage ? null : error.message, retryInMs: waitMs });
    return;
  }
  const what = error.kind === 'pigeonholeNotFound' ? 'pigeonhole' : 'session';
  const gone = await markGone(deps.ledger, lease, { detail: error.message, what, retryInMs, retryGoneInMs });
  if (gone)
    deps.log.warn(
      { ...streamLogFields(reading), code: error.code },
      `the service no longer has the ${what}; its stored data is kept`,
    );
}
