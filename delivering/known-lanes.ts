import type { Ledger } from '../ledger/ledger.js';

/** A lane as the ledger has it, of a sink that is configured or was. */
export interface KnownLane {
  readonly sink: string;
  readonly sinkId: number;
  readonly isArchived: boolean;
  readonly ref: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly watermark: number;
  /** Null: it was never sent on. */
  readonly configuration: number | null;
  readonly lists: readonly string[];
}

/** Every lane of these sinks, archived ones too. */
export async function knownLanes(ledger: Ledger, sinks: readonly string[]): Promise<KnownLane[]> {
  const rows = await ledger.db.query<{
    sink: string;
    sink_id: number;
    archived: boolean;
    ref: number;
    workspace: string;
    pigeonhole_id: number;
    watermark: number;
    configuration: number | null;
    lists: string;
  }>(
    `select k.name as sink, k.id as sink_id, k.archived_at is not null as archived, l.ref, p.workspace,
       p.pigeonhole_id, l.watermark, l.configuration, l.lists
     from lanes l join sinks k on k.id = l.sink_id join pigeonholes p on p.ref = l.ref
     where k.name = any($1::text[]) order by k.name, p.ref`,
    [sinks],
  );
  return rows.map((row) => ({
    sink: row.sink,
    sinkId: row.sink_id,
    isArchived: row.archived,
    ref: row.ref,
    workspace: row.workspace,
    pigeonholeId: row.pigeonhole_id,
    watermark: row.watermark,
    configuration: row.configuration,
    lists: row.lists.split(' ').filter(Boolean),
  }));
}

/** Changes of these lists behind a watermark, by list. */
export async function countChangesBehind(
  ledger: Ledger,
  lane: { ref: number; watermark: number; lists: readonly string[] },
): Promise<{ list: string; changes: number }[]> {
  return await ledger.db.query<{ list: string; changes: number }>(
    `select list, count(*)::int as changes from changes
     where ref = $1 and sequence > $2 and list = any($3::text[]) group by list order by list`,
    [lane.ref, lane.watermark, lane.lists],
  );
}

/** What is withheld from a sink in a pigeonhole, by list and reason. */
export async function countWithheld(
  ledger: Ledger,
  {
    sinkId,
    ref,
    lists,
    keys,
  }: { sinkId: number; ref: number; lists: readonly string[]; keys: readonly string[] | null },
): Promise<{ list: string; reason: string; changes: number }[]> {
  return await ledger.db.query<{ list: string; reason: string; changes: number }>(
    `select list, reason, count(*)::int as changes from deliveries
     where sink_id = $1 and ref = $2 and list = any($3::text[]) and state = 'withheld' and replay = 0
       and ($4::text[] is null or key = any($4::text[]))
     group by list, reason order by list, reason`,
    [sinkId, ref, lists, keys],
  );
}
