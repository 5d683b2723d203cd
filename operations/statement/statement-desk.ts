import type { Collaborators } from '../../cycles/collaborators.js';
import type { Ledger } from '../../ledger/ledger.js';
import { placeName } from '../../ledger/pauses.js';
import { selectedPigeonholes } from '../../ledger/pigeonholes.js';
import { readSnapshot, type StatusSnapshot, type StatusSources } from '../read-status.js';
import type { PigeonholeView } from '../status-view.js';
import { streamReads, type StreamRead } from './count-source.js';
import { sourceLists } from './judge-statement.js';
import { makeStatement } from './make-statement.js';
import { signStatement } from './sign-statement.js';
import { openStatements, requestClosingStatements, type StoredStatement, storeStatement } from './statement-store.js';

/** After this time, a statement is made although lists were not read again. It then names them. */
const giveUpAfterMs = 60 * 60_000;
/** For this time after its request, a statement waits for the service and its quota, because most outages are short. */
const waitForServiceMs = 5 * 60_000;
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
export async function attendToStatements(deps: StatementDeps, wakeReaders: () => void): Promise<void> {
  const { ledger, config } = deps;
  const afterEndMs = config.alerts?.when['closing-statement'];
  if (afterEndMs !== undefined) {
    const selected = await selectedPigeonholes(ledger, Object.keys(config.syncs));
    const numbers = selected.map(({ pigeonholeNumber }) => pigeonholeNumber);
    if (await requestClosingStatements(ledger, numbers, afterEndMs)) wakeReaders();
  }
  for (const statement of await openStatements(ledger)) await attendTo(deps, statement);
}

/** Progress of the reading for a statement. */
export interface StatementProgress {
  readonly lists: number;
  readonly read: number;
  /** Why nothing can be read now, in words; null: it can. */
  readonly blocked: string | null;
}

async function attendTo(deps: StatementDeps, stored: StoredStatement): Promise<void> {
  const { ledger, config, sinks, log } = deps;
  const snapshot = await readSnapshot(deps, null, { withQuotas: false });
  const reads = await readsFor(ledger, stored);
  const blocked = blockedBy(snapshot.status, stored);
  const now = ledger.clock.nowMs();
  const age = now - stored.requestedAt.getTime();
  const isRead = isComplete(reads, snapshot, stored);
  if (!isRead && age < (blocked === null ? giveUpAfterMs : blocked.forMs)) return;
  if (isRead && reads.length > 0) {
    const readAt = Math.max(...reads.flatMap(({ until }) => until?.getTime() ?? []));
    if (now - readAt < settleMs && (await isMoving(ledger, snapshot, stored))) return;
  }
  const sinkIds = new Map([...sinks.values()].map(({ name, id }) => [name, id]));
  const statement = await makeStatement({ ledger, config, status: snapshot.status, sinkIds }, stored, {
    blocked: isRead ? null : (blocked?.why ?? null),
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

/** Returns how far the reading for a statement has come. */
export async function statementProgress(sources: StatusSources, stored: StoredStatement): Promise<StatementProgress> {
  const snapshot = await readSnapshot(sources, stored.workspace, { withQuotas: false });
  const reads = await readsFor(sources.ledger, stored);
  const read = reads.filter(({ isRead }) => isRead).length;
  return { lists: reads.length, read, blocked: blockedBy(snapshot.status, stored)?.why ?? null };
}

/** Whether every list was read again, or nothing is left to read. Pure. */
function isComplete(
  reads: readonly StreamRead[],
  { status }: Pick<StatusSnapshot, 'status'>,
  stored: Pick<StoredStatement, 'workspace' | 'pigeonholeId'>,
): boolean {
  const isGone = placeOf(status, stored)?.goneAt != null;
  return isGone || (reads.length > 0 && reads.every(({ isRead }) => isRead));
}

function placeOf(
  { workspaces }: StatusSnapshot['status'],
  { workspace, pigeonholeId }: Pick<StoredStatement, 'workspace' | 'pigeonholeId'>,
): PigeonholeView | undefined {
  return workspaces.find(({ name }) => name === workspace)?.pigeonholes.find(({ id }) => id === pigeonholeId);
}

/** Why a pigeonhole is not read now, in words, and for how long a statement waits for that. */
interface Block {
  readonly why: string;
  readonly forMs: number;
}

/** Pure. */
function blockedBy(
  status: StatusSnapshot['status'],
  stored: Pick<StoredStatement, 'workspace' | 'pigeonholeId'>,
): Block | null {
  const own = status.workspaces.find(({ name }) => name === stored.workspace);
  const place = placeOf(status, stored);
  if (own === undefined || place === undefined)
    return { why: 'the configuration no longer reads this event', forMs: 0 };
  if (own.pause?.cause === 'credential') return { why: 'the event service does not accept the access key', forMs: 0 };
  if (own.pause !== null || place.pause !== null) return { why: 'the reading is paused', forMs: 0 };
  if (own.unanswered !== null) return { why: 'the event service does not answer', forMs: waitForServiceMs };
  if (own.state !== 'waiting' || own.reason !== 'quota') return null;
  return { why: 'the permitted number of requests to the event service is used up', forMs: waitForServiceMs };
}

/** Whether deliveries or checks of missing items are in progress that a statement should wait for. */
async function isMoving(
  ledger: Ledger,
  { status, lanes }: StatusSnapshot,
  { workspace, pigeonholeId, pigeonholeNumber }: StoredStatement,
): Promise<boolean> {
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
  const rows = await ledger.db.query(`select 1 from missing where pigeonhole_number = $1 and state = 'open' limit 1`, [
    pigeonholeNumber,
  ]);
  return rows.length > 0;
}
