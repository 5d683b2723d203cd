import type { Queryable } from '../ledger/drivers/database.js';
import { type CandidateRow, replayedChanges } from './candidates.js';
import type { LaneLease } from '../ledger/lanes.js';

/**
 * Moves the oldest unfinished replay of a lane on, within the lane's lock and behind its watermark.
 * @param lists that the sink wants now: of others nothing is emitted, whatever was asked for
 * @param limit most rows
 * @returns `done`: this replay has looked at everything here
 */
export async function continueReplay(
  tx: Queryable,
  { sinkId, ref }: LaneLease,
  lists: readonly string[],
  limit: number,
): Promise<{ readonly rows: CandidateRow[]; readonly done: boolean }> {
  const [replay] = await tx.query<{
    number: number;
    id: string;
    lists: string | null;
    from_at: Date | null;
    until: number;
    position: number;
  }>(
    `select r.number, r.id, r.lists, r.from_at, l.until, l.position
     from replay_lanes l join replays r on r.number = l.replay
     where l.sink_id = $1 and l.ref = $2 and l.done_at is null order by l.replay limit 1`,
    [sinkId, ref],
  );
  if (replay === undefined) return { rows: [], done: true };
  const asked = replay.lists?.split(' ');
  const { rows, reached } = await replayedChanges(
    tx,
    {
      sinkId,
      ref,
      lists: asked === undefined ? lists : lists.filter((list) => asked.includes(list)),
      after: replay.position,
      until: replay.until,
      from: replay.from_at,
      replay: replay.number,
      replayId: replay.id,
    },
    limit,
  );
  const done = reached >= replay.until;
  await tx.query(
    `update replay_lanes set position = $4, emitted = emitted + $5, done_at = case when $6 then clock_timestamp() end
     where replay = $1 and sink_id = $2 and ref = $3`,
    [replay.number, sinkId, ref, reached, rows.length, done],
  );
  return { rows, done };
}
