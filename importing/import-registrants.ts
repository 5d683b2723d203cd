import { chunksUnderWay, type ImportLease, takeImport, whatIsLeft } from './sending/chunks.js';
import { endCancelledImport, endImport, reviewWaiting, reviewExisting } from './sending/end-import.js';
import { type ImportStatus, readImportStatus } from './read-import.js';
import { readRefusalBehavior } from './sending/settle-chunk.js';
import { resume } from '../ledger/pauses.js';
import { mayAsk, workspaceAnswers } from '../ledger/workspaces.js';
import type { Collaborators } from '../work/collaborators.js';
import { ImportSender } from './sending/import-sender.js';
import { requireCurrentConfiguration } from '../work/require-current-configuration.js';
import type { ImportTurn } from '../work/turns.js';
import { selectedPigeonholes } from '../ledger/pigeonholes.js';
import { registrantsList } from '../ledger/registrant-item.js';
import { sinksWanting, syncsOf } from '../work/reading-plan.js';

/**
 * Requests of an import under way at once. Two keep the service busy while an answer is settled; the third covers the
 * moment in which both are (measured: docs/performance.md). Where the quota nears its end, the gate lets one pass at a time.
 */
const chunksAtOnce = 3;
/** A turn is over after this time, so that Temporal sees that it lives, and another configuration is taken up. */
const turnMs = 20_000;
/** Rows that another import holds are looked at again so often. */
const otherImportMs = 2000;
/** Nothing is left unlooked at for longer. A person's resume wakes it before. */
const longestSleepMs = 10 * 60_000;

const idle = { rows: 0, requests: 0 };
const noneWaits = { claimed: 0, waiting: 0 };

/**
 * One turn of an import: chunks are sent until everything is settled, something has to be waited for, or the time is
 * over. Safe to run twice, also at once: what is sent is marked before, an attempt that was overtaken can commit nothing,
 * and its successor sends what is marked again.
 */
export async function importRegistrants(to: Collaborators, id: string, signal: AbortSignal): Promise<ImportTurn> {
  await requireCurrentConfiguration(to);
  const standing = await readImportStatus(to.ledger, id);
  if (standing === undefined || standing.startedAt === null || standing.endedAt !== null) {
    return { ...idle, nextDueInMs: 0, state: 'finished' };
  }
  if (!(standing.workspace in to.config.workspaces)) {
    return { ...idle, nextDueInMs: longestSleepMs, state: 'paused', reason: 'its workspace is not configured' };
  }
  if (!standing.isCancelling) {
    const blocked = whyBlocked(standing);
    if (blocked !== undefined) return { ...idle, nextDueInMs: longestSleepMs, state: 'paused', reason: blocked };
  }
  const lease = await takeImport(to.ledger, id, to.owner);
  if (lease === undefined) return { ...idle, nextDueInMs: 0, state: 'finished' };
  if (standing.isCancelling) return await cancel(to, lease);

  const waited = await mayAsk(to.ledger, lease.workspace);
  if (waited.kind === 'wait') {
    return { ...idle, nextDueInMs: waited.remainingMs, state: 'waiting', reason: waited.reason };
  }
  const facts = {
    failures: standing.failures,
    after: waited.after,
    manners: await readRefusalBehavior(to.ledger, lease.workspace),
  };
  const sender = new ImportSender(to, lease, facts, AbortSignal.any([signal, to.stopping]));
  // oxlint-disable-next-line no-await-in-loop -- as many as are sent at once, at most
  for (const chunk of await chunksUnderWay(to.ledger, lease)) await sender.takeUp(chunk);
  const isCanary = standing.canary !== null;
  return await sendRest(to, lease, sender, { probes: waited.after !== null, isCanary, signal });
}

/** What keeps an import from sending, whatever it has to send. A refused key is tried again in its own time (`mayAsk`). */
function whyBlocked({ pauses }: ImportStatus): string | undefined {
  return pauses.find(({ scope, pausedBy }) => scope === 'import' || pausedBy === 'person')?.cause;
}

async function sendRest(
  to: Collaborators,
  lease: ImportLease,
  sender: ImportSender,
  { probes, isCanary, signal }: { probes: boolean; isCanary: boolean; signal: AbortSignal },
): Promise<ImportTurn> {
  const until = performance.now() + turnMs;
  const mayGoOn = (): boolean => performance.now() < until && !signal.aborted && !to.stopping.aborted;
  // After a wait the first answer decides for all: until then one request at a time.
  if (probes) {
    await sender.loop(() => mayGoOn() && sender.requests === 0);
    if (sender.halt === undefined && sender.requests > 0) await answersAgain(to, lease.workspace);
  }
  for (;;) {
    const loops = await Promise.allSettled(Array.from({ length: chunksAtOnce }, () => sender.loop(mayGoOn)));
    const failed = loops.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    const done = { rows: sender.rows, requests: sender.requests };
    const { halt } = sender;
    if (halt?.kind === 'stop' && halt.why === 'cancel') return await cancel(to, lease);
    if (halt?.kind === 'stop') return { ...done, nextDueInMs: longestSleepMs, state: 'paused' };
    if (halt?.kind === 'waits') return { ...done, nextDueInMs: halt.waitMs, state: 'waiting', reason: halt.reason };
    if (!mayGoOn()) return { ...done, nextDueInMs: 0, state: 'working' };
    const dueInMs = await whatIsLeft(to.ledger, lease);
    if (dueInMs !== null && dueInMs > 0) return { ...done, nextDueInMs: dueInMs, state: 'working' };
    if (dueInMs !== null) continue;
    // A canary is over when its rows are: nobody waits for it to wait for others.
    const { claimed, waiting } = isCanary ? noneWaits : await reviewWaiting(to.ledger, lease);
    if (claimed > 0) continue;
    if (waiting > 0) return { ...done, nextDueInMs: otherImportMs, state: 'waiting', reason: 'otherImport' };
    await reviewExisting(to.ledger, lease);
    await endImport(to.ledger, lease);
    to.log.info({ import: lease.id, workspace: lease.workspace, pigeonhole: lease.pigeonholeId }, 'import ended');
    await startReader(to, lease);
    return { ...done, nextDueInMs: 0, state: 'finished' };
  }
}

/** Nothing is sent any more. What an attempt before this one has left under way is unknown, and told as such. */
async function cancel(to: Collaborators, lease: ImportLease): Promise<ImportTurn> {
  await endCancelledImport(to.ledger, lease);
  to.log.info({ import: lease.id, workspace: lease.workspace, pigeonhole: lease.pigeonholeId }, 'import cancelled');
  await startReader(to, lease);
  return { ...idle, nextDueInMs: 0, state: 'finished' };
}

async function answersAgain(to: Collaborators, workspace: string): Promise<void> {
  await workspaceAnswers(to.ledger, workspace);
  await resume(to.ledger, 'workspace', workspace, 'cause');
}

/**
 * An import into a pigeonhole has ended: its reader takes a turn at once, which tells of the registrants, where some sink
 * wants that. Where this is lost, the next turn does the same, ten minutes later at most.
 */
async function startReader(
  to: Collaborators,
  { ref, workspace, pigeonholeId }: { readonly ref: number; readonly workspace: string; readonly pigeonholeId: number },
): Promise<void> {
  const selected = await selectedPigeonholes(to.ledger, syncsOf(to.config, workspace));
  const syncs = selected.find((row) => row.ref === ref)?.syncs ?? [];
  if (!syncs.some((sync) => sinksWanting(to.config, sync, registrantsList).length > 0)) return;
  await to.orchestration.startReading([{ workspace, pigeonholeId }]);
}
