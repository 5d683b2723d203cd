import type { Queryable } from '../../ledger/drivers/database.js';
import type { Ledger } from '../../ledger/ledger.js';
import { readableJson } from '../../ledger/sql-expressions.js';
import type { JudgedIncidents, KnownIncident } from './judge-incidents.js';

/** Time for which ended incidents are kept. */
export const keptDays = 30;

const columns = `number, code, kind, subject, since, quiet_since as "quietSince", ended_at as "endedAt", returns, title, says,
  advice, page, noted_at as "notedAt"`;

/** Reads the incidents that are open or ended within the last `endedWithinMs`. */
export async function readIncidents(ledger: Ledger, endedWithinMs: number): Promise<KnownIncident[]> {
  return await ledger.db.query<KnownIncident>(
    `select ${columns} from incidents
     where ended_at is null or ended_at > now() - $1::float8 * interval '1 millisecond'`,
    [endedWithinMs],
  );
}

/** Stores the result of a check. @param at instant of the check */
export async function storeIncidents(tx: Queryable, { opened, changed }: JudgedIncidents, at: Date): Promise<void> {
  if (changed.length > 0) {
    await tx.query(
      `update incidents i set quiet_since = n."quietSince", ended_at = n."endedAt", returns = n.returns, title = n.title,
         says = n.says, advice = n.advice, page = n.page, noted_at = n."notedAt"
       from json_to_recordset(${readableJson('$1::json')}) as n (number int8, "quietSince" timestamptz,
         "endedAt" timestamptz, returns int4, title text, says text, advice text, page text, "notedAt" timestamptz)
       where i.number = n.number`,
      [JSON.stringify(changed)],
    );
  }
  if (opened.length > 0) {
    await tx.query(
      `insert into incidents (code, kind, subject, since, title, says, advice, page, noted_at)
       select code, kind, subject, since, title, says, advice, page, $2::timestamptz
       from json_to_recordset(${readableJson('$1::json')}) as n (code text, kind text, subject text, since timestamptz,
         title text, says text, advice text, page text)
       on conflict (code, kind, subject) where ended_at is null do nothing`,
      [JSON.stringify(opened), at],
    );
  }
}

/** Problems of an alert, by what the incidents are called. */
export interface NotifiedAbout {
  readonly codes: readonly string[];
  readonly subjects: readonly string[];
  readonly kind: 'raised' | 'recovered';
}

/** A recovery is reported up to an hour after the end of its problem. */
const notifiedWithinHours = 2;

/** Records that a receiver accepted an alert about the incidents that are open or ended recently. */
export async function noteNotified(
  tx: Queryable,
  receiver: string,
  { codes, subjects, kind }: NotifiedAbout,
): Promise<void> {
  await tx.query(
    `insert into incident_notices (incident, receiver, kind)
     select number, $1, $2 from incidents
     where code = any($3::text[]) and subject = any($4::text[])
       and (ended_at is null or ended_at > now() - $5::int4 * interval '1 hour')
     on conflict (incident, receiver, kind) do update set at = excluded.at`,
    [receiver, kind, codes, subjects, notifiedWithinHours],
  );
}

/** The part that a caller with one workspace may see: the workspace, and the sinks that serve no other one. */
export interface IncidentScope {
  readonly workspace: string;
  readonly sinks: readonly string[];
}

export interface IncidentNotice {
  readonly receiver: string;
  readonly kind: 'raised' | 'recovered';
  readonly at: Date;
}

/** An incident with those who were notified about it. */
export type IncidentRow = KnownIncident & { readonly notified: readonly IncidentNotice[] };

/**
 * Returns incidents, newest first.
 * @param choice.isOpen only those that last, or that have ended; null: all
 * @param choice.since only those that had not ended at this instant; null: all
 * @param choice.scope null: all
 */
export async function listIncidents(
  ledger: Ledger,
  {
    isOpen,
    since,
    scope,
  }: { readonly isOpen: boolean | null; readonly since: Date | null; readonly scope: IncidentScope | null },
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Promise<IncidentRow[]> {
  const rows = await ledger.db.query<KnownIncident & { notified: string }>(
    `select ${columns}, (select coalesce(json_agg(json_build_object('receiver', t.receiver, 'kind', t.kind, 'at',
         (extract(epoch from t.at) * 1000)::int8) order by t.at), '[]')::text
       from incident_notices t where t.incident = incidents.number) as notified
     from incidents
     where ($1::bool is null or (ended_at is null) = $1) and ($2::timestamptz is null or ended_at is null or ended_at > $2)
       and ($3::text is null or kind = 'process' or kind = 'workspace' and subject = $3
         or kind = 'pigeonhole' and split_part(subject, '/', 1) = $3 or kind = 'sink' and subject = any($4::text[]))
       and ($5::int8 is null or number < $5)
     order by number desc limit $6`,
    [isOpen, since, scope?.workspace ?? null, scope?.sinks ?? [], before, limit],
  );
  return rows.map(({ notified, ...row }) => {
    const notices = JSON.parse(notified) as (Omit<IncidentNotice, 'at'> & { at: number })[];
    return { ...row, notified: notices.map((each) => ({ ...each, at: new Date(each.at) })) };
  });
}

/** Deletes incidents that ended more than `keptDays` ago. */
export async function trimIncidents({ db }: Pick<Ledger, 'db'>): Promise<void> {
  await db.query(`delete from incidents where ended_at < now() - $1::int4 * interval '1 day'`, [keptDays]);
}
