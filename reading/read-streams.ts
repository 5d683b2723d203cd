import type { Ledger } from '../ledger/ledger.js';

/** State of one stream, for status and the page. */
export interface StreamState {
  readonly list: string;
  /** Null: the list is not read by session. */
  readonly sessionId: number | null;
  /** False: no sync needs the stream any longer. */
  readonly wanted: boolean;
  readonly order: string;
  /** Cursor at which the next poll starts; null: the first page. */
  readonly checkpoint: string | null;
  readonly dueAt: Date;
  readonly polledAt: Date | null;
  /** The polling interval in force, its reason, and the interval before the quota lengthened it; null: not read yet. */
  readonly everyMs: number | null;
  readonly reason: string | null;
  readonly wantedMs: number | null;
  readonly sweepDueAt: Date | null;
  readonly sweptAt: Date | null;
  /** Counts of the last complete sweep. */
  readonly items: number | null;
  readonly pages: number | null;
  readonly changedAt: Date | null;
  /** Number of consecutive reads that found nothing. */
  readonly quietReads: number;
  /**
   * Number of rows that the last complete sweep did not store, because no key can be formed from them or they are
   * nested too deep.
   */
  readonly setAside: number;
  /** Number of rows of other sessions than the requested one, in the last complete sweep. */
  readonly foreignRows: number;
  readonly failures: number;
  readonly failure: string | null;
  readonly goneAt: Date | null;
  /** Number of pages read by the sweep in progress; null: no sweep is in progress. */
  readonly sweepPages: number | null;
}

export interface StreamPosition {
  readonly list: string;
  readonly sessionId: number;
}

/**
 * Returns the streams of a pigeonhole in the order of list and session.
 * @param after the last stream of the previous call; null: starts with the first stream
 */
export async function streamStates(
  ledger: Ledger,
  ref: number,
  { after, limit }: { readonly after: StreamPosition | null; readonly limit: number },
): Promise<StreamState[]> {
  return await ledger.db.query<StreamState>(
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
