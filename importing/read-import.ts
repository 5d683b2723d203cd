import { groupBy } from '../base/grouping.js';
import { sumOf } from '../base/words.js';
import type { Ledger } from '../ledger/ledger.js';
import { type Pause, pausesOf } from '../ledger/pauses.js';
import { type RowOutcome, rowOutcomes } from '../base/row-outcomes.js';
import { requester } from '../ledger/imports/dropped-files.js';

export interface ImportProgress {
  readonly number: number;
  readonly id: string;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly file: string;
  /** As passed to `beginImport`. */
  readonly mapping: unknown;
  readonly requestedBy: string | null;
  /** Id of the named token of the request; null: none. */
  readonly requestedToken: string | null;
  readonly canary: number | null;
  /**
   * `waiting` until `waitUntil` for `waitReason`; `paused` because of `pauses`; `cancelling` while requests in progress
   * are settled.
   */
  readonly state: 'staging' | 'running' | 'waiting' | 'paused' | 'cancelling' | 'done' | 'cancelled';
  readonly waitReason: 'quota' | 'throttled' | 'credential' | 'failing' | 'otherImport' | null;
  readonly waitUntil: Date | null;
  /** Pauses of the import or its workspace, with cause and remedy. */
  readonly pauses: readonly ImportPause[];
  /** Consecutive requests without a usable answer. */
  readonly failures: number;
  /** Why the last request failed; null: it succeeded, or there was none. */
  readonly failure: string | null;
  /** Why the file of a drop folder cannot be used, so that the import has ended without a row; null: it can be used. */
  readonly unusable: string | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
  /** Number of rows by outcome; while the file is being staged, only the rows staged so far. */
  readonly counts: Readonly<Record<RowOutcome, number>>;
  readonly rows: number;
  /** Requests made so far. */
  readonly requests: number;
}

type ImportPause = Omit<Pause, 'name' | 'fingerprint'>;

/** Returns the progress of an import; undefined if no import has this id. */
export async function readImport(ledger: Ledger, id: string): Promise<ImportProgress | undefined> {
  return (await withCounts(ledger, await readRows(ledger, id)))[0];
}

/** Returns at most one row; none for an invalid id. */
async function readRows(ledger: Ledger, id: string): Promise<ImportRow[]> {
  if (!/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(id)) return [];
  return await ledger.db.query<ImportRow>(`${importRows} where i.id = $1::uuid`, [id]);
}

/** The part of the progress that decides how an import continues. */
export interface ImportStatus extends Pick<
  ImportProgress,
  'workspace' | 'canary' | 'pauses' | 'failures' | 'startedAt' | 'endedAt'
> {
  readonly isCancelling: boolean;
}

/** Like `readImport`, without the counts. */
export async function readImportStatus(ledger: Ledger, id: string): Promise<ImportStatus | undefined> {
  const [row] = await readRows(ledger, id);
  if (row === undefined) return undefined;
  const { workspace, canary, failures, startedAt, endedAt } = row;
  const pauses = pausesOn(row, await readPauses(ledger, [row]));
  return { workspace, canary, failures, startedAt, endedAt, pauses, isCancelling: stateOf(row) === 'cancelling' };
}

export interface ImportsWanted {
  /** Null: of all workspaces. */
  readonly workspace: string | null;
  /** Number of the last import of the previous page; null: start with the newest. */
  readonly before: number | null;
  readonly limit: number;
}

/** Lists imports, newest first, with a constant number of statements. */
export async function listImports(
  ledger: Ledger,
  { workspace, before, limit }: ImportsWanted,
): Promise<ImportProgress[]> {
  const rows = await ledger.db.query<ImportRow>(
    `${importRows} where ($1::text is null or p.workspace = $1) and ($2::int4 is null or i.number < $2)
     order by i.number desc limit $3`,
    [workspace, before, limit],
  );
  return await withCounts(ledger, rows);
}

/** Returns the imports of a pigeonhole, oldest first. */
export async function importsOf(ledger: Ledger, pigeonholeNumber: number): Promise<ImportProgress[]> {
  const rows = await ledger.db.query<ImportRow>(`${importRows} where i.pigeonhole_number = $1 order by i.number`, [
    pigeonholeNumber,
  ]);
  return await withCounts(ledger, rows);
}

interface ImportRow extends Omit<ImportProgress, 'mapping' | 'state' | 'waitReason' | 'pauses' | 'counts' | 'rows'> {
  readonly mapping: string;
  readonly state: 'staging' | 'running' | 'done' | 'cancelled';
  readonly isCancelling: boolean;
  /** Why the workspace waits until `waitUntil`. */
  readonly waitReason: 'quota' | 'throttled' | 'credential' | null;
  readonly retryAt: Date | null;
}

/** While an import sends, only reading waits for the quota: the requests that are left are reserved for imports. */
const isSending = `exists (select 1 from import_chunks c where c.import = i.number and c.state = 'sending')`;

const importRows = `select i.number, i.id, p.workspace, p.pigeonhole_id as "pigeonholeId", i.file, i.mapping,
    i.requested_by as "requestedBy", i.requested_token as "requestedToken", i.canary, i.state,
    i.cancel_asked_at is not null as "isCancelling", i.failures, i.failure, i.created_at as "createdAt",
    i.started_at as "startedAt", i.ended_at as "endedAt", i.requests,
    case when w.wait_until > now() and not (w.wait_reason = 'quota' and ${isSending})
      then w.wait_until end as "waitUntil", w.wait_reason as "waitReason",
    case when i.retry_at > now() then i.retry_at end as "retryAt",
    (select d.problem from dropped_files d where d.pigeonhole_number = i.pigeonhole_number
      and d.import = i.id) as unusable
  from imports i join pigeonholes p on p.pigeonhole_number = i.pigeonhole_number
    left join workspaces w on w.name = p.workspace`;

