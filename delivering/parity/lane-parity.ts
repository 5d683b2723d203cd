import type { Config } from '../../config/config.js';
import type { Ledger } from '../../ledger/ledger.js';
import { isSent, sentByValue } from '../lane-plans.js';
import type { ParityClass, RepairAction } from './judge-held.js';

/* Reads the results of audits. The counts of a class are those of its findings, so they change as soon as a repair is verified. */

/** The audit of a sink in one pigeonhole. */
export interface LaneParity {
  readonly sink: string;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly pass: 'never' | 'requested' | 'running' | 'done';
  /** Start of the pass in progress. */
  readonly startedAt: Date | null;
  /** End of the last finished pass, to which `compared` belongs. */
  readonly endedAt: Date | null;
  /** Number of items, or of revisions in a log, that the last finished pass compared. */
  readonly compared: number;
  /** Number of items that the pass in progress has compared, and the number that it will probably compare. */
  readonly checked: number;
  readonly total: number;
  /** Why the pass in progress waits; null: it does not. */
  readonly failure: string | null;
  /** Number of findings of a repair in progress. */
  readonly repairing: number;
  /** By class; `extra` includes further copies of items. */
  readonly counts: Readonly<Record<ParityClass, number>>;
  /** Part of `stale`: those that only a changed mapping or related items explain, which no lost delivery caused. */
  readonly explained: number;
}

export interface ParityScope {
  readonly sink: string | null;
  readonly workspace: string | null;
  readonly pigeonholeId: number | null;
}

const scopeCondition = `k.archived_at is null and ($1::text is null or k.name = $1)
  and ($2::text is null or g.workspace = $2) and ($3::int8 is null or g.pigeonhole_id = $3)`;

/** Returns the audits of lanes that were requested or started at least once, by sink and pigeonhole. */
export async function laneParities(ledger: Ledger, of: ParityScope): Promise<LaneParity[]> {
  const rows = await ledger.db.query<Omit<LaneParity, 'counts'> & { counts: string; copies: number }>(
    `select k.name as sink, g.workspace, g.pigeonhole_id as "pigeonholeId",
       case when p.requested_at is not null then 'requested' when p.started_at is not null then 'running'
         when p.ended_at is not null then 'done' else 'never' end as pass,
       p.started_at as "startedAt", p.ended_at as "endedAt", p.compared, p.checked, p.failure,
       greatest(p.checked, p.compared, coalesce((select sum(c.items) from item_counts c
         where c.pigeonhole_number = p.pigeonhole_number and (l.lists = '' or c.list = any(string_to_array(l.lists, ' ')))), 0))::int as total,
       coalesce(f.counts, '{}') as counts, coalesce(f.copies, 0)::int as copies,
       coalesce(f.repairing, 0)::int as repairing, coalesce(f.explained, 0)::int as explained
     from parity_passes p
       join sinks k on k.id = p.sink_id
       join pigeonholes g on g.pigeonhole_number = p.pigeonhole_number
       join lanes l on l.sink_id = p.sink_id and l.pigeonhole_number = p.pigeonhole_number
       left join lateral (
         select json_object_agg(n.class, n.count)::text as counts, sum(n.copies) as copies, sum(n.repairing) as repairing,
           sum(n.explained) as explained
         from (select class, count(*)::int as count, count(*) filter (where copy <> '') as copies,
             count(*) filter (where repair is not null) as repairing,
             count(*) filter (where class = 'stale' and cause <> 'revision') as explained
           from parity_findings where sink_id = p.sink_id and pigeonhole_number = p.pigeonhole_number group by class) n) f on true
     where ${scopeCondition}
     order by k.name, g.workspace, g.pigeonhole_id`,
    [of.sink, of.workspace, of.pigeonholeId],
  );
  return rows.map(({ counts, copies, ...row }) => {
    const found = { ...noFindings, ...(JSON.parse(counts) as Partial<Record<ParityClass, number>>) };
    const { undelivered, ...compared } = found;
    const differing = Object.values(compared).reduce((sum, count) => sum + count, 0) - copies;
    const same = row.endedAt === null ? 0 : Math.max(0, row.compared - differing);
    return { ...row, counts: { ...found, undelivered, same } };
  });
}

const noFindings: Record<ParityClass, number> = {
  same: 0,
  stale: 0,
  changed: 0,
  missing: 0,
  extra: 0,
  unreadable: 0,
  undelivered: 0,
};

/** One difference that an audit found. */
export interface ParityFinding {
  readonly number: number;
  readonly sink: string;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly list: string;
  readonly key: string;
  readonly revision: number;
  readonly class: Exclude<ParityClass, 'same'>;
  /** Id of a further object with our mark; null: the item itself. */
  readonly copy: string | null;
  readonly fields: readonly string[];
  readonly cause: string | null;
  readonly changedBy: string | null;
  readonly changedAt: Date | null;
  readonly foundAt: Date;
  /** Action of a repair; null: an operator has to act. */
  readonly action: RepairAction | null;
  readonly repairing: boolean;
}

