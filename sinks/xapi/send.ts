import { type PartReply, sendInParts } from '../records/send-in-parts.js';
import { carrying } from '../network/exchange-log.js';
import type { Outcome, Result } from '../sink.js';
import { classifyAnswer, type Verdict } from './classify.js';
import { findUnderId } from './conflict.js';
import type { Lrs } from './client.js';
import type { XapiOperation } from './plan.js';

interface SendOptions {
  readonly signal: AbortSignal;
  /** Checked before each request; once false, the remaining operations are `unsent`. */
  readonly mayStart: () => boolean;
}

/**
 * Sends operations batch by batch. An LRS stores a batch completely or not at all, so a refused batch is halved until
 * the refused statement is found: at most 15 requests for one in a hundred. A failure that no statement causes ends the
 * `send`, because the next batch would fail too.
 */
export async function sendOperations(
  operations: readonly XapiOperation[],
  lrs: Lrs,
  options: SendOptions,
): Promise<Outcome[]> {
  const sending = new Sending(operations, lrs, options);
  const batches = toBatches(operations.map(parcelOf));
  await sendInParts(batches, (batch) => sending.deliver(batch), options.mayStart);
  return sending.outcomes;
}

type Failed = Extract<Verdict, { kind: 'failed' }>;

class Sending {
  readonly outcomes: Outcome[];
  readonly #lrs: Lrs;
  readonly #options: SendOptions;
  /** Whether a failure has occurred that would affect every further request. */
  #hasFailed = false;
  #hasStored = false;

  constructor(operations: readonly XapiOperation[], lrs: Lrs, options: SendOptions) {
    this.#lrs = lrs;
    this.#options = options;
    this.outcomes = operations.map(() => ({ kind: 'unsent' }));
  }

  async deliver(batch: readonly Parcel[]): Promise<PartReply<Parcel>> {
    // A pause that the LRS requested in any lane applies to all lanes.
    const afterMs = this.#lrs.quietForMs;
    if (afterMs > 0) {
      for (const { index } of batch)
        this.#settle(index, { kind: 'retry', afterMs, detail: 'the LRS requested a pause' });
      return 'over';
    }
    const ids = distinct(batch).flatMap(({ operation }) => operation.statements.map(({ id }) => id));
    const changeIds = batch.map(({ operation }) => operation.changeId);
    const post = () => this.#lrs.postStatements(bodyOf(batch), this.#options.signal);
    const verdict = classifyAnswer(await carrying(changeIds, post), ids);
    switch (verdict.kind) {
      case 'stored':
        this.#hasStored = true;
        for (const { operation, index } of batch) this.#settle(index, delivered(operation, verdict.detail));
        return { accepted: true, again: [] };
      case 'failed':
        this.#end(batch, verdict);
        return 'over';
      case 'refused':
        if (batch.length > 1) return { accepted: false, again: batch };
        await this.#settleRefused(batch[0]!, verdict);
        if (!this.#hasStored && verdict.status === 400) this.#lrs.forgetVersion();
        // After a 409, the LRS holds a statement under the id: it does not refuse everything.
        return this.#hasFailed ? 'over' : { accepted: verdict.status === 409, again: [] };
    }
  }

  async #settleRefused({ operation, index }: Parcel, { status, detail }: Extract<Verdict, { kind: 'refused' }>) {
    if (status === 409) return await this.#settleConflict({ operation, index }, detail);
    const sentence =
      status === 413
        ? `the statement of ${operation.item} is too large`
        : `the LRS refuses the statement of ${operation.item}`;
    this.#settle(index, rejected(`http:${status}`, sentence, detail));
  }

