import type { AttemptOutcome, AttemptRow } from '../ledger/attempts.js';
import { storedDetail } from '../ledger/kept-answer.js';
import type { Exchange, RecordedAnswer } from '../sinks/network/exchange-log.js';
import type { Operation, Outcome, Planned, PreviewedCall, Sink } from '../sinks/sink.js';
import type { ShownChange } from './candidates.js';
import type { Settlement } from './send-batch.js';

/** The content of an attempt: what was sent, and what the destination answered. Stored as JSON, with the personal data of the item. */
export interface AttemptContent {
  /** The operation as `Sink.preview` shows it: in a batch, the part of this item. */
  readonly requests: readonly (Omit<PreviewedCall, 'body'> & { readonly body: string | null; readonly cut: boolean })[];
  /** The calls that were made for it; in a batch, also those that were made for all of the batch. */
  readonly calls: readonly RecordedCall[];
  /** Number of further calls, if there were many. */
  readonly furtherCalls: number;
}

export interface RecordedCall extends Pick<Exchange, 'method' | 'status' | 'requestId'> {
  /** Without secrets; only the origin if the call was shared. */
  readonly address: string;
  readonly durationMs: number;
  /** Null: not recorded, because the answer may be about other items too. */
  readonly answer: RecordedAnswer | null;
  /** Whether the call was about other changes of the batch too. */
  readonly shared: boolean;
}

/** Maximum number of characters of a request that are kept. */
const maxRequest = 16_000;
const maxCalls = 20;

/**
 * Limits how many attempts of a sink are kept with their content: during a first load, thousands succeed each second, and
 * nobody reads them. While events are live, all are kept.
 */
export class ContentBudget {
  #left: number;
  #since: number;

  constructor(
    private readonly perMinute: number,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.#left = perMinute;
    this.#since = now();
  }