export interface FindingScope extends ParityScope {
  readonly class: string | null;
  /** Only the findings of one item. */
  readonly item: { readonly list: string; readonly key: string } | null;
  /** Only findings after this number. */
  readonly after: number;
  readonly limit: number;
}

/** Returns findings by number. */
export async function parityFindings(ledger: Ledger, of: FindingScope): Promise<ParityFinding[]> {
  const rows = await ledger.db.query<Omit<ParityFinding, 'fields'> & { fields: string }>(
    `select f.number, k.name as sink, g.workspace, g.pigeonhole_id as "pigeonholeId", f.list, f.key, f.revision, f.class,
       nullif(f.copy, '') as copy, array_to_json(f.fields)::text as fields, f.cause, f.changed_by as "changedBy",
       f.changed_at as "changedAt", f.seen_at as "foundAt", f.action, f.repair is not null as repairing
     from parity_findings f join sinks k on k.id = f.sink_id join pigeonholes g on g.pigeonhole_number = f.pigeonhole_number
     where ${scopeCondition} and ($4::text is null or f.class = $4)
       and ($5::text is null or (f.list = $5 and f.key = $6)) and f.number > $7
     order by f.number limit $8`,
    [of.sink, of.workspace, of.pigeonholeId, of.class, of.item?.list ?? null, of.item?.key ?? null, of.after, of.limit],
  );
  return rows.map(({ fields, ...row }) => ({ ...row, fields: JSON.parse(fields) as string[] }));
}

/** The plan of a repair. */
export interface RepairPlan {
  /** Number of the newest finding. A repair contains none that is newer. */
  readonly until: number;
  readonly actions: Readonly<Record<RepairAction, number>>;
  /** Findings that only an operator can resolve at the destination. */
  readonly byHand: number;
}

/** Returns the plan of a repair of all findings of a sink's lanes that no repair contains yet. */
export async function planRepair(ledger: Ledger, of: ParityScope): Promise<RepairPlan> {
  const rows = await ledger.db.query<{ action: RepairAction | null; count: number; until: number }>(
    `select f.action, count(*)::int as count, max(f.number) as until
     from parity_findings f join sinks k on k.id = f.sink_id join pigeonholes g on g.pigeonhole_number = f.pigeonhole_number
     where ${scopeCondition} and f.repair is null and f.class not in ('undelivered', 'unreadable') group by f.action`,
    [of.sink, of.workspace, of.pigeonholeId],
  );
  const countOf = (action: RepairAction | null): number => rows.find((row) => row.action === action)?.count ?? 0;
  return {
    until: Math.max(0, ...rows.map(({ until }) => until)),
    actions: { send: countOf('send'), remove: countOf('remove'), 'remove-copy': countOf('remove-copy') },
    byHand: countOf(null),
  };
}

/** The audits of a sink in one workspace, added up. */
export interface SinkParity {
  readonly sink: string;
  readonly workspace: string;
  /** End of the last finished pass, of the lane for which it is longest ago; null: none has finished. */
  readonly auditedAt: Date | null;
  /** Number of items, or of revisions in a log, that the last finished passes compared. */
  readonly compared: number;
  /** Without those that a changed mapping or changed related items explain. */
  readonly stale: number;
  readonly explained: number;
  readonly changed: number;
  readonly missing: number;
  readonly extra: number;
  readonly unreadable: number;
}

/**
 * Returns the audits of each sink in each workspace, without the lanes to which the configuration no longer sends. Its cost
 * depends on the number of lanes and of differences.
 */
export async function sinkParities(ledger: Ledger, config: Pick<Config, 'syncs'>): Promise<SinkParity[]> {
  return await ledger.db.query<SinkParity>(
    `with found as materialized (
       select sink_id, pigeonhole_number,
         count(*) filter (where class = 'stale' and cause = 'revision') as stale,
         count(*) filter (where class = 'stale' and cause <> 'revision') as explained,
         count(*) filter (where class = 'changed') as changed, count(*) filter (where class = 'missing') as missing,
         count(*) filter (where class = 'extra') as extra, count(*) filter (where class = 'unreadable') as unreadable
       from parity_findings group by sink_id, pigeonhole_number)
     select k.name as sink, g.workspace, min(p.ended_at) as "auditedAt", sum(p.compared)::int as compared,
       coalesce(sum(f.stale), 0)::int as stale, coalesce(sum(f.explained), 0)::int as explained,
       coalesce(sum(f.changed), 0)::int as changed, coalesce(sum(f.missing), 0)::int as missing,
       coalesce(sum(f.extra), 0)::int as extra, coalesce(sum(f.unreadable), 0)::int as unreadable
     from parity_passes p
       join sinks k on k.id = p.sink_id and k.archived_at is null
       join pigeonholes g on g.pigeonhole_number = p.pigeonhole_number
       left join found f on f.sink_id = p.sink_id and f.pigeonhole_number = p.pigeonhole_number
     where ${isSent('p.sink_id, p.pigeonhole_number', '$1')}
     group by k.name, g.workspace order by k.name, g.workspace`,
    [sentByValue(config)],
  );
}
