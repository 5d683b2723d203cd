import type { Queryable } from './drivers/database.js';
import type { Ledger } from './ledger.js';

/* Owner of the table `observations`: every statement that writes it. A row counts what an observing sink would do. */

type LaneName = { readonly sinkId: number; readonly pigeonholeNumber: number };

/** Number of changes with one outcome. */
export interface ObservedCount {
  readonly outcome: 'send' | 'send-anonymous' | 'withhold' | 'supersede';
  /** Empty if the outcome needs none. */
  readonly reason: string;
  readonly changes: number;
}

/** Adds to the counts of a lane. */
export async function addObserved(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  counts: readonly ObservedCount[],
): Promise<void> {
  await tx.query(
    `insert into observations (sink_id, pigeonhole_number, outcome, reason, changes)
     select $1, $2, n.* from unnest($3::text[], $4::text[], $5::int8[]) as n
     on conflict (sink_id, pigeonhole_number, outcome, reason) do update
       set changes = observations.changes + excluded.changes`,
    [
      sinkId,
      pigeonholeNumber,
      counts.map(({ outcome }) => outcome),
      counts.map(({ reason }) => reason),
      counts.map(({ changes }) => changes),
    ],
  );
}

/** Deletes the counts of a lane, which is observed again from its watermark on. */
export async function restartObservation(tx: Queryable, { sinkId, pigeonholeNumber }: LaneName): Promise<void> {
  await tx.query('delete from observations where sink_id = $1 and pigeonhole_number = $2', [sinkId, pigeonholeNumber]);
}

/** Deletes the counts of all sinks but these. */
export async function dropObservations(tx: Queryable, exceptSinkIds: readonly number[]): Promise<void> {
  await tx.query('delete from observations where sink_id <> all($1::int4[])', [exceptSinkIds]);
}

/** Counts of what an observing sink would have sent in one pigeonhole. */
export interface ObservedLane {
  readonly sink: string;
  readonly workspace: string;
  readonly pigeonholeId: number;
  /** The configuration under which the counts were made. */
  readonly configuration: number | null;
  /** Number of changes that have not been observed yet. */
  readonly behind: number;
  readonly wouldSend: number;
  /** Number of changes that would be sent without the person's identity. */
  readonly wouldSendAnonymously: number;
  /** Number of changes by reason. */
  readonly wouldWithhold: Readonly<Record<string, number>>;
}

/** Returns the lanes of sinks that observe, or that observed before they were approved. */
export async function observedLanes(ledger: Ledger): Promise<ObservedLane[]> {
  type Lane = Pick<ObservedLane, 'sink' | 'workspace' | 'pigeonholeId' | 'configuration' | 'behind'>;
  const lanes = await ledger.db.query<Lane & { sinkId: number; pigeonholeNumber: number }>(
    `select l.sink_id as "sinkId", l.pigeonhole_number as "pigeonholeNumber", k.name as sink, p.workspace,
       p.pigeonhole_id as "pigeonholeId",
       l.observed_configuration as configuration, greatest(0, p.next_sequence - 1 - l.observed) as behind
     from lanes l join sinks k on k.id = l.sink_id and k.archived_at is null
       join pigeonholes p on p.pigeonhole_number = l.pigeonhole_number
     where l.observed is not null order by k.name, p.workspace, p.pigeonhole_id`,
  );
  if (lanes.length === 0) return [];
  const counts = await ledger.db.query<{
    sinkId: number;
    pigeonholeNumber: number;
    outcome: string;
    reason: string;
    changes: number;
  }>(
    `select sink_id as "sinkId", pigeonhole_number as "pigeonholeNumber", outcome, reason, changes from observations
       order by reason`,
  );
  return lanes.map(({ sinkId, pigeonholeNumber, ...lane }) => {
    const own = counts.filter((row) => row.sinkId === sinkId && row.pigeonholeNumber === pigeonholeNumber);
    const changesOf = (outcome: string): number => own.find((row) => row.outcome === outcome)?.changes ?? 0;
    return {
      ...lane,
      wouldSend: changesOf('send'),
      wouldSendAnonymously: changesOf('send-anonymous'),
      wouldWithhold: Object.fromEntries(
        own.filter(({ outcome }) => outcome === 'withhold').map(({ reason, changes }) => [reason, changes]),
      ),
    };
  });
}