  /** Takes one. @returns false if none is left in this minute */
  take(): boolean {
    const now = this.now();
    this.#left = Math.min(this.perMinute, this.#left + ((now - this.#since) / 60_000) * this.perMinute);
    this.#since = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}

/** The budgets of one sink. */
export interface SinkBudgets {
  /** Attempts that succeeded. Without content they would say nothing that their delivery does not, so others have no row. */
  readonly delivered: ContentBudget;
  /** Attempts that failed. Others have a row without content. */
  readonly failed: ContentBudget;
}

const budgets = new WeakMap<Sink, SinkBudgets>();

/** Returns the budgets of a sink of this process. */
export function budgetsOf(sink: Sink): SinkBudgets {
  let own = budgets.get(sink);
  if (own === undefined) {
    own = { delivered: new ContentBudget(100), failed: new ContentBudget(500) };
    budgets.set(sink, own);
  }
  return own;
}

/** A batch that was sent. The lists have one entry per change, in the same order. */
export interface SentBatch {
  readonly changes: readonly ShownChange[];
  readonly planned: readonly Planned[];
  readonly settlements: readonly Settlement[];
  readonly exchanges: readonly Exchange[];
  /** Time that the sink took for the batch. */
  readonly durationMs: number;
}

/** Returns the rows of the log for a batch: one for every change that was tried and failed, and for some that succeeded. */
export function attemptsOf(sink: Sink, batch: SentBatch, kept: SinkBudgets = budgetsOf(sink)): AttemptRow[] {
  const { changes, planned, settlements } = batch;
  let byChange: Exchanges | undefined; // during a first load, most batches have no row
  return changes.flatMap((change, at) => {
    const [plan, settlement] = [planned[at]!, settlements[at]!];
    if (plan.kind !== 'send' || !isTried(settlement)) return [];
    const isDelivered = settlement.kind === 'delivered';
    const keeps = (isDelivered ? kept.delivered : kept.failed).take();
    if (isDelivered && !keeps) return [];
    byChange ??= new Exchanges(batch);
    const calls = byChange.of(plan.operation.changeId);
    const last = calls.own.at(-1) ?? calls.shared.find(({ status }) => isFailed(status)) ?? calls.shared.at(-1);
    const { sequence, replay, list, key, revision, identity } = change;
    return [
      {
        sequence,
        replay,
        list,
        key,
        revision,
        identity,
        durationMs: Math.round(calls.own.length === 0 ? batch.durationMs : spanOf(calls.own)),
        outcome: settlement.kind,
        cause: causeOf(settlement, last),
        detail: settlement.detail === undefined ? null : storedDetail({ ...settlement, detail: settlement.detail }),
        status: last?.status ?? null,
        requestId: last?.requestId ?? null,
        content: keeps ? JSON.stringify(contentOf(previewOf(sink, plan.operation), calls, changes.length === 1)) : null,
      },
    ];
  });
}

/** Returns the calls of an operation; none if the sink fails to show them, because the log must never stop a lane. */
function previewOf(sink: Sink, operation: Operation): readonly PreviewedCall[] {
  try {
    return sink.preview(operation);
  } catch {
    return [];
  }
}

type Tried = Extract<Outcome, { readonly kind: AttemptOutcome }>;

function isTried(settlement: Settlement): settlement is Tried {
  return ['delivered', 'retry', 'rejected', 'unknown', 'pause'].includes(settlement.kind);
}

function isFailed(status: number | null): boolean {
  return status === null || status >= 400;
}

/** Returns a stable code for a failure: that of the sink, the HTTP status, or `no-answer`. */
function causeOf(settlement: Tried, last: Exchange | undefined): string | null {
  if (settlement.kind === 'delivered') return null;
  if (settlement.kind === 'rejected' || settlement.kind === 'pause') return settlement.cause;
  if (last === undefined) return settlement.kind;
  return last.status === null ? 'no-answer' : `http-${last.status}`;
}

function spanOf(calls: readonly Exchange[]): number {
  return Math.max(...calls.map(({ endedAt }) => endedAt)) - Math.min(...calls.map(({ startedAt }) => startedAt));
}

interface CallsOfChange {
  /** About this change alone. */
  readonly own: readonly Exchange[];
  /** About several changes, or the sink does not say. */
  readonly shared: readonly Exchange[];
}

class Exchanges {
  readonly #own = new Map<string, Exchange[]>();
  readonly #shared = new Map<string, Exchange[]>();
  readonly #ofAll: Exchange[] = [];

  constructor({ exchanges }: SentBatch) {
    for (const exchange of exchanges) {
      const ids = exchange.changeIds;
      if (ids === null) this.#ofAll.push(exchange);
      else for (const id of ids) add(ids.length === 1 ? this.#own : this.#shared, id, exchange);
    }
  }

  of(changeId: string): CallsOfChange {
    const own = this.#own.get(changeId) ?? [];
    const shared = this.#shared.get(changeId) ?? [];
    return { own, shared: own.length + shared.length > 0 ? shared : this.#ofAll };
  }
}

function add(map: Map<string, Exchange[]>, key: string, exchange: Exchange): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [exchange]);
  else known.push(exchange);
}

function contentOf(
  preview: readonly PreviewedCall[],
  { own, shared }: CallsOfChange,
  isAlone: boolean,
): AttemptContent {
  const ownCalls = own.map((exchange) => callOf(exchange, false, exchange.answer()));
  // A refusal of a batch that has only this change is about it; other answers may be records of others.
  const sharedCalls = shared.map((exchange) =>
    callOf(exchange, !isAlone, isAlone && isFailed(exchange.status) ? exchange.answer() : null),
  );
  const calls = [...ownCalls, ...sharedCalls];
  return {
    requests: preview.slice(0, maxCalls).map(({ method, address, body }) => ({ method, address, ...bodyText(body) })),
    calls: calls.slice(0, maxCalls),
    furtherCalls: Math.max(0, calls.length - maxCalls),
  };
}

function callOf(exchange: Exchange, shared: boolean, answer: RecordedAnswer | null): RecordedCall {
  const { method, status, requestId, startedAt, endedAt } = exchange;
  // The path of another item's call can contain that item's person.
  const address = shared ? `${new URL(exchange.address).origin}/…` : exchange.address;
  return { method, address, status, requestId, durationMs: Math.round(endedAt - startedAt), answer, shared };
}

function bodyText(body: unknown): { readonly body: string | null; readonly cut: boolean } {
  if (body === null || body === undefined) return { body: null, cut: false };
  const text = typeof body === 'string' ? body : JSON.stringify(body, null, 2);
  return text.length <= maxRequest ? { body: text, cut: false } : { body: text.slice(0, maxRequest), cut: true };
}
