import type { Ledger } from '../ledger/ledger.js';

/** Counts of what an observing sink would have sent in one pigeonhole. */
export interface ObservedLane {
  readonly sink: string;
  readonly workspace: string;
  readonly pigeonholeId: number;
  /** Changes that have not been observed yet. */
  readonly behind: number;
  readonly wouldSend: number;
  /** Would be sent without the person's identity. */
  readonly wouldSendAnonymously: number;
  /** By reason. */
  readonly wouldWithhold: Readonly<Record<string, number>>;
}

/** Returns the lanes that are observed, or were until their sink was approved. */
export async function observedLanes(ledger: Ledger): Promise<ObservedLane[]> {
  const lanes = await ledger.db.query<{
    sink_id: number;
    ref: number;
    sink: string;
    workspace: string;
    pigeonhole_id: number;
    behind: number;
  }>(
    `select l.sink_id, l.ref, k.name as sink, p.workspace, p.pigeonhole_id,
       greatest(0, p.next_sequence - 1 - l.observed) as behind
     from lanes l join sinks k on k.id = l.sink_id and k.archived_at is null join pigeonholes p on p.ref = l.ref
     where l.observed is not null order by k.name, p.workspace, p.pigeonhole_id`,
  );
  if (lanes.length === 0) return [];
  const counts = await ledger.db.query<{
    sink_id: number;
    ref: number;
    outcome: string;
    reason: string;
    changes: number;
  }>('select sink_id, ref, outcome, reason, changes from observations order by reason');
  return lanes.map((lane) => {
    const own = counts.filter(({ sink_id: id, ref }) => id === lane.sink_id && ref === lane.ref);
    const changesOf = (outcome: string): number => own.find((row) => row.outcome === outcome)?.changes ?? 0;
    return {
      sink: lane.sink,
      workspace: lane.workspace,
      pigeonholeId: lane.pigeonhole_id,
      behind: lane.behind,
      wouldSend: changesOf('send'),
      wouldSendAnonymously: changesOf('send-anonymous'),
      wouldWithhold: Object.fromEntries(
        own.filter(({ outcome }) => outcome === 'withhold').map(({ reason, changes }) => [reason, changes]),
      ),
    };
  });
}
