import type { Ledger } from './ledger.js';

export interface Approval {
  readonly sink: string;
  /** Keyed fingerprint of the destination for which it is approved. */
  readonly destination: string;
  readonly approvedBy: string | null;
  readonly reason: string | null;
  readonly since: Date;
}

/**
 * Allows an observing sink to send to this destination, starting at its watermark. A second approval replaces the name
 * and the reason.
 */
export async function approveSink(
  ledger: Ledger,
  approval: { sinkId: number; destination: string; by: string | null; reason: string | null },
): Promise<void> {
  await ledger.db.query(
    `insert into approvals (sink_id, destination, approved_by, reason) values ($1, $2, $3, $4)
     on conflict (sink_id) do update set destination = excluded.destination, approved_by = excluded.approved_by,
       reason = excluded.reason, since = case when approvals.destination = excluded.destination then approvals.since
       else now() end`,
    [approval.sinkId, approval.destination, approval.by, approval.reason],
  );
}

export async function isApproved(ledger: Ledger, sinkId: number, destination: string): Promise<boolean> {
  const rows = await ledger.db.query('select 1 from approvals where sink_id = $1 and destination = $2', [
    sinkId,
    destination,
  ]);
  return rows.length > 0;
}

export async function allApprovals(ledger: Ledger): Promise<Approval[]> {
  return await ledger.db.query<Approval>(
    `select k.name as sink, a.destination, a.approved_by as "approvedBy", a.reason, a.since from approvals a
       join sinks k on k.id = a.sink_id
     where k.archived_at is null order by k.name`,
  );
}
