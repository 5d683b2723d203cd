import type { Ledger } from '../../ledger/ledger.js';
import { isInFuture } from '../../ledger/database-clock.js';
import type { Interruption } from './judge-statement.js';
import type { InterruptionCause } from './statement.js';

/** Something that interrupts the reading now. */
export interface PresentInterruption {
  readonly workspace: string;
  /** Null: the whole workspace. */
  readonly pigeonholeId: number | null;
  readonly cause: InterruptionCause;
  readonly since: Date;
}

/** Interruptions that ended earlier than this are deleted. */
const keptDays = 800;

/**
 * Starts a check of what interrupts the reading, unless a process has checked within the last `everyMs`.
 * @returns undefined if it has; else the instants of this check and of the last one, which is null for the first
 */
export async function startCheck(
  ledger: Ledger,
  everyMs: number,
): Promise<{ readonly at: Date; readonly last: Date | null } | undefined> {
  await ledger.db.query('insert into reading_watch default values on conflict (singleton) do nothing');
  const [row] = await ledger.db.query<{ at: Date; last: Date | null }>(
    `with before as materialized (select checked_at from reading_watch
       where checked_at <= now() - $1::float8 * interval '1 millisecond' or ${isInFuture('checked_at')} for update)
     update reading_watch w set checked_at = now() from before
     returning w.checked_at as at, nullif(before.checked_at, '-infinity') as last`,
    [everyMs],
  );
  return row;
}

/**
 * Stores the interruptions of this moment: those that are new, and the end of those that are over.
 * @param options.stoppedSince set if nothing ran since then, which is an interruption of its own that has just ended
 */
export async function storeInterruptions(
  ledger: Ledger,
  present: readonly PresentInterruption[],
  { at, stoppedSince }: { readonly at: Date; readonly stoppedSince: Date | null },
): Promise<void> {
  const known = await ledger.db.query<{ number: number; name: string }>(
    `select number, coalesce(workspace, '') || ' ' || coalesce(pigeonhole_id, 0) || ' ' || cause as name from interruptions
     where until is null`,
  );
  const names = new Set(present.map(nameOf));
  const over = known.filter(({ name }) => !names.has(name)).map(({ number }) => number);
  const open = new Set(known.map(({ name }) => name));
  const found = present.filter((each) => !open.has(nameOf(each)));
  if (over.length + found.length === 0 && stoppedSince === null) return;
  await ledger.db.transaction(async (tx) => {
    await tx.query(
      'update interruptions set until = greatest(since, $2) where number = any($1::int8[]) and until is null',
      [over, at],
    );
    await tx.query(
      `insert into interruptions (workspace, pigeonhole_id, cause, since)
       select n.workspace, n.pigeonhole_id, n.cause, least(n.since, $5)
       from unnest($1::text[], $2::int8[], $3::text[], $4::timestamptz[]) as n (workspace, pigeonhole_id, cause, since)
       on conflict do nothing`,
      [
        found.map(({ workspace }) => workspace),
        found.map(({ pigeonholeId }) => pigeonholeId),
        found.map(({ cause }) => cause),
        found.map(({ since }) => since),
        at,
      ],
    );
    if (stoppedSince !== null) {
      await tx.query(`insert into interruptions (cause, since, until) values ('stopped', $1, $2)`, [stoppedSince, at]);
    }
    await tx.query(`delete from interruptions where until < now() - ${keptDays} * interval '1 day'`);
  });
}

function nameOf({ workspace, pigeonholeId, cause }: PresentInterruption): string {
  return `${workspace} ${pigeonholeId ?? 0} ${cause}`;
}

/** Returns the interruptions of a pigeonhole since an instant: its own, those of its workspace, and those of everything. */
export async function interruptionsOf(
  ledger: Ledger,
  {
    workspace,
    pigeonholeId,
    since,
  }: { readonly workspace: string; readonly pigeonholeId: number; readonly since: Date },
): Promise<Interruption[]> {
  return await ledger.db.query<Interruption>(
    `select cause, since, until from interruptions
     where (workspace is null or (workspace = $1 and (pigeonhole_id is null or pigeonhole_id = $2)))
       and (until is null or until > $3) order by since`,
    [workspace, pigeonholeId, since],
  );
}
