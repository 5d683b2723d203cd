import { sumOf } from '../../base/words.js';
import type {
  ImportCheck,
  ImportColumn,
  ImportedFile,
  ImportProblem,
  ImportTarget,
  PlannedCounts,
  ProblemGroup,
  SendingEstimate,
} from './import-views.js';
import type { Collaborators } from '../../cycles/collaborators.js';
import { findPigeonholeNumber } from '../../ledger/pigeonholes.js';
import { isSendable } from '../files/checked-row.js';
import { codeColumnDoubt, nameColumns } from '../files/check-mapping.js';
import { codeProperty } from '../files/field-words.js';
import { ProblemGroups, ProblemTally } from './problem-tally.js';
import { type HashedBytes, type OpenedRegistrants, withRegistrants, type ReadingTerms } from './open-registrants.js';
import type { Ledger } from '../../ledger/ledger.js';
import { firstChunkSize } from '../../ledger/imports/imports.js';
import { forgottenProblem, hashRows, type RowToSend } from '../staging.js';
import { forgottenCodes } from '../../people/erase-registrants.js';
import { codeStatus } from '../../ledger/sql-expressions.js';
import type { Config } from '../../config/config.js';
import { type QuotaState, readQuotas } from '../../requests/quota.js';

/** Maximum number of groups. Some messages name another row, so without a limit a file could have one group per row. */
const maxGroups = 100;

/** Number of the header, as in problems. */
const headerRow = 1;

type To = Pick<Collaborators, 'config' | 'ledger'>;

export interface CheckTerms extends ReadingTerms {
  readonly target: ImportTarget;
  /** Number of rows that would be sent; null: all. */
  readonly canary: number | null;
}

const problemTexts = {
  conflict: 'an earlier import has created this code with different data; change it in the dashboard of the service',
  rejected: 'the service has refused this row before; correct it',
} as const;

/**
 * Returns what an import of this file would do now. Reads the whole file, writes nothing, sends nothing.
 * @throws {RegistrantFileError} if the file cannot be used
 */
export async function checkImport(
  deps: To,
  source: AsyncIterable<Uint8Array>,
  terms: CheckTerms,
): Promise<ImportCheck> {
  return await withRegistrants(source, terms, (opened, hashed) => checkOpened(deps, opened, hashed, terms));
}

async function checkOpened(
  deps: To,
  opened: OpenedRegistrants,
  hashed: HashedBytes,
  terms: CheckTerms,
): Promise<ImportCheck> {
  const { target } = terms;
  const pigeonholeNumber = await findPigeonholeNumber(deps.ledger.db, target.workspace, target.pigeonholeId);
  const codeColumn = opened.mapping.columns.find(({ property }) => property === codeProperty)?.column ?? null;
  const counts = { send: 0, existing: 0, conflict: 0, rejected: 0, elsewhere: 0, invalid: 0 };
  const problems = new ProblemTally();
  const notes = new ProblemTally();
  let generatedCodes = 0;
  for await (const rows of opened.rows) {
    const sendable = rows.filter(isSendable);
    // a pigeonhole that is not in the ledger has no earlier import
    const planned =
      pigeonholeNumber === undefined ? [] : await compareWithEarlier(deps.ledger, pigeonholeNumber, sendable);
    const plans = new Map(sendable.map((row, index) => [row, planned[index] ?? 'send']));
    for (const row of rows) {
      const plan = isSendable(row) ? plans.get(row)! : 'invalid';
      counts[plan === 'forgotten' ? 'invalid' : plan] += 1;
      if (plan === 'forgotten') {
        problems.add(forgottenProblem(row.row)); // nothing else about this person
        continue;
      }
      // that the column of the codes is open is said once, in the first row
      if (!isSendable(row))
        for (const problem of row.problems) if (problem.code !== 'code-column') problems.add(problem);
      if (isSendable(row)) for (const note of row.notes) notes.add(note);
      if (isSendable(row) && row.notes.some(({ code }) => code === 'code-generated')) generatedCodes += 1;
      if (plan === 'conflict' || plan === 'rejected') {
        problems.add({ row: row.row, column: codeColumn, code: plan, message: problemTexts[plan] });
      }
    }
  }
  const { codeEvidence, shortCodes } = opened.codes;
  const doubt = codeColumnDoubt(opened.mapping.code, codeEvidence);
  if (doubt !== null) problems.addFirst({ row: headerRow, column: null, code: 'code-column', message: doubt });
  if (shortCodes !== null) notes.addCount({ code: 'short-code', ...shortCodes });
  const rows = sumOf(counts);
  const toSend = Math.min(counts.send, terms.canary ?? counts.send);
  return {
    target,
    file: describeFile(opened, terms.file.name, deps.ledger.hash.file(await hashed.digest())),
    columns: describeColumns(opened, terms.knownFields),
    codeColumn: { basis: opened.mapping.code.basis, candidates: [...codeEvidence], doubt },
    names: nameColumns(opened.mapping, terms.knownFields),
    rows,
    counts,
    canary: terms.canary,
    generatedCodes,
    problems: problems.kept,
    problemsLeftOut: problems.leftOut,
    problemGroups: groupsOf(problems.kept, opened).slice(0, maxGroups),
    problemCounts: problems.counts,
    noteCounts: notes.counts,
    estimate: await readSendingEstimate(deps, target.workspace, toSend, deps.ledger.clock.nowMs()),
  };
}

