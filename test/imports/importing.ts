import { randomUUID } from 'node:crypto';
import { chunksOf } from '../../base/grouping.js';
import { importRegistrants } from '../../importing/import-registrants.js';
import type { ImportResult } from '../../cycles/cycle-results.js';
import { beginImport, startImport } from '../../ledger/imports/imports.js';
import { stageRows, type StagedRow } from '../../importing/staging.js';
import { importReport, type StoredReportRow } from '../../importing/import-report.js';
import type { RowOutcome } from '../../base/row-outcomes.js';
import { type ImportProgress, readImport } from '../../importing/read-import.js';
import { pigeonholeNumberOf } from '../../ledger/pigeonholes.js';
import type { Scene } from '../kit/scene.js';
import type { Stage } from '../kit/stage.js';

export type Profile = { readonly attendeeCode: string; readonly [field: string]: string };

const never = new AbortController().signal;

/** Returns rows of a file, starting with row 2. */
export function rowsOf(...profiles: readonly Profile[]): StagedRow[] {
  return profiles.map((profile, index) => ({ row: index + 2, profile }));
}

/** Returns registrants with codes by position: P0001, P0002, … */
export function people(count: number, prefix = 'P'): Profile[] {
  return Array.from({ length: count }, (_, index) => ({
    attendeeCode: `${prefix}${String(index + 1).padStart(5, '0')}`,
    Name: `Guest ${index + 1}`,
  }));
}

interface ImportOptions {
  readonly canary?: number;
  readonly pigeonholeId?: number;
}

/** Stages rows as the API does, in batches, and starts the import. @returns its id */
export async function stage(
  { ledger }: Pick<Scene, 'ledger'>,
  rows: readonly StagedRow[],
  { canary, pigeonholeId = 101 }: ImportOptions = {},
): Promise<string> {
  const id = randomUUID();
  const pigeonholeNumber = await pigeonholeNumberOf(ledger, 'acme', pigeonholeId);
  const about = {
    id,
    pigeonholeNumber,
    file: 'people.csv',
    mapping: {},
    requestedBy: 'a test',
    canary: canary ?? null,
  };
  const number = await beginImport(ledger, about);
  for (const chunk of chunksOf(rows, 1000)) await stageRows(ledger, number, chunk);
  await startImport(ledger, number, rows.length);
  return id;
}

export async function turn({ deps }: Pick<Scene, 'deps'>, id: string): Promise<ImportResult> {
  return await importRegistrants(deps, id, never);
}

/** Runs cycles and ends the waits they return, until the import has ended or needs an operator. */
export async function finish(scene: Scene, id: string, maxTurns = 500): Promise<ImportResult> {
  for (let turns = 0; turns < maxTurns; turns += 1) {
    const last = await turn(scene, id);
    if (last.state === 'finished' || last.state === 'paused') return last;
    await waitsAreOver(scene, last.nextDueInMs);
  }
  throw new Error(`the import has not ended after ${maxTurns} turns`);
}

/** Ends the waits of an import, as if time had passed. */
export async function waitsAreOver({ ledger }: Pick<Scene, 'ledger'>, ms: number): Promise<void> {
  if (ms === 0) return;
  await ledger.db.query('update import_chunks set due_at = now() where due_at > now()');
  await ledger.db.query('update imports set retry_at = null where retry_at is not null');
}

export async function progress({ ledger }: Pick<Scene, 'ledger'>, id: string): Promise<ImportProgress> {
  return (await readImport(ledger, id))!;
}

/** Returns the counts that are not 0. */
export async function counts(scene: Pick<Scene, 'ledger'>, id: string): Promise<Partial<Record<RowOutcome, number>>> {
  const all = (await progress(scene, id)).counts;
  return Object.fromEntries(Object.entries(all).filter(([, count]) => count > 0));
}

export async function report(scene: Pick<Scene, 'ledger'>, id: string): Promise<StoredReportRow[]> {
  const { number } = await progress(scene, id);
  const rows: StoredReportRow[] = [];
  for await (const page of importReport(scene.ledger, number)) rows.push(...page);
  return rows;
}

/** Returns the service's registrants, ordered by code. */
export async function registered(stage: Pick<Stage, 'sandbox'>, pigeonhole = 101): Promise<Profile[]> {
  const response = await fetch(`${stage.sandbox.baseUrl}/_control/truth/registrants?pigeonhole=${pigeonhole}`);
  const lines = (await response.text()).split('\n').filter(Boolean);
  return lines
    .map((line) => JSON.parse(line) as Profile)
    .map(({ id: _, ...profile }) => profile as Profile)
    .toSorted((a, b) => (a.attendeeCode < b.attendeeCode ? -1 : 1));
}

/** Returns the number of answered bulk creates. */
export async function posts(stage: Stage): Promise<number> {
  return (await stage.requests()).filter(({ path }) => path.endsWith('/registrants/bulk')).length;
}
