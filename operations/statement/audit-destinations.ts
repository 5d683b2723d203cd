import type { Collaborators } from '../../cycles/collaborators.js';
import { laneParities, type LaneParity } from '../../delivering/parity/lane-parity.js';
import { placeName } from '../../ledger/pauses.js';
import { startAudit } from '../audit-sink.js';
import type { WorkflowStarter } from '../orchestration.js';
import type { StatementProgress } from './statement-desk.js';
import { noteAudits, type StoredStatement } from './statement-store.js';

/** An audit that has not started, or that cannot read the destination, is not waited for after this time. */
const patienceMs = 5 * 60_000;

interface AuditingProcess {
  readonly deps: Pick<Collaborators, 'ledger' | 'config' | 'sinks' | 'log'>;
  readonly starter: Pick<WorkflowStarter, 'wakeSinks'>;
}

/**
 * Requests an audit of every destination of the event that can be audited, once, after everything was delivered. Safe to
 * run twice.
 * @returns true if they have ended, or the rest of them would be waited for in vain
 */
export async function auditDestinations({ deps, starter }: AuditingProcess, stored: StoredStatement): Promise<boolean> {
  const { ledger } = deps;
  if (stored.auditsRequestedAt === null) {
    const at = new Date(ledger.clock.nowMs()); // before the requests, so that their end is later
    const pigeonhole = placeName(stored);
    const audited: string[] = [];
    for (const sink of auditable(deps)) {
      const started = await startAudit({ deps, starter }, { sink, pigeonhole });
      if ('lanes' in started) audited.push(sink);
    }
    await noteAudits(ledger, stored.number, { at, sinks: audited });
    return audited.length === 0;
  }
  const waitedMs = ledger.clock.nowMs() - stored.auditsRequestedAt.getTime();
  const lanes = await requestedLanes(deps, stored);
  return lanes.every((lane) => {
    if (isDone(lane, stored)) return true;
    return waitedMs > patienceMs && (lane.pass === 'requested' || lane.failure !== null);
  });
}

/** Returns how far the audits for a statement are; null: none were requested yet. */
export async function auditProgress(
  deps: Pick<Collaborators, 'ledger'>,
  stored: StoredStatement,
): Promise<StatementProgress['audits']> {
  if (stored.auditsRequestedAt === null) return null;
  const lanes = await requestedLanes(deps, stored);
  const sum = (pick: (lane: LaneParity) => number): number => lanes.reduce((total, lane) => total + pick(lane), 0);
  return {
    destinations: lanes.length,
    done: lanes.filter((lane) => isDone(lane, stored)).length,
    checked: sum((lane) => (isDone(lane, stored) ? lane.total : lane.pass === 'running' ? lane.checked : 0)),
    total: sum(({ total }) => total),
  };
}

function isDone({ endedAt, pass }: LaneParity, { auditsRequestedAt }: StoredStatement): boolean {
  return pass === 'done' && endedAt !== null && endedAt >= auditsRequestedAt!;
}

async function requestedLanes(
  { ledger }: Pick<Collaborators, 'ledger'>,
  { workspace, pigeonholeId, auditedSinks }: StoredStatement,
): Promise<LaneParity[]> {
  const lanes = await laneParities(ledger, { sink: null, workspace, pigeonholeId });
  return lanes.filter(({ sink }) => auditedSinks.includes(sink));
}

function auditable({ sinks }: Pick<Collaborators, 'sinks'>): string[] {
  return [...sinks.values()].flatMap(({ name, sink }) => (sink.readBack === undefined ? [] : [name]));
}