  /**
   * Settles an operation after the LRS reported that it already holds one of the ids. It may hold the same statement,
   * because not every LRS compares statements before it refuses one. Statements that it does not hold are sent again.
   */
  async #settleConflict({ operation, index }: Pick<Parcel, 'operation' | 'index'>, detail: string): Promise<void> {
    const missing = [];
    for (const statement of operation.statements) {
      const found = await findUnderId(this.#lrs, statement, this.#options.signal);
      switch (found.kind) {
        case 'same':
          break;
        case 'missing':
          missing.push(statement);
          break;
        case 'different':
        case 'voided':
        case 'unreadable': {
          const [cause, sentence] = conflicts[found.kind](statement.id);
          return this.#settle(index, { ...rejected(cause, sentence, detail), about: 'record' });
        }
        case 'unknown': {
          const verdict = classifyAnswer(found.answer, []);
          if (verdict.kind === 'failed') return this.#end([{ operation, index }], { ...verdict, mayBeStored: true });
          return this.#settle(index, { kind: 'retry', detail: `the LRS does not return ${statement.id}` });
        }
      }
    }
    if (missing.length === 0)
      return this.#settle(index, delivered(operation, `${detail}, but the LRS holds the same statement`));
    if (missing.length === operation.statements.length) {
      return this.#settle(index, {
        kind: 'retry',
        detail: `the LRS reports a statement id as already in use, but returns no statement with it (${detail})`,
      });
    }
    const body = JSON.stringify(missing);
    const verdict = classifyAnswer(
      await this.#lrs.postStatements(body, this.#options.signal),
      missing.map(({ id }) => id),
    );
    if (verdict.kind === 'stored') return this.#settle(index, delivered(operation, verdict.detail));
    if (verdict.kind === 'failed') return this.#end([{ operation, index }], { ...verdict, mayBeStored: true });
    if (verdict.status === 409) {
      const detailText = `the LRS does not return a statement that it already holds (${verdict.detail})`;
      return this.#settle(index, { kind: 'retry', detail: detailText, ...inDoubt(operation) });
    }
    return this.#settle(index, rejected(`http:${verdict.status}`, `the LRS refuses ${operation.item}`, verdict.detail));
  }

  #end(batch: readonly Pick<Parcel, 'operation' | 'index'>[], verdict: Failed): void {
    this.#hasFailed = true;
    if (verdict.waitMs !== undefined) this.#lrs.keepQuiet(verdict.waitMs);
    for (const { operation, index } of batch) {
      this.#settle(index, verdict.mayBeStored ? { ...verdict.result, ...inDoubt(operation) } : verdict.result);
    }
  }

  #settle(index: number, outcome: Outcome): void {
    this.outcomes[index] = outcome;
  }
}

function delivered(operation: XapiOperation, detail: string): Outcome {
  const [first] = operation.statements;
  return {
    kind: 'delivered',
    detail: `statement ${first?.id ?? 'none'} (${detail})`,
    object: operation.after,
    ...(operation.siblings !== undefined && { siblings: operation.siblings.after }),
  };
}

/** The states of an item and its siblings while it is unknown whether their statements were stored. */
export function inDoubt({ unsure, siblings }: XapiOperation): Pick<Outcome, 'object' | 'siblings'> {
  return { object: unsure, ...(siblings !== undefined && { siblings: siblings.unsure }) };
}

/** A refusal that may affect every statement. */
function rejected(cause: string, sentence: string, detail: string): Extract<Result, { kind: 'rejected' }> {
  return { kind: 'rejected', cause, detail: `${sentence} (${detail})` };
}

/** The causes and sentences of refusals because of the statement that the LRS holds under an id. */
const conflicts = {
  different: (id: string) => ['conflict', `another statement has the id ${id}`] as const,
  voided: (id: string) => ['voided', `${id} was voided in the LRS by another client`] as const,
  unreadable: (id: string) =>
    ['conflict-unread', `the LRS holds a statement with the id ${id} that the credentials may not read`] as const,
};

/** Maximum statements in a request. More would make answers slow and a refused statement expensive to find. */
const MAX_STATEMENTS = 100;
/** Maximum bytes of a body: half of the default limit of nginx, which many LRSs are behind. */
const MAX_BYTES = 512 * 1024;

/** An operation with its statements as JSON, which is serialized once. */
interface Parcel {
  readonly operation: XapiOperation;
  /** Index among the operations of this `send`. */
  readonly index: number;
  /** Statements, separated by commas. */
  readonly json: string;
  readonly bytes: number;
}

function parcelOf(operation: XapiOperation, index: number): Parcel {
  const json = operation.statements.map((statement) => JSON.stringify(statement)).join(',');
  return { operation, index, json, bytes: Buffer.byteLength(json) };
}

/**
 * Groups parcels into requests, in their order. A parcel is never divided, whatever its size. No request contains an id
 * twice, since an LRS refuses that (xAPI 1.0.3, Communication, 2.1.2): parcels with the same statements are sent once.
 */
function toBatches(parcels: readonly Parcel[]): Parcel[][] {
  const batches: Parcel[][] = [];
  let batch: Parcel[] = [];
  let bytes = 0;
  let ids = new Set<string>();
  let sent = new Set<string>();
  for (const parcel of parcels) {
    if (sent.has(parcel.json)) {
      batch.push(parcel);
      continue;
    }
    const own = parcel.operation.statements.map(({ id }) => id);
    const isFull =
      ids.size + own.length > MAX_STATEMENTS || bytes + parcel.bytes + 1 > MAX_BYTES || own.some((id) => ids.has(id));
    if (isFull && batch.length > 0) {
      batches.push(batch);
      batch = [];
      bytes = 0;
      ids = new Set();
      sent = new Set();
    }
    batch.push(parcel);
    bytes += parcel.bytes + 1;
    sent.add(parcel.json);
    for (const id of own) ids.add(id);
  }
  return batch.length === 0 ? batches : [...batches, batch];
}

/** Returns one parcel for each set of identical statements. */
function distinct(batch: readonly Parcel[]): Parcel[] {
  return [...new Map(batch.map((parcel) => [parcel.json, parcel])).values()];
}

function bodyOf(batch: readonly Parcel[]): string {
  return `[${distinct(batch)
    .map(({ json }) => json)
    .join(',')}]`;
}