function groupsOf(problems: readonly ImportProblem[], { mapping }: OpenedRegistrants): ProblemGroup[] {
  const others = mapping.columns.filter(({ property }) => property !== codeProperty);
  const optional = new Set(others.map(({ column }) => column));
  const groups = new ProblemGroups();
  for (const problem of problems) groups.add(problem, problem.column !== null && optional.has(problem.column));
  return groups.all;
}

function describeFile({ file }: OpenedRegistrants, name: string, contentHash: Buffer): ImportedFile {
  const { format, delimiter, sheet } = file;
  const encoding = file.encoding();
  return {
    name,
    format,
    encoding,
    encodingGuess: file.encodingGuess(),
    remarks: file.remarks,
    delimiter,
    sheet,
    contentHash: contentHash.toString('hex'),
  };
}

function describeColumns({ mapping, sample }: OpenedRegistrants, knownFields: readonly string[]): ImportColumn[] {
  const first = sample();
  const known = (property: string | null): boolean | null => {
    if (property === codeProperty) return true;
    return property === null || knownFields.length === 0 ? null : knownFields.includes(property);
  };
  return mapping.columns.map(({ column, property, guessed }) => ({
    column,
    property,
    guessed,
    known: known(property),
    sample: property === null ? null : (first?.[property] ?? null),
  }));
}

/** The plan for a row, judging by the ledger. `forgotten`: the row is refused, because its person was erased. */
type PlanOfRow = Exclude<keyof PlannedCounts, 'invalid'> | 'forgotten';

/** Returns the plan for each row, in order. Reads only; call it with at most a few thousand rows. */
export async function compareWithEarlier(
  ledger: Ledger,
  pigeonholeNumber: number,
  rows: readonly RowToSend[],
): Promise<PlanOfRow[]> {
  const hashed = hashRows(ledger.hash, rows);
  const found = await ledger.db.query<{ n: number; same: boolean; status: string }>(
    `select n.n::int4 as n, r.data_hash = n.data_hash as same, ${codeStatus} as status
     from unnest($2::bytea[], $3::bytea[]) with ordinality as n (code_hash, data_hash, n)
       join registrants r on r.pigeonhole_number = $1 and r.code_hash = n.code_hash
         join imports i on i.number = r.import`,
    [pigeonholeNumber, hashed.map(({ codeHash }) => codeHash), hashed.map(({ dataHash }) => dataHash)],
  );
  const plans = rows.map((): PlanOfRow => 'send');
  for (const { n, same, status } of found) plans[n - 1] = planOf(status, same);
  const codeHashes = hashed.map(({ codeHash }) => codeHash);
  const forgotten = await forgottenCodes(ledger.db, pigeonholeNumber, codeHashes);
  return plans.map((plan, index) => (forgotten.has(codeHashes[index]!.toString('hex')) ? 'forgotten' : plan));
}

