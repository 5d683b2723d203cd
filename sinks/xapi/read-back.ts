import type { HeldResult, ReadBack } from '../sink.js';
import { classifyAnswer } from './classify.js';
import type { Lrs, LrsAnswer, NoLrsAnswer } from './client.js';
import type { XapiConfig } from './config.js';
import { differingParts } from './conflict.js';
import { cleared, issuedKind, possiblyValid, readState, type StatementState, type XapiOperation } from './plan.js';
import { statementId, verbs } from './statement.js';

/** Number of statements that are read at the same time. */
const READERS = 4;
/** Number of earlier statements of an item that are read if the LRS does not have the last one. */
const MAX_EARLIER = 10;

interface ReadOptions {
  readonly config: XapiConfig;
  readonly signal: AbortSignal;
  /** Checked before each request. */
  readonly mayStart: () => boolean;
}

type Read =
  | { readonly kind: 'valid'; readonly statement: unknown }
  | { readonly kind: 'voided' }
  | { readonly kind: 'absent' }
  | Extract<HeldResult, { readonly kind: 'unreadable' | 'retry' | 'pause' }>;

/**
 * Reads the statements of items by id, a few at the same time. The answers of an attendee to one question share a
 * statement, which is read once.
 */
export async function readStatements(
  wanted: readonly ReadBack<XapiOperation>[],
  lrs: Lrs,
  options: ReadOptions,
): Promise<HeldResult[]> {
  const results: HeldResult[] = wanted.map(() => notStarted);
  const reader = new Reader(lrs, options);
  const entries = wanted.entries(); // shared: each reader continues with the next entry
  const read = async (): Promise<void> => {
    for (const [index, entry] of entries) results[index] = await resultOf(entry, reader, options.config);
  };
  await Promise.all(Array.from({ length: READERS }, read));
  return results;
}

const notStarted = { kind: 'retry', detail: 'stopped before the statement was read' } as const;

async function resultOf(entry: ReadBack<XapiOperation>, reader: Reader, config: XapiConfig): Promise<HeldResult> {
  const state = readState(entry.object);
  if (entry.expected === 'absence') return await absenceOf(entry, state, reader);
  const id = state?.statement ?? issuedBy(entry.operation)?.id;
  if (id === undefined) return { kind: 'missing' };
  const read = await reader.read(id);
  switch (read.kind) {
    case 'valid': {
      // A statement that was edited in the LRS keeps its id, so the repair voids it and issues another.
      const isEdited = entry.operation !== null && compareStatement(entry.operation, read.statement).length > 0;
      const object = state !== null && isEdited ? { object: { ...state, mark: '' } } : {};
      return { kind: 'held', held: read.statement, ...object };
    }
    case 'voided':
      // A voided id is never valid again, so the next statement needs another issue number.
      return { kind: 'missing', ...(state !== null && { object: cleared(state) }) };
    case 'absent':
      return state === null ? { kind: 'missing' } : await earlierOf(entry, state, { reader, config });
    default:
      return read;
  }
}

/**
 * Looks for the statement of an earlier revision, which is valid if the LRS was restored from a backup. If there is one,
 * the repair issues the current statement and voids the earlier one.
 */
async function earlierOf(
  { change }: ReadBack<XapiOperation>,
  state: StatementState,
  { reader, config }: { readonly reader: Reader; readonly config: XapiConfig },
): Promise<HeldResult> {
  const kind = issuedKind(change.list, config);
  if (kind === undefined || state.members !== undefined) return { kind: 'missing' };
  const issues = Array.from({ length: state.issue }, (_, back) => ({
    revision: state.revision,
    issue: state.issue - 1 - back,
  }));
  const revisions = Array.from({ length: state.revision - 1 }, (_, back) => ({
    revision: state.revision - 1 - back,
    issue: 0,
  }));
  for (const earlier of [...issues, ...revisions].slice(0, MAX_EARLIER)) {
    const statement = statementId(kind, { ...change, revision: earlier.revision }, earlier.issue);
    const read = await reader.read(statement);
    if (read.kind === 'absent' || read.kind === 'voided') continue;
    if (read.kind !== 'valid') return read;
    return {
      kind: 'held',
      held: read.statement,
      object: { ...state, statement, mark: '', revision: earlier.revision },
    };
  }
  return { kind: 'missing' };
}

