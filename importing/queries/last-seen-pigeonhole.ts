import type { Ledger } from '../../ledger/ledger.js';

/** A pigeonhole as the service's own list showed it last, as canonical JSON; undefined: it never did. */
export async function lastSeenPigeonhole(
  ledger: Ledger,
  workspace: string,
  pigeonholeId: number,
): Promise<{ readonly payload: string; readonly seenAt: Date } | undefined> {
  const [row] = await ledger.db.query<{ payload: string; seen_at: Date }>(
    `select i.payload, i.seen_at from items i join pigeonholes p on p.ref = i.ref
     where p.workspace = $1 and p.pigeonhole_id = 0 and i.list = 'pigeonholes' and i.key = $2 and i.payload is not null`,
    [workspace, String(pigeonholeId)],
  );
  return row === undefined ? undefined : { payload: row.payload, seenAt: row.seen_at };
}