function planOf(status: string, same: boolean): PlanOfRow {
  switch (status) {
    case 'created':
    case 'confirmed':
    case 'existing':
      return same ? 'existing' : 'conflict';
    case 'conflict':
      return 'conflict';
    case 'rejected':
      return same ? 'rejected' : 'send';
    case 'waiting':
      return 'elsewhere';
    default: // abandoned, or its outcome is unknown
      return 'send';
  }
}

/** Assumed time per request. The service may be much faster and is rarely slower. */
const requestMs = 1000;

export interface SendingTerms {
  readonly rows: number;
  readonly rowsPerRequest: number;
  /** Undefined: no request has been made with this key yet. */
  readonly quota: Pick<QuotaState, 'limit' | 'remaining' | 'resetInMs'> | undefined;
  /** Length of the quota window; null: not known. */
  readonly windowMs: number | null;
}

/** Estimates the requests and time of sending, if nothing else uses the key. Pure. @param now epoch ms */
export function estimateSending(
  { rows, rowsPerRequest: most, quota, windowMs }: SendingTerms,
  now: number,
): SendingEstimate {
  const requests = Math.ceil(rows / most);
  const left = quota?.remaining ?? null;
  const limit = quota?.limit ?? null;
  const resetInMs = quota?.resetInMs ?? null;
  const later = left === null ? 0 : Math.max(0, requests - left);
  const waits =
    left === null ? null : later === 0 ? 0 : limit === null || limit === 0 ? null : Math.ceil(later / limit);
  const at = (ms: number): string => new Date(now + ms).toISOString();
  return {
    requests,
    rowsPerRequest: most,
    left,
    limit,
    resetAt: resetInMs === null ? null : at(resetInMs),
    waits,
    doneAt: doneAt(),
  };

  function doneAt(): string | null {
    if (waits === null) return null;
    if (waits === 0) return at(requests * requestMs);
    if (resetInMs === null || (waits > 1 && windowMs === null)) return null;
    const inLast = later - (waits - 1) * limit!;
    return at(resetInMs + (waits - 1) * (windowMs ?? 0) + inLast * requestMs);
  }
}

/** Estimates sending from the quota in the ledger. */
async function readSendingEstimate(
  { config, ledger }: { readonly config: Config; readonly ledger: Ledger },
  workspace: string,
  rows: number,
  now: number,
): Promise<SendingEstimate> {
  const fingerprint = ledger.hash.fingerprint(config.workspaces[workspace]!.apiKey.reveal());
  const quota = (await readQuotas(ledger, [fingerprint])).get(fingerprint);
  const windowMs = await quotaWindowMs(ledger, fingerprint);
  const most = await rowsPerRequest(ledger, workspace);
  return estimateSending({ rows, rowsPerRequest: most, quota, windowMs }, now);
}

/** Returns the registrants per request of a new import. */
async function rowsPerRequest(ledger: Ledger, workspace: string): Promise<number> {
  const [row] = await ledger.db.query<{ rows: number | null }>(
    'select least($2::int, registrants_at_once) as rows from workspaces where name = $1',
    [workspace, firstChunkSize],
  );
  return row?.rows ?? firstChunkSize;
}

/** Returns the window of this key's quota; null: the service has not reported it yet. */
async function quotaWindowMs(ledger: Ledger, fingerprint: string): Promise<number | null> {
  const [row] = await ledger.db.query<{ window_ms: number | null }>(
    'select window_ms from quotas where fingerprint = $1',
    [fingerprint],
  );
  return row?.window_ms ?? null;
}
