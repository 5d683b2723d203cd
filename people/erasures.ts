import { ourSentence } from '../ledger/kept-answer.js';
import { questionLists } from '../base/lists.js';
import { listSet } from '../ledger/sql-expressions.js';
import type { PersonPlace } from './find-person.js';
import type { Ledger } from '../ledger/ledger.js';

/** Everything by which a person's data is found. Deleted once the data is erased from the ledger. */
export interface ErasureNames {
  /** The name in the request; null if the erasure was recreated after a restore. */
  readonly asked: string | null;
  readonly places: readonly PersonPlace[];
}

/** A request to forget a person, with its progress. */
export interface Erasure {
  readonly number: number;
  /** A UUID. */
  readonly id: string;
  /** Null once the ledger no longer holds data of the person. */
  readonly names: ErasureNames | null;
  readonly requestedBy: string | null;
  readonly reason: string | null;
  readonly requestedAt: Date;
  readonly clearedAt: Date | null;
  readonly endedAt: Date | null;
}

/**
 * The outcome of an erasure at one place. `erased`: the place holds no data any more; `told`: the place received a
 * request to remove its data but cannot confirm the removal; `nothing`: the place never had data; `waiting`: the place
 * has not answered yet; `by-hand`: an operator has to act.
 */
export interface Receipt {
  readonly place: string;
  readonly count: number;
  readonly outcome: 'erased' | 'told' | 'nothing' | 'waiting' | 'by-hand';
  /** Codes and ids, no personal data. */
  readonly detail: string | null;
  /** A sentence that says what to do. */
  readonly todo: string | null;
}

const columns = `number, id, names, requested_by as "requestedBy", reason, requested_at as "requestedAt",
  cleared_at as "clearedAt", ended_at as "endedAt"`;

interface ErasureRow extends Omit<Erasure, 'names'> {
  names: string | null;
}

const toErasure = ({ names, ...row }: ErasureRow): Erasure => ({
  ...row,
  names: names === null ? null : (JSON.parse(names) as ErasureNames),
});

/**
 * SQL condition: the erasure `e`, with the earlier ones that it waits for, concerns people of the workspace `$2` alone.
 * Also true if `$2` is null.
 */
const isWithin = `($2::text is null or (select bool_and(n.workspace = $2) from (
  select e.number union all select x.number from erasure_receipts r join erasures x on r.place = 'erasure:' || x.id
    where r.erasure = e.number) own join lateral (
  select f.workspace from forgotten f where f.erasure = own.number
  union all select p.workspace from forgotten_codes c join pigeonholes p on p.pigeonhole_number = c.pigeonhole_number
    where c.erasure = own.number)
  n on true))`;

/** @param workspace only an erasure of people in this workspace alone; null: any */
export async function readErasure(
  ledger: Ledger,
  id: string,
  workspace: string | null = null,
): Promise<Erasure | undefined> {
  const [row] = await ledger.db.query<ErasureRow>(
    `select ${columns} from erasures e where id = $1::uuid and ${isWithin}`,
    [id, workspace],
  );
  return row === undefined ? undefined : toErasure(row);
}

/**
 * Returns the latest erasure whose request named the person in the same way; undefined if there is none.
 * @param workspace as for `readErasure`
 */
export async function latestErasureFor(
  ledger: Ledger,
  asked: string,
  workspace: string | null,
): Promise<Erasure | undefined> {
  const [row] = await ledger.db.query<ErasureRow>(
    `select ${columns} from erasures e where asked_hash = $1 and ${isWithin} order by number desc limit 1`,
    [ledger.hash.asked(asked), workspace],
  );
  return row === undefined ? undefined : toErasure(row);
}

/**
 * Returns erasures, newest first.
 * @param before number of the last erasure on the previous page; null for the first page
 */
