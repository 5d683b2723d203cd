import type { Collaborators } from '../../cycles/collaborators.js';
import type { Ledger } from '../../ledger/ledger.js';
import { placeName } from '../../ledger/pauses.js';
import { selectedPigeonholes } from '../../ledger/pigeonholes.js';
import type { WorkflowStarter } from '../orchestration.js';
import { readSnapshot, type StatusSnapshot, type StatusSources } from '../read-status.js';
import { auditDestinations, auditProgress } from './audit-destinations.js';
import { streamReads, type StreamRead } from './count-source.js';
import { sourceLists } from './judge-statement.js';
import { makeStatement } from './make-statement.js';
import { type Hold, holdOf } from './reading-hold.js';
import { signStatement } from './sign-statement.js';
import { openStatements, requestClosingStatements, type StoredStatement, storeStatement } from './statement-store.js';

/** After this time, a statement is made although lists were not read again. It then names them. */
const giveUpAfterMs = 60 * 60_000;
/** Maximum time for which a statement waits, after the lists were read, for deliveries and for checks of missing items. */
const settleMs = 90_000;

/** The parts of a process that the making of statements needs. */
export interface StatementDeps extends StatusSources {
  readonly sinks: Collaborators['sinks'];
  readonly log: Collaborators['log'];
}

/**
 * Requests the closing statements that are due (`alerts.when.closing-statement`), and makes the requested statements
 * whose lists have been read again. Any process may call it at any time: a statement is stored once.
 */
export async function attendToStatements(
  deps: StatementDeps,
  starter: Pick<WorkflowStarter, 'wakeReaders' | 'wakeSinks'>,
): Promise<void> {
  const { ledger, config } = deps;
  const afterEndMs = config.alerts?.when['closing-statement'];
  if (afterEndMs !== undefined) {
    const selected = await selectedPigeonholes(ledger, Object.keys(config.syncs));
    const numbers = selected.map(({ pigeonholeNumber }) => pigeonholeNumber);
    if (await requestClosingStatements(ledger, numbers, afterEndMs)) starter.wakeReaders();
  }
  for (const statement of await openStatements(ledger)) await attendTo(deps, starter, statement);
}

/** Progress of the work for a statement. */
export interface StatementProgress {
  readonly lists: number;
  readonly read: number;
  /** Why nothing can be read now, in words; null: it can. */
  readonly blocked: string | null;
  /** Progress of the audits; null: none were requested, or they start later. */
  readonly audits: {
    readonly destinations: number;
    readonly done: number;
    /** Items that were compared so far, and the number that will probably be. */
    readonly checked: number;
    readonly total: number;
  } | null;
}

/** Asks only about the event of the statement, until everything is read: a process may have thousands of others. */
async function attendTo(
  deps: StatementDeps,
  starter: Pick<WorkflowStarter, 'wakeSinks'>,
  stored: StoredStatement,
): Promise<void> {
  const { ledger, config, sinks, log } = deps;
  const [reads, hold] = await Promise.all([readsFor(ledger, stored), holdOf(deps, stored)]);
  const now = ledger.clock.nowMs();
  const age = now - stored.requestedAt.getTime();
  const isRead = isComplete(reads, hold);
  if (!isRead && age < (hold.why === null ? giveUpAfterMs : hold.forMs)) return;
  if (isRead && reads.length > 0) {
    const readAt = Math.max(...reads.flatMap(({ until }) => until?.getTime() ?? []));
    if (now - readAt < settleMs && (await isMoving(deps, stored))) return;
  }
  const isWaiting = stored.audits && age < giveUpAfterMs;
  if (isWaiting && !(await auditDestinations({ deps, starter }, stored))) return;
  const snapshot = await readSnapshot(deps, null, { withQuotas: false });
  const sinkIds = new Map([...sinks.values()].map(({ name, id }) => [name, id]));
  const statement = await makeStatement({ ledger, config, status: snapshot.status, sinkIds }, stored, {
    blocked: isRead ? null : hold.why,
  });
  const isStored = await storeStatement(ledger, stored.number, {
    document: JSON.stringify(signStatement(statement, ledger.signing)),
    completedAt: new Date(statement.completedAt),
    agrees: statement.agrees,
    open: statement.open.length,
  });
  const { number, occasion } = stored;
  if (isStored)
    log.info({ pigeonhole: nameOf(stored), statement: number, occasion, agrees: statement.agrees }, 'statement made');
}

function nameOf({ workspace, pigeonholeId }: Pick<StoredStatement, 'workspace' | 'pigeonholeId'>): string {
  return placeName({ workspace, pigeonholeId });
}

async function readsFor(
  ledger: Ledger,
  { pigeonholeNumber, requestedAt }: Pick<StoredStatement, 'pigeonholeNumber' | 'requestedAt'>,
): Promise<StreamRead[]> {
  const reads = await streamReads(ledger, pigeonholeNumber, { lists: sourceLists, since: requestedAt });
  return reads.filter(({ isGone }) => !isGone);
}

/** Returns how far the work for a statement has come. */
export async function statementProgress(
  sources: Pick<StatusSources, 'ledger' | 'config'>,
  stored: StoredStatement,
): Promise<StatementProgress> {
  const { ledger } = sources;
  const [reads, hold, audits] = await Promise.all([
    readsFor(ledger, stored),
    holdOf(sources, stored),
    auditProgress(sources, stored),
  ]);
  return { lists: reads.length, read: reads.filter(({ isRead }) => isRead).length, blocked: hold.why, audits };
}

/** Whether every list was read again, or nothing is left to read. Pure. */
function isComplete(reads: readonly StreamRead[], { isGone }: Hold): boolean {
  return isGone || (reads.length > 0 && reads.every(({ isRead }) => isRead));
}

/** Whether deliveries or checks of missing items are in progress that a statement should wait for. */
async function isMoving(
  deps: StatementDeps,
  { workspace, pigeonholeId, pigeonholeNumber }: StoredStatement,
): Promise<boolean> {
  const { status, lanes }: StatusSnapshot = await readSnapshot(deps, null, { withQuotas: false });
  const stopped = new Set(
    status.sinks
      .filter(({ state, approval, mode }) => state !== 'working' || (mode === 'observe' && approval === null))
      .map(({ name }) => name),
  );
  const isDelivering = lanes.some(
    (lane) =>
      lane.workspace === workspace &&
      lane.pigeonholeId === pigeonholeId &&
      lane.behind + lane.open > 0 &&
      !stopped.has(lane.sink),
  );
  if (isDelivering) return true;
  const rows = await deps.ledger.db.query(
    `select 1 from missing where pigeonhole_number = $1 and state = 'open' limit 1`,
    [pigeonholeNumber],
  );
  return rows.length > 0;
}