/** Looks for a statement that is valid although it should be voided. */
async function absenceOf(
  { operation }: ReadBack<XapiOperation>,
  state: StatementState | null,
  reader: Reader,
): Promise<HeldResult> {
  const ids = operation === null ? (state === null ? [] : possiblyValid(state)) : voidedBy(operation);
  for (const id of ids) {
    const read = await reader.read(id);
    if (read.kind === 'valid') return { kind: 'held', held: read.statement };
    if (read.kind !== 'absent' && read.kind !== 'voided') return read;
  }
  return { kind: 'missing' };
}

function issuedBy(operation: XapiOperation | null) {
  return operation?.statements.find(({ verb }) => verb.id !== verbs.voided.id);
}

function voidedBy(operation: XapiOperation): string[] {
  return operation.statements.flatMap(({ verb, object }) => (verb.id === verbs.voided.id ? [object.id] : []));
}

/** Returns the parts in which the held statement differs; `statement` if there should be none. */
export function compareStatement(operation: XapiOperation, held: unknown): string[] {
  const issued = issuedBy(operation);
  return issued === undefined ? ['statement'] : differingParts(issued, held);
}

/** An LRS that shows statements later than this after it stored them says so, and nothing is missing yet. */
const MAX_DELAY_MS = 60_000;

/**
 * Whether an LRS says that it may not show all stored statements yet. Source: xAPI 1.0.3, Communication, 2.1.3,
 * `X-Experience-API-Consistent-Through`.
 */
function isBehind({ headers, answeredAtMs }: LrsAnswer): boolean {
  const through = Date.parse(headers['x-experience-api-consistent-through'] ?? '');
  return through < answeredAtMs - MAX_DELAY_MS;
}

class Reader {
  readonly #reads = new Map<string, Promise<Read>>();

  constructor(
    private readonly lrs: Lrs,
    private readonly options: ReadOptions,
  ) {}

  /** Reads a statement, once for each id. Source: xAPI 1.0.3, Communication, 2.1.3 "GET Statements". */
  read(id: string): Promise<Read> {
    const known = this.#reads.get(id) ?? this.#readNow(id);
    this.#reads.set(id, known);
    return known;
  }

  async #readNow(id: string): Promise<Read> {
    for (const parameter of ['statementId', 'voidedStatementId'] as const) {
      const afterMs = this.lrs.quietForMs;
      if (afterMs > 0) return { kind: 'retry', afterMs, detail: 'the LRS requested a pause' };
      if (!this.options.mayStart()) return notStarted;
      const answer = await this.lrs.getStatement(parameter, id, this.options.signal);
      if (answer.kind === 'answer' && answer.status === 404) {
        if (isBehind(answer)) return { kind: 'retry', detail: 'the LRS shows stored statements with a delay' };
        continue;
      }
      if (answer.kind === 'no-answer' || answer.status !== 200 || answer.body === undefined)
        return this.#failed(answer);
      return parameter === 'voidedStatementId' ? { kind: 'voided' } : { kind: 'valid', statement: answer.body };
    }
    return { kind: 'absent' };
  }

  #failed(answer: LrsAnswer | NoLrsAnswer): Read {
    if (answer.kind === 'answer' && answer.status === 403) {
      const detail = 'the credentials may not read statements (HTTP 403)';
      return { kind: 'unreadable', cause: 'statement-unreadable', detail };
    }
    const verdict = classifyAnswer(answer, []);
    if (verdict.kind !== 'failed')
      return { kind: 'retry', detail: `the LRS did not return a statement (${verdict.detail})` };
    if (verdict.waitMs !== undefined) this.lrs.keepQuiet(verdict.waitMs);
    return verdict.result;
  }
}
