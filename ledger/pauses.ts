import type { Queryable } from './drivers/database.js';
import type { Ledger } from './ledger.js';
import type { OperatorTexts } from './operator-texts.js';
import { raiseAsked, raiseAskedOfWorkspace } from './pigeonholes-asked.js';
import { literal } from './sql-expressions.js';

export type PauseScope = 'workspace' | 'pigeonhole' | 'sink' | 'import';

export interface Pause {
  readonly scope: PauseScope;
  readonly name: string;
  readonly pausedBy: 'person' | 'cause';
  readonly cause: string;
  readonly detail: string;
  readonly fingerprint: string | null;
  /** The operator who paused it; null: pigeonpost paused it, or the operator is not known. */
  readonly actor: string | null;
  readonly since: Date;
}

/** Returns `workspace/id`, the name of a pigeonhole in pauses, in the status and for people. */
export function placeName({ workspace, pigeonholeId }: { workspace: string; pigeonholeId: number }): string {
  return `${workspace}/${pigeonholeId}`;
}

/** Returns the pigeonhole with this name; undefined if it is not the name of a pigeonhole. Pure. */
export function placeNamed(name: string): { workspace: string; pigeonholeId: number } | undefined {
  const [, workspace, id] = /^([^/]+)\/([1-9]\d{0,15})$/.exec(name) ?? [];
  const pigeonholeId = Number(id);
  if (workspace === undefined || !Number.isSafeInteger(pigeonholeId)) return undefined;
  return { workspace, pigeonholeId };
}

/** Stores a pause. A second pause by the same party replaces only the reason and the operator. */
export async function pause(
  ledger: Ledger,
  entry: Omit<Pause, 'since' | 'actor'> & Partial<Pick<Pause, 'actor'>>,
): Promise<void> {
  await ledger.db.transaction(async (tx) => {
    await tellReaders(tx, entry);
    await tx.query(
      `insert into pauses (scope, name, paused_by, cause, detail, fingerprint, actor)
       values ($1, $2, $3, $4, $5, $6, $7)
       on conflict (scope, name, paused_by) do update set cause = excluded.cause, detail = excluded.detail,
         fingerprint = excluded.fingerprint, actor = excluded.actor`,
      [entry.scope, entry.name, entry.pausedBy, entry.cause, entry.detail, entry.fingerprint, entry.actor ?? null],
    );
  });
}

async function tellReaders(tx: Queryable, { scope, name }: Pick<Pause, 'scope' | 'name'>): Promise<void> {
  if (scope === 'workspace') await raiseAskedOfWorkspace(tx, name);
  if (scope !== 'pigeonhole') return;
  const rows = await tx.query<{ pigeonholeNumber: number }>(
    `select pigeonhole_number as "pigeonholeNumber" from pigeonholes where workspace || '/' || pigeonhole_id = $1`,
    [name],
  );
  await raiseAsked(
    tx,
    rows.map(({ pigeonholeNumber }) => pigeonholeNumber),
  );
}

/** Lifts the pause by one party: the operator (`person`) or a problem (`cause`). @returns true if there was one */
export async function resume(
  ledger: Ledger,
  scope: PauseScope,
  name: string,
  by: 'person' | 'cause',
): Promise<boolean> {
  const where = 'from pauses where scope = $1 and name = $2 and paused_by = $3';
  return await ledger.db.transaction(async (tx) => {
    const paused = await tx.query(`select name ${where}`, [scope, name, by]);
    if (paused.length === 0) return false;
    await tellReaders(tx, { scope, name }); // locks the pigeonholes before the pause, as `pause` does
    const rows = await tx.query(`delete ${where} returning name`, [scope, name, by]);
    return rows.length > 0;
  });
}

const selectPauses = `select scope, name, paused_by as "pausedBy", cause, detail, fingerprint, actor, since from pauses`;

/** Returns the pauses with these names. If there are none, work may continue. */
export async function pausesOf(
  ledger: Ledger,
  names: readonly { scope: PauseScope; name: string }[],
): Promise<Pause[]> {
  return await ledger.db.query<Pause>(
    `${selectPauses}
     where (scope, name) in (select * from unnest($1::text[], $2::text[]))`,
    [names.map(({ scope }) => scope), names.map(({ name }) => name)],
  );
}

/**
 * Lifts pauses for a rejected credential if the credential has changed since, because the rejection concerned only the
 * old one.
 */
export async function liftChangedCredential(
  ledger: Ledger,
  scope: PauseScope,
  name: string,
  fingerprint: string,
): Promise<void> {
  await ledger.db.query(
    `delete from pauses where scope = $1 and name = $2 and paused_by = 'cause' and cause = 'credential'
       and fingerprint is distinct from $3`,
    [scope, name, fingerprint],
  );
}

/**
 * Returns a sink's pause. Lifts a pause because of credentials that the sink no longer uses: if a batch was in progress
 * when the configuration changed, its refusal arrives after the new credentials.
 * @param sink.fingerprint of the sink's present settings; null if it has none
 */
export async function pauseOfSink(
  ledger: Ledger,
  { name, fingerprint }: { readonly name: string; readonly fingerprint: string | null },
): Promise<Pause | undefined> {
  const names = [{ scope: 'sink', name }] as const;
  const [pause] = await pausesOf(ledger, names);
  if (pause === undefined || fingerprint === null) return pause;
  await liftChangedCredential(ledger, 'sink', name, fingerprint);
  return (await pausesOf(ledger, names))[0];
}

/** Lifts all pauses of something that has ended. */
export async function endPausesOf(tx: Queryable, scope: PauseScope, name: string): Promise<void> {
  await tx.query('delete from pauses where scope = $1 and name = $2', [scope, name]);
}

/** The reasons that operators gave for pauses. */
export const pauseReasons: OperatorTexts = {
  read: `select distinct detail as text from pauses where paused_by = 'person'`,
  erase: `update pauses set detail = '(reason erased)' where paused_by = 'person' and detail = any($1::text[])`,
};

/**
 * Returns a script that pauses every sink, and every import that is running, after a restore. An operator has to resume
 * them.
 * @param terms.sinks names of the sinks that are configured now, which the store may not know
 */
export function pauseRestored({
  sinks,
  cause,
  sinkDetail,
  importDetail,
}: {
  readonly sinks: readonly string[];
  readonly cause: string;
  readonly sinkDetail: string;
  readonly importDetail: string;
}): string {
  return `insert into pauses (scope, name, paused_by, cause, detail)
  select 'sink', name, 'cause', ${literal(cause)}, ${literal(sinkDetail)}
  from (select name from sinks union select unnest(array[${sinks.map(literal).join(', ')}]::text[])) as s (name)
  union all
  select 'import', id::text, 'cause', ${literal(cause)}, ${literal(importDetail)}
  from imports where state = 'running'
  on conflict (scope, name, paused_by) do update
    set cause = excluded.cause, detail = excluded.detail, fingerprint = null, actor = null, since = now();`;
}

/** Returns all pauses. */
export async function allPauses(ledger: Ledger): Promise<Pause[]> {
  return await ledger.db.query<Pause>(`${selectPauses} order by scope, name, paused_by`);
}
