import { type ImportLease, takeImport } from '../ledger/imports/imports.js';
import { unsettledChunks, whatIsLeft } from '../ledger/imports/chunks.js';
import { endCancelledImport, endImport, reviewWaiting, reviewExisting } from './sending/end-import.js';
import { type ImportStatus, readImportStatus } from './read-import.js';
import { readRefusalBehavior } from '../ledger/workspaces.js';
import { resume } from '../ledger/pauses.js';
import { requestPermission, workspaceAnswers } from '../ledger/workspaces.js';
import type { Collaborators } from '../cycles/collaborators.js';
import { ImportSender } from './sending/import-sender.js';
import { requireCurrentConfiguration } from '../ledger/configurations.js';
import type { ImportResult } from '../cycles/cycle-results.js';
import { selectedPigeonhole } from '../ledger/pigeonholes.js';
import { registrantsList } from '../base/lists.js';
import { sinksWanting } from '../sinks/wanted-lists.js';
import { syncsOf } from '../config/syncs.js';

/**
 * Concurrent requests of an import. With two, the service stays busy while one response is settled. The third keeps the
 * service busy while the responses to both are being settled (docs/performance.md). When the quota is nearly used up,
 * the gate admits one at a time.
 */
const chunksAtOnce = 3;
/** Maximum length of a cycle, so that the import shows progress and adopts a new configuration. */
const cycleMs = 20_000;
/** Interval between two checks of rows that another import is sending. */
const otherImportMs = 2000;
/** Maximum time between two cycles. If an operator resumes the import, the next cycle starts earlier. */
const maxSleepMs = 10 * 60_000;

const idle = { rows: 0, requests: 0 };
const noneWaits = { claimed: 0, waiting: 0 };

/**
 * Runs one cycle of an import: sends chunks until every row is settled, the import has to wait, or the time is up. Safe
 * to run twice, even concurrently: a chunk is marked before it is sent, an attempt that lost its lease cannot commit,
 * and the next attempt sends marked chunks again, which is harmless because the rows and their codes are the same
 * (decision 0025).
 */
export async function importRegistrants(deps: Collaborators, id: string, signal: AbortSignal): Promise<ImportResult> {
  await requireCurrentConfiguration(deps);
  const standing = await readImportStatus(deps.ledger, id);
  if (standing === undefined || standing.startedAt === null || standing.endedAt !== null) {
    return { ...idle, nextDueInMs: 0, state: 'finished' };
  }
  // A cancelled import sends nothing, so it ends whatever else holds it back.
  if (!standing.isCancelling) {
    if (!Object.hasOwn(deps.config.workspaces, standing.workspace)) {
      return { ...idle, nextDueInMs: maxSleepMs, state: 'paused', reason: 'its workspace is not configured' };
    }
    const blocked = whyBlocked(standing);
    if (blocked !== undefined) return { ...idle, nextDueInMs: maxSleepMs, state: 'paused', reason: blocked };
  }
  const lease = await takeImport(deps.ledger, id, deps.owner);
  if (lease === undefined) return { ...idle, nextDueInMs: 0, state: 'finished' };
  if (standing.isCancelling) return await cancel(deps, lease);

  const permission = await requestPermission(deps.ledger, lease.workspace);
  // Reading also waits for the quota when only the reserve for imports is left, so the gate decides about imports.
  if (permission.kind === 'wait' && permission.reason !== 'quota') {
    return { ...idle, nextDueInMs: permission.remainingMs, state: 'waiting', reason: permission.reason };
  }
  const workspaceWait = permission.kind === 'wait' ? null : permission.workspaceWait;
  const facts = {
    failures: standing.failures,
    workspaceWait,
    refusalBehavior: await readRefusalBehavior(deps.ledger, lease.workspace),
  };
  const sender = new ImportSender(deps, lease, facts, AbortSignal.any([signal, deps.stopping]));
  // An earlier attempt leaves at most `chunksAtOnce` unsettled chunks, because it sends no more at the same time.
  for (const chunk of await unsettledChunks(deps.ledger, lease)) await sender.settleLeftover(chunk);
  const isCanary = standing.canary !== null;
  return await sendRest(deps, lease, sender, { probes: workspaceWait !== null, isCanary, signal });
}

