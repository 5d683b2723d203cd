import type { Ledger } from '../ledger/ledger.js';

/** How the reading of one stream stands. */
export interface StreamState {
  readonly list: string;
  /** Null: the list is not read by session. */
  readonly sessionId: number | null;
  /** False: nothing needs it any more. */
  readonly wanted: boolean;
  readonly order: string;
  /** The service's cursor at which the next poll begins; null: at the beginning. */
  readonly checkpoint: string | null;
  readonly dueAt: Date;
  readonly polledAt: Date | null;
  /** The polling interval in force, what decided it, and the interval without what the quota adds; null: not read yet. */
  readonly everyMs: number | null;
  readonly reason: string | null;
  readonly wantedMs: number | null;
  readonly sweepDueAt: Date | null;
  readonly sweptAt: Date | null;
  /** As the last whole sweep has counted. */
  readonly items: number | null;
  readonly pages: number | null;
  readonly changedAt: Date | null;
  /** Reads in a row that found nothing. */
  readonly quietReads: number;
  readonly setAside: number;
  /** Rows of other sessions than the one asked for, in the last whole sweep. */
  readonly foreignRows: number;
  readonly failures: number;
  readonly failure: string | null;
  readonly goneAt: Date | null;
  /** Of the sweep that is under way; null: none is. */
  readonly sweepPages: number | null;
}

export interface StreamPosition {
  readonly list: string;
  readonly sessionId: number;
}

/** The streams of a pigeonhole by list and session. @param after the last one that was shown; null: from the first */
export async function streamStates(
  ledger: Ledger,
  ref: number,
  { after, limit }: { readonly after: StreamPosition | null; readonly limit: number },
): Promise<StreamState[]> {
  return await ledger.db.query<StreamState & Record<string, unknown>>(
    `select s.list, nullif(s.session_id, 0) as "sessionId", s.wanted, s.item_order as order, s.checkpoint,
       s.due_at as "dueAt", s.polled_at as "polledAt", s.every_ms as "everyMs", s.every_reason as reason, s.wanted_ms as "wantedMs", s.sweep_due_at as "sweepDueAt", s.swept_at as "sweptAt",
       s.item_count as items, s.page_count as pages, s.changed_at as "changedAt", s.quiet_reads as "quietReads",
       s.set_aside as "setAside", s.foreign_rows as "foreignRows", s.failures, s.failure, s.gone_at as "goneAt", w.pages as "sweepPages"
     from streams s left join walks w on w.stream_id = s.id and w.kind = 'sweep'
     where s.ref = $1 and ($2::text is null or (s.list, s.session_id) > ($2, $3::int8))
     order by s.list, s.session_id limit $4`,
    [ref, after?.list ?? null, after?.sessionId ?? null, limit],
  );
}
