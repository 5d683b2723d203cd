import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { lackingReasons } from '../sinks/all-reasons.js';
import type { PigeonholeName } from '../cycles/cycle-results.js';
import { isSent, sentByValue } from './lane-plans.js';

/** The lanes of a sink to which a configuration still sends. */
export interface SentLanes {
  readonly sink: string;
  /** Null: of all workspaces. */
  readonly workspace: string | null;
  readonly sentBy: Pick<Config, 'syncs'>;
}

const ownLanes = `from sinks k join lanes l on l.sink_id = k.id
  join pigeonholes p on p.pigeonhole_number = l.pigeonhole_number
  where k.name = $1 and ($2::text is null or p.workspace = $2) and ${isSent('l.sink_id, l.pigeonhole_number', '$3')}`;

function parameters({ sink, workspace, sentBy }: SentLanes): (string | null)[] {
  return [sink, workspace, sentByValue(sentBy)];
}

/** Returns those of the lists of which the destination accepted a change on one of the lanes. */
export async function deliveredLists(ledger: Ledger, lanes: SentLanes, lists: readonly string[]): Promise<Set<string>> {
  if (lists.length === 0) return new Set();
  const rows = await ledger.db.query<{ list: string }>(
    `select n.list from unnest($4::text[]) as n (list) where exists (
       select 1 from sinks k join delivery_counts c on c.sink_id = k.id
         join pigeonholes p on p.pigeonhole_number = c.pigeonhole_number
       where k.name = $1 and c.list = n.list and c.state = 'delivered' and c.changes > 0
         and ($2::text is null or p.workspace = $2) and ${isSent('c.sink_id, c.pigeonhole_number', '$3')})`,
    [...parameters(lanes), lists],
  );
  return new Set(rows.map(({ list }) => list));
}

/** Returns the recent decisions of each lane, as JSON (`RecentByList`). */
export async function recentDecisions(ledger: Ledger, lanes: SentLanes): Promise<string[]> {
  const rows = await ledger.db.query<{ recent: string }>(
    `select l.recent ${ownLanes} and l.recent <> '{}'`,
    parameters(lanes),
  );
  return rows.map(({ recent }) => recent);
}

/** Whether a lane has decisions under other settings of the sink than those with this fingerprint. */
export async function hasOtherSettings(ledger: Ledger, lanes: SentLanes, fingerprint: string): Promise<boolean> {
  const rows = await ledger.db.query(`select 1 ${ownLanes} and l.settings <> $4 limit 1`, [
    ...parameters(lanes),
    fingerprint,
  ]);
  return rows.length > 0;
}

interface SilentCount extends PigeonholeName {
  readonly list: string;
  readonly state: 'withheld';
  readonly reason: string;
  readonly changes: number;
}

/**
 * Returns the counts of the lists of which the sink sent nothing on a lane, and of which some changes lack a value, by
 * lane and list.
 */
export async function silentLanes(ledger: Ledger, lanes: SentLanes): Promise<SilentCount[]> {
  return await ledger.db.query<SilentCount>(
    `with silent as materialized (
       select c.sink_id, c.pigeonhole_number, c.list from sinks k join delivery_counts c on c.sink_id = k.id
       where k.name = $1 and c.changes > 0 and c.state in ('delivered', 'withheld', 'dead')
       group by c.sink_id, c.pigeonhole_number, c.list
       having bool_and(c.state = 'withheld') and bool_or(c.reason = any($4::text[])))
     select p.workspace, p.pigeonhole_id as "pigeonholeId", c.list, c.state, c.reason, c.changes
     from silent s join delivery_counts c on c.sink_id = s.sink_id and c.pigeonhole_number = s.pigeonhole_number
       and c.list = s.list
       join pigeonholes p on p.pigeonhole_number = s.pigeonhole_number
     where c.changes > 0 and c.state = 'withheld' and ($2::text is null or p.workspace = $2)
       and ${isSent('s.sink_id, s.pigeonhole_number', '$3')}
     order by p.workspace, p.pigeonhole_id, c.list, c.reason`,
    [...parameters(lanes), lackingReasons],
  );
}