export async function listErasures(
  ledger: Ledger,
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Promise<Erasure[]> {
  const rows = await ledger.db.query<ErasureRow>(
    `select ${columns} from erasures where $1::int4 is null or number < $1 order by number desc limit $2`,
    [before, limit],
  );
  return rows.map(toErasure);
}

/** Returns the UUIDs of erasures that have not ended. A workflow has to run for each of them. */
export async function openErasures(ledger: Ledger): Promise<string[]> {
  const rows = await ledger.db.query<{ id: string }>('select id from erasures where ended_at is null order by number');
  return rows.map(({ id }) => id);
}

export interface KeptReceipt extends Receipt {
  readonly at: Date;
}

export async function receiptsOf(ledger: Ledger, erasure: number): Promise<KeptReceipt[]> {
  return await ledger.db.query<KeptReceipt>(
    'select place, count, outcome, detail, todo, at from erasure_receipts where erasure = $1 order by place',
    [erasure],
  );
}

/** Counts the erased items of an erasure. Reads all items once. */
export async function countErased(ledger: Ledger, erasure: number): Promise<number> {
  const [row] = await ledger.db.query<{ items: number }>(
    `select count(*)::int as items from forgotten f join pigeonholes p on p.workspace = f.workspace
       join items i on i.pigeonhole_number = p.pigeonhole_number and i.subject = f.subject where f.erasure = $1
         and i.erased`,
    [erasure],
  );
  return row!.items;
}

/** Returns the names of the workspaces that had the person's data. */
export async function workspacesOf(ledger: Ledger, erasure: number): Promise<string[]> {
  const rows = await ledger.db.query<{ workspace: string }>(
    `select workspace from forgotten where erasure = $1
     union select p.workspace from forgotten_codes c join pigeonholes p on p.pigeonhole_number = c.pigeonhole_number
       where c.erasure = $1 order by 1`,
    [erasure],
  );
  return rows.map(({ workspace }) => workspace);
}

/** Returns the pigeonholes that contained questions of the people of an erasure. */
export async function pigeonholesOfErasedQuestions(ledger: Ledger, erasure: number): Promise<number[]> {
  const rows = await ledger.db.query<{ pigeonholeNumber: number }>(
    `select distinct i.pigeonhole_number as "pigeonholeNumber" from forgotten f
       join pigeonholes p on p.workspace = f.workspace
       join items i on i.pigeonhole_number = p.pigeonhole_number and i.erased and i.list in ${listSet(questionLists)}
         and i.subject = f.subject
     where f.erasure = $1`,
    [erasure],
  );
  return rows.map(({ pigeonholeNumber }) => pigeonholeNumber);
}

/**
 * Waits until every page that is being written is stored, because its transaction may have started before the person
 * was forgotten. Locks one pigeonhole at a time, so that reading waits only briefly.
 */
export async function awaitPages(ledger: Ledger, erasure: number): Promise<void> {
  const rows = await ledger.db.query<{ pigeonholeNumber: number }>(
    `select pigeonhole_number as "pigeonholeNumber" from pigeonholes where workspace in (select workspace
       from forgotten where erasure = $1) order by pigeonhole_number`,
    [erasure],
  );
  for (const { pigeonholeNumber } of rows) {
    await ledger.db.query('select 1 from pigeonholes where pigeonhole_number = $1 for share', [pigeonholeNumber]);
  }
}

/** Counts the erasures that have cleared the ledger. */
export async function countCleared(ledger: Ledger): Promise<number> {
  const [row] = await ledger.db.query<{ cleared: number }>(
    'select count(*)::int as cleared from erasures where cleared_at is not null',
  );
  return row!.cleared;
}

/** The progress of one sink in removing the items of an erasure in one pigeonhole. */
export interface ErasingLane {
  readonly sinkId: number;
  readonly sink: string;
  /** The type in its configuration. */
  readonly type: string;
  readonly archived: boolean;
  readonly pigeonholeNumber: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  /** Number of items that the sink has to remove, because it received them. The numbers below are parts of it. */
  readonly items: number;
  /** Items whose removal was delivered or superseded. */
  readonly delivered: number;
  readonly withheld: number;
  readonly dead: number;
  /** Items whose removal is waiting or being sent. */
  readonly open: number;
  /** Items whose removal the lane has skipped, because the sink no longer receives the list. */
  readonly skipped: number;
  /** Reason codes of withheld removals and dead letters. */
  readonly reasons: readonly string[];
  /** Responses of destinations to the dead letters; no personal data. */
  readonly details: readonly string[];
}

interface LaneRow extends Omit<ErasingLane, 'reasons' | 'details'> {
  reasons: string[] | null;
  details: string[] | null;
}

/** Returns the lanes whose sinks received items of an erasure, by the name of the sink. */
export async function erasingLanes(ledger: Ledger, erasure: number): Promise<ErasingLane[]> {
  const rows = await ledger.db.query<LaneRow>(
    `select s.id as "sinkId", s.name as sink, s.type, s.archived_at is not null as archived,
       e.pigeonhole_number as "pigeonholeNumber", p.workspace,
       p.pigeonhole_id as "pigeonholeId", count(*)::int as items,
       (count(*) filter (where d.state in ('delivered', 'superseded')))::int as delivered,
       (count(*) filter (where d.state = 'withheld' and i.erased))::int as withheld,
       (count(*) filter (where d.state = 'dead'))::int as dead,
       (count(*) filter (where d.state in ('waiting', 'sending', 'retry')
         or (d.state is null and coalesce(l.watermark, 0) < e.sequence)))::int as open,
       (count(*) filter (where d.state is null and l.watermark >= e.sequence and i.erased))::int as "skipped",
       array_agg(distinct d.reason) filter (where d.reason is not null
         and (d.state = 'dead' or (d.state = 'withheld' and i.erased))) as reasons,
       array_agg(distinct ${ourSentence('d.detail')}) filter (where d.state = 'dead' and d.detail is not null) as details
     from erasing e join sinks s on s.id = e.sink_id join pigeonholes p on p.pigeonhole_number = e.pigeonhole_number
       join items i on i.pigeonhole_number = e.pigeonhole_number and i.list = e.list
         and i.key = e.key -- includes other people's items that repeated the text of a question
       left join lanes l on l.sink_id = e.sink_id and l.pigeonhole_number = e.pigeonhole_number
       left join deliveries d on d.sink_id = e.sink_id and d.pigeonhole_number = e.pigeonhole_number
         and d.sequence = e.sequence and d.replay = 0
     where e.erasure = $1
     group by s.id, s.name, s.type, s.archived_at, e.pigeonhole_number, p.workspace, p.pigeonhole_id
     order by s.name, p.workspace, p.pigeonhole_id`,
    [erasure],
  );
  return rows.map(({ reasons, details, ...row }) => ({ ...row, reasons: reasons ?? [], details: details ?? [] }));
}

/**
 * Returns the data that a sink has to remove from its files of a pigeonhole: item keys by list, and ids of questions.
 */
export async function erasedOfLane(
  ledger: Ledger,
  { sinkId, pigeonholeNumber }: { readonly sinkId: number; readonly pigeonholeNumber: number },
): Promise<{ readonly keys: ReadonlyMap<string, ReadonlySet<string>>; readonly questions: ReadonlySet<number> }> {
  const rows = await ledger.db.query<{ list: string; key: string }>(
    `select e.list, e.key from erasing e join items i on i.pigeonhole_number = e.pigeonhole_number and i.list = e.list
       and i.key = e.key
     where e.sink_id = $1 and e.pigeonhole_number = $2 and i.erased`,
    [sinkId, pigeonholeNumber],
  );
  // All erased questions of the pigeonhole, because a sink that never received a question may have received its text in
  // the votes on it.
  const erasedQuestions = await ledger.db.query<{ key: string }>(
    `select distinct key from items where pigeonhole_number = $1 and list in ${listSet(questionLists)} and erased`,
    [pigeonholeNumber],
  );
  const keys = new Map<string, Set<string>>();
  for (const { list, key } of rows) keys.set(list, (keys.get(list) ?? new Set()).add(key));
  const questions = erasedQuestions.map(({ key }) => Number(key));
  return { keys, questions: new Set(questions.filter(Number.isSafeInteger)) };
}