async function withCounts(ledger: Ledger, rows: readonly ImportRow[]): Promise<ImportProgress[]> {
  if (rows.length === 0) return [];
  const [counted, pauses] = await Promise.all([
    ledger.db.query<KeptCount & { import: number }>(
      'select import, outcome, rows from import_counts where import = any($1::int4[])',
      [rows.map(({ number }) => number)],
    ),
    readPauses(ledger, rows),
  ]);
  const countsOf = groupBy(counted, (each) => each.import);
  return rows.map((row) => {
    const kept = new Map((countsOf.get(row.number) ?? []).map((each) => [each.outcome, each.rows]));
    const unsettled = (kept.get('open') ?? 0) - (kept.get('sent') ?? 0);
    const counts = countOutcomes(row, kept, unsettled);
    return progressOf(row, { counts, isAllSent: unsettled === 0 }, pausesOn(row, pauses));
  });
}

/** Returns the pauses of these imports and their workspaces, oldest first. */
async function readPauses(ledger: Ledger, rows: readonly ImportRow[]): Promise<Pause[]> {
  const names = rows.flatMap(({ id, workspace }) => [
    { scope: 'import' as const, name: id },
    { scope: 'workspace' as const, name: workspace },
  ]);
  return (await pausesOf(ledger, names)).toSorted((a, b) => a.since.getTime() - b.since.getTime());
}

/** Returns the pauses that apply to this import. */
function pausesOn(row: ImportRow, pauses: readonly Pause[]): ImportPause[] {
  if (row.state !== 'running') return [];
  const holding = pauses.filter(({ scope, name }) => name === (scope === 'import' ? row.id : row.workspace));
  return holding.map(({ name: _name, fingerprint: _fingerprint, ...pause }) => pause);
}

function progressOf(
  row: ImportRow,
  { counts, isAllSent }: { readonly counts: Record<RowOutcome, number>; readonly isAllSent: boolean },
  pauses: readonly ImportPause[],
): ImportProgress {
  const { retryAt, isCancelling: _, ...same } = row;
  const isRunning = row.state === 'running';
  // A row that is not settled and whose code this import holds is still to be sent; the others wait for another import.
  const waitReason = waitReasonOf(row, isRunning && isAllSent && counts.waiting > 0);
  return {
    ...same,
    mapping: JSON.parse(row.mapping) as unknown,
    state: stateOf(row, pauses.length > 0, waitReason !== null),
    waitReason: isRunning ? waitReason : null,
    waitUntil: isRunning ? (row.waitUntil ?? retryAt) : null,
    pauses,
    failure: isRunning ? row.failure : null,
    counts,
    rows: sumOf(counts),
  };
}

function waitReasonOf(row: ImportRow, hasWaitingAlone: boolean): ImportProgress['waitReason'] {
  if (row.waitUntil !== null) return row.waitReason;
  if (row.retryAt !== null) return 'failing';
  return hasWaitingAlone ? 'otherImport' : null;
}

function stateOf(row: ImportRow, isPaused = false, isWaiting = false): ImportProgress['state'] {
  if (row.state !== 'running') return row.state;
  if (row.isCancelling) return 'cancelling';
  return isPaused ? 'paused' : isWaiting ? 'waiting' : 'running';
}

/** A number of rows that the store keeps. */
interface KeptCount {
  /** `open`: claimed rows without an outcome of their own; `sent`: those of them whose chunk was created. */
  readonly outcome: RowOutcome | 'open' | 'sent';
  readonly rows: number;
}

/**
 * Returns the rows by outcome. Rows without their own outcome are created if their chunk is; the rest is waiting or
 * cancelled. Pure.
 */
function countOutcomes(
  { state }: ImportRow,
  kept: ReadonlyMap<KeptCount['outcome'], number>,
  unsettled: number,
): Record<RowOutcome, number> {
  const rest = state === 'done' || state === 'cancelled' ? 'cancelled' : 'waiting';
  const more: Partial<Record<RowOutcome, number>> = { created: kept.get('sent') ?? 0, [rest]: unsettled };
  return Object.fromEntries(
    rowOutcomes.map((outcome) => [outcome, (kept.get(outcome) ?? 0) + (more[outcome] ?? 0)]),
  ) as Record<RowOutcome, number>;
}

/** Returns imports that ended after an instant, oldest first. @param known numbers of imports to leave out */
export async function endedImports(
  ledger: Ledger,
  { after, known }: { readonly after: Date; readonly known: readonly number[] },
): Promise<ImportProgress[]> {
  const rows = await ledger.db.query<{ id: string }>(
    `select id::text as id from imports where ended_at > $1 and state in ('done', 'cancelled')
       and number <> all($2::int4[]) order by ended_at limit 100`,
    [after, known],
  );
  const imports: ImportProgress[] = [];
  for (const { id } of rows) {
    const found = await readImport(ledger, id);
    if (found !== undefined) imports.push(found);
  }
  return imports;
}

/** Returns the id of the import with this number. */
export async function importIdOf(ledger: Ledger, number: number): Promise<string | undefined> {
  const [row] = await ledger.db.query<{ id: string }>('select id from imports where number = $1', [number]);
  return row?.id;
}

/** Returns the imports that need a running workflow. `isDropped`: the file was found in a drop folder. */
export async function runningImports(ledger: Ledger): Promise<{ id: string; workspace: string; isDropped: boolean }[]> {
  return await ledger.db.query(
    `select i.id, p.workspace, i.requested_by is not distinct from $1 as "isDropped"
     from imports i join pigeonholes p on p.pigeonhole_number = i.pigeonhole_number where i.state = 'running'
       order by i.number`,
    [requester],
  );
}
