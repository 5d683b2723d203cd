export interface RestoredFrom {
  /** The instant that the store is back at; null: not known. */
  readonly madeAt: Date | null;
  /** Sinks that are configured now. Without a pause, a sink younger than the backup would start from the beginning. */
  readonly sinks: readonly string[];
  /** The operator who restored it, for the audit log. */
  readonly by: string;
  readonly requestId: string;
}

/** The cause of pauses that only a person lifts, after a look. */
export const restoredCause = 'restored';

/**
 * Returns the statements that have to follow a restore before anything runs, as one script. Changes delivered after the
 * backup would be delivered again, so every sink and every running import pauses until an operator resumes it, and each
 * lane first checks what its sink holds. The result is a text, so that `psql` can run it in the transaction of the restore
 * itself, whatever version made the backup.
 */
export function markRestored({ madeAt, sinks, by, requestId }: RestoredFrom): string {
  const since = madeAt === null ? 'a backup' : `the backup of ${madeAt.toISOString()}`;
  const sinkDetail = `the store was restored from ${since}: what was delivered later would go out again; check the backlog and "pigeonpost preview", then resume`;
  const importDetail = `the store was restored from ${since}: rows created later would be sent again; compare with the service, then resume or cancel`;
  const names = `array[${sinks.map(literal).join(', ')}]::text[]`;
  return `
insert into pauses (scope, name, paused_by, cause, detail)
  select 'sink', name, 'cause', ${literal(restoredCause)}, ${literal(sinkDetail)}
  from (select name from sinks union select unnest(${names})) as s (name)
  union all
  select 'import', id::text, 'cause', ${literal(restoredCause)}, ${literal(importDetail)}
  from imports where state = 'running'
  on conflict (scope, name, paused_by) do update
    set cause = excluded.cause, detail = excluded.detail, fingerprint = null, actor = null, since = now();
update lanes set owner = coalesce(owner, 'restored'), lease_expires_at = now(), epoch = epoch + 1 where true;
with asked as (
  insert into audit (who, action, detail, request_id)
    values (${literal(by)}, 'restore', json_build_object('madeAt', ${madeAt === null ? 'null' : literal(madeAt.toISOString())}), ${literal(requestId)})
    returning number)
insert into audit (asked, outcome, status, request_id) select number, 'done', 200, ${literal(requestId)} from asked;
`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
