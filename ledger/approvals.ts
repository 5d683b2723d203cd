import type { Queryable } from './drivers/database.js';
import type { Ledger } from './ledger.js';
import type { OperatorTexts } from './operator-texts.js';

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

/** Ends the approvals of sinks that no longer observe, or that have another destination now. @param observing all others */
export async function endApprovalsExcept(
  tx: Queryable,
  observing: readonly { readonly sinkId: number; readonly destination: string }[],
): Promise<void> {
  await tx.query(
    `delete from approvals a where not exists (select 1 from unnest($1::int4[], $2::text[]) as n (sink_id, destination)
       where n.sink_id = a.sink_id and n.destination = a.destination)`,
    [observing.map(({ sinkId }) => sinkId), observing.map(({ destination }) => destination)],
  );
}

export async function isApproved(ledger: Ledger, sinkId: number, destination: string): Promise<boolean> {
  const rows = await ledger.db.query('select 1 from approvals where sink_id = $1 and destination = $2', [
    sinkId,
    destination,
  ]);
  return rows.length > 0;
}

/** The reasons that operators gave for approvals. */
export const approvalReasons: OperatorTexts = {
  read: 'select distinct reason as text from approvals where reason is not null',
  erase: 'update approvals set reason = null where reason = any($1::text[])',
};

export async function allApprovals(ledger: Ledger): Promise<Approval[]> {
  return await ledger.db.query<Approval>(
    `select k.name as sink, a.destination, a.approved_by as "approvedBy", a.reason, a.since from approvals a
       join sinks k on k.id = a.sink_id
     where k.archived_at is null order by k.name`,
  );
}