/**
 * Returns the cause of a pause that blocks the import. A pause because of a rejected API key blocks nothing here:
 * `requestPermission` decides when the key is tried again.
 */
function whyBlocked({ pauses }: ImportStatus): string | undefined {
  return pauses.find(({ scope, pausedBy }) => scope === 'import' || pausedBy === 'person')?.cause;
}

async function sendRest(
  deps: Collaborators,
  lease: ImportLease,
  sender: ImportSender,
  { probes, isCanary, signal }: { probes: boolean; isCanary: boolean; signal: AbortSignal },
): Promise<ImportResult> {
  const until = performance.now() + cycleMs;
  const hasTime = (): boolean => performance.now() < until && !signal.aborted && !deps.stopping.aborted;
  // After a wait, one request goes out alone: its response shows whether the others may follow.
  let waits = probes;
  const endWait = async (): Promise<void> => {
    if (!waits || sender.halt !== undefined || !sender.hasAnswer) return;
    waits = false;
    await answersAgain(deps, lease.workspace);
  };
  if (probes) await sender.loop(() => hasTime() && sender.requests === 0);
  await endWait();
  for (;;) {
    const loops = await Promise.allSettled(Array.from({ length: chunksAtOnce }, () => sender.loop(hasTime)));
    const failed = loops.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    await endWait();
    const done = { rows: sender.rows, requests: sender.requests };
    const { halt } = sender;
    if (halt?.kind === 'stop' && halt.why === 'cancel') return await cancel(deps, lease);
    if (halt?.kind === 'stop') return { ...done, nextDueInMs: maxSleepMs, state: 'paused' };
    if (halt?.kind === 'waits') return { ...done, nextDueInMs: halt.waitMs, state: 'waiting', reason: halt.reason };
    if (!hasTime()) return { ...done, nextDueInMs: 0, state: 'working' };
    const dueInMs = await whatIsLeft(deps.ledger, lease);
    if (dueInMs !== null && dueInMs > 0) return { ...done, nextDueInMs: dueInMs, state: 'working' };
    if (dueInMs !== null) continue;
    // A canary ends with its own rows; it does not wait for rows of other imports.
    const { claimed, waiting } = isCanary ? noneWaits : await reviewWaiting(deps.ledger, lease);
    if (claimed > 0) continue;
    if (waiting > 0) return { ...done, nextDueInMs: otherImportMs, state: 'waiting', reason: 'otherImport' };
    await reviewExisting(deps.ledger, lease);
    await endImport(deps.ledger, lease);
    await announceEnd(deps, lease, 'import finished');
    return { ...done, nextDueInMs: 0, state: 'finished' };
  }
}

/** Ends a cancelled import. Rows that an earlier attempt was sending get the outcome `unknown`. */
async function cancel(deps: Collaborators, lease: ImportLease): Promise<ImportResult> {
  await endCancelledImport(deps.ledger, lease);
  await announceEnd(deps, lease, 'import cancelled');
  return { ...idle, nextDueInMs: 0, state: 'finished' };
}

async function answersAgain(deps: Collaborators, workspace: string): Promise<void> {
  await workspaceAnswers(deps.ledger, workspace);
  await resume(deps.ledger, 'workspace', workspace, 'cause');
}

/**
 * Logs the end, and starts the pigeonhole's reading cycle if a sink accepts registrants. If the start is lost, the next
 * scheduled cycle does the same at most 10 minutes later.
 */
async function announceEnd(
  deps: Collaborators,
  { id, workspace, pigeonholeId }: ImportLease,
  message: string,
): Promise<void> {
  deps.log.info({ import: id, workspace, pigeonhole: pigeonholeId }, message);
  const selected = await selectedPigeonhole(deps.ledger, syncsOf(deps.config, workspace), { workspace, pigeonholeId });
  const syncs = selected?.syncs ?? [];
  if (!syncs.some((sync) => sinksWanting(deps.config, sync, registrantsList).length > 0)) return;
  await deps.orchestration.startReading([{ workspace, pigeonholeId }]);
}
