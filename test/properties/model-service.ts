import { createHash } from 'node:crypto';
import type { PageOptions, PigeonholeClient } from '../../pigeonhole/client.js';
import type { Call } from '../../pigeonhole/api-error.js';
import { type ListRef, listPath } from '../../pigeonhole/lists.js';
import type { PigeonholeListName } from '../../base/lists.js';
import type { Page } from '../../pigeonhole/page.js';
import type { Pigeonhole } from '../../pigeonhole/wire-types.js';
import { listFacts } from '../kit/list-facts.js';
import { abortedError, errorOf, type Fault, type Glitch, isGlitch, repeatedCursorError } from './model/fault.js';
import { inOrder } from './model/pages.js';
import type { Item, Row } from './model/row.js';
import type { ListOrder, ModelWorld } from './model/world.js';

/** A returned page, for the judge. */
export interface Answered {
  readonly tick: number;
  readonly list: ListRef;
  readonly cursor: string | null;
  /** Null on the last page. */
  readonly nextCursor: string | null;
  readonly marks: readonly string[];
}

/** Events at the arrival of a request. */
export interface Occasion {
  /** Number of the request since `plan`, starting from 1. */
  readonly request: number;
  /** Changes the world, returns a fault of the answer, or delays it. */
  readonly happen: () => void | Fault | Glitch | undefined | Promise<void>;
  /** The object that planned it, to find it among the remaining occasions. */
  readonly of?: object;
}

/**
 * The service of the specification in memory. It returns the rows of a world page by page, and any mutation can happen
 * between two requests. Written from the specification and not from the reading code. The world determines order,
 * cursors and filters.
 */
export class ModelService implements PigeonholeClient {
  readonly answered: Answered[] = [];
  requests = 0;
  /** Number of unanswered requests. */
  underWay = 0;
  #occasions: Occasion[] = [];
  #requestsBefore = 0;
  #lastInstant = 0;
  /** Simulated time, in ms since the start, at which each stream was first shown short. */
  readonly #shownShort = new Map<string, number>();
  #passedMs = 0;
  #sent = 0;

  /**
   * @param delays for each request, the number of event-loop turns until it arrives; after the last entry, the first
   * applies again
   */
  constructor(
    readonly world: ModelWorld,
    private readonly delays: readonly number[] = [],
  ) {}

  /** Plans the events from the next request on; discards the rest of an earlier plan. */
  plan(occasions: readonly Occasion[]): void {
    this.#occasions = [...occasions];
    this.#requestsBefore = this.requests;
  }

  /** Advances the service's time. Simulated time does not change the real clock. */
  pass(ms: number): void {
    this.#passedMs += ms;
  }

  /** Planned events that have not happened. */
  get left(): readonly Occasion[] {
    return this.#occasions;
  }

  /** Clock of the answers. */
  now: () => number = Date.now;
  /** Called before a request for a page arrives. */
  onSent: () => Promise<void> = async () => undefined;
  /** Called when a request for a page arrives. May change the world, or return a fault of the answer. */
  onArrival: (list: ListRef) => Fault | Glitch | undefined = () => undefined;

  async page(list: ListRef, { cursor = null, count = 300, signal }: PageOptions = {}): Promise<Page> {
    const call: Call = { method: 'GET', path: listPath(list) };
    this.underWay += 1;
    try {
      refuseAborted(call, signal);
      await this.onSent();
      await this.#travel();
      const { fault, glitch, held } = this.#arrive(list);
      const requestedAt = await this.#instant();
      refuseAborted(call, signal);
      // The answer contains the current lists, even if it is delayed. A refusal is delayed like a page.
      const passedMs = this.#passedMs;
      let page: Page;
      try {
        if (fault !== undefined) throw errorOf(fault, call);
        page = this.#answer(call, { list, cursor, count }, requestedAt, glitch);
      } finally {
        await held;
      }
      refuseAborted(call, signal);
      // Simulated time moves the instants in the ledger into the past, so the instant of this request moves by the same
      // amount.
      return { ...page, requestedAt: page.requestedAt - (this.#passedMs - passedMs) };
    } finally {
      this.underWay -= 1;
    }
  }

  async *pages(
    list: ListRef,
    { from = null, ...options }: PageOptions & { readonly from?: string | null | undefined } = {},
  ): AsyncGenerator<Page, void, undefined> {
    const used = new Set<string | null>([null]);
    for (let cursor = from; ;) {
      used.add(cursor);
      const page = await this.page(list, { ...options, cursor });
      yield page;
      if (!page.hasMore) return;
      cursor = page.nextCursor;
      // As in the client: if the order is reversed during a walk, cursors lead back.
      if (used.has(cursor)) throw repeatedCursorError({ method: 'GET', path: listPath(list) });
    }
  }

  async getPigeonhole(pigeonholeId: number): Promise<Pigeonhole> {
    const call: Call = { method: 'GET', path: `/v2/pigeonholes/${pigeonholeId}` };
    this.requests += 1;
    if (!this.world.shape.pigeonholeIds.includes(pigeonholeId)) throw errorOf('pigeonhole not found', call);
    return pigeonholeOf(pigeonholeId);
  }

  createPigeonhole(): Promise<never> {
    return Promise.reject(new Error('the model supports only reads'));
  }

  createSession(): Promise<never> {
    return Promise.reject(new Error('the model supports only reads'));
  }

  createRegistrants(): Promise<never> {
    return Promise.reject(new Error('the model supports only reads'));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Lets concurrent requests arrive in a different order. */
  async #travel(): Promise<void> {
    const turns = this.delays[this.#sent % this.delays.length] ?? 0;
    this.#sent += 1;
    for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
  }

  #arrive(list: ListRef): { fault: Fault | undefined; glitch: Glitch | undefined; held: Promise<void> | undefined } {
    this.requests += 1;
    this.world.tick += 1;
    const number = this.requests - this.#requestsBefore;
    const now = this.#occasions.filter(({ request }) => request <= number);
    this.#occasions = this.#occasions.filter(({ request }) => request > number);
    let fault: Fault | undefined;
    let glitch: Glitch | undefined;
    let held: Promise<void> | undefined;
    for (const happen of [...now.map((occasion) => occasion.happen), () => this.onArrival(list)]) {
      const outcome = happen();
      if (typeof outcome === 'string' && isGlitch(outcome)) glitch = outcome;
      else if (typeof outcome === 'string') fault = outcome;
      else if (outcome !== undefined) held = outcome;
    }
    return { fault, glitch, held };
  }

  /** Ensures that no two requests happen in the same millisecond, so that one of two answers is always newer. */
  async #instant(): Promise<number> {
    while (this.now() <= this.#lastInstant) await new Promise(setImmediate);
    this.#lastInstant = this.now();
    return this.#lastInstant;
  }

  #answer(
    call: Call,
    { list, cursor, count }: { list: ListRef; cursor: string | null; count: number },
    requestedAt: number,
    glitch: Glitch | undefined,
  ): Page {
    const perPage = Math.min(count, this.world.perPage);
    if (list.list === 'pigeonholes' || list.list === 'subscriptions') {
      const ids = list.list === 'pigeonholes' ? this.world.shape.pigeonholeIds : [];
      return toPage(ids.map(pigeonholeOf), { cursor, nextCursor: null, perPage, requestedAt, number: this.requests });
    }
    const rows = this.#ordered(call, list, glitch === 'filters ignored');
    const start = startOf(cursor, rows, this.world.orders[list.list]);
    if (start === undefined) throw errorOf('cursor refused', call);
    const page = rows.slice(start, start + perPage);
    const isShort = (glitch === 'short' || glitch === 'empty') && this.#mayBeShort(list);
    const shown = isShort ? page.slice(0, glitch === 'short' ? Math.floor(page.length / 2) : 0) : page;
    const hasMore = !isShort && start + shown.length < rows.length;
    const nextCursor = hasMore ? this.#cursorBehind(list.list, start + shown.length, shown.at(-1)!) : null;
    this.answered.push({
      tick: this.world.tick,
      list,
      cursor,
      nextCursor,
      marks: shown.map((row) => `${row.list} ${row.id}`),
    });
    const items = shown.map((row) => this.world.shown(list.pigeonholeId, row));
    return toPage(items, { cursor, nextCursor, perPage, requestedAt, number: this.requests });
  }

  /**
   * Whether an answer may be short. Each stream may be short for less than `deletions.confirm`, because two short
   * answers further apart prove a deletion like two correct ones. The live list of questions may be short only once,
   * because a single absence is confirmed immediately there. Lists whose items move between sessions may not be short:
   * an item that left one session and is hidden in the other would look deleted.
   */
  #mayBeShort(list: Exclude<ListRef, { list: 'pigeonholes' | 'subscriptions' }>): boolean {
    if (listFacts[list.list].movesBetweenStreams) return false;
    const stream = `${list.pigeonholeId} ${list.list} ${'sessionId' in list ? list.sessionId : 0}`;
    const since = this.#shownShort.get(stream);
    if (since === undefined) this.#shownShort.set(stream, this.#passedMs);
    return since === undefined || (list.list !== 'qna-questions' && this.#passedMs - since < confirmableMs);
  }

  #ordered(
    call: Call,
    list: Exclude<ListRef, { list: 'pigeonholes' | 'subscriptions' }>,
    ignoresFilters: boolean,
  ): Row[] {
    const { pigeonholeId, list: name } = list;
    if (!this.world.shape.pigeonholeIds.includes(pigeonholeId)) throw errorOf('pigeonhole not found', call);
    if ('sessionId' in list && !this.world.rows(pigeonholeId, 'sessions').some(({ id }) => id === list.sessionId)) {
      throw errorOf('session not found', call);
    }
    const all = this.world.rows(pigeonholeId, name);
    const rows = ignoresFilters ? all : all.filter((row) => passes(row, list, this.world.shape.filters));
    return inOrder(rows, this.world.orders[name]);
  }

  #cursorBehind(list: PigeonholeListName, offset: number, last: Row): string {
    const issued = this.world.shape.signedCursors ? `#${this.requests}` : '';
    if (this.world.shape.cursors === 'offset') return encode(`at ${offset}${issued}`);
    const place = this.world.orders[list] === 'unordered' ? `rank ${last.rank} ${last.id}` : `id ${last.id}`;
    return encode(`${place}${issued}`);
  }
}

/** Below the default of `deletions.confirm` (30 s) by more than the real time that a run takes between two answers. */
const confirmableMs = 13_000;

function refuseAborted(call: Call, signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw abortedError(call);
}

function passes(row: Row, ref: ListRef, optionalFilters: boolean): boolean {
  // A required filter is applied by every service that accepts the request.
  if ('sessionId' in ref && row.sessionId !== ref.sessionId) return false;
  if (!optionalFilters || !('filters' in ref)) return true;
  const wanted = (ref.filters ?? {}) as { sessionId?: number; questionId?: number; attendeeId?: number };
  return (
    (wanted.sessionId === undefined || wanted.sessionId === row.sessionId) &&
    (wanted.questionId === undefined || wanted.questionId === row.questionId) &&
    (wanted.attendeeId === undefined || wanted.attendeeId === row.attendeeId)
  );
}

/** Returns undefined for a cursor of another order. A position after the end leads to a page without rows. */
function startOf(cursor: string | null, rows: readonly Row[], order: ListOrder): number | undefined {
  if (cursor === null) return 0;
  const [place = ''] = decode(cursor).split('#');
  const [kind, ...values] = place.split(' ');
  const [first = Number.NaN, second = Number.NaN] = values.map(Number);
  const behind = (isBehind: (row: Row) => boolean): number => {
    const index = rows.findIndex(isBehind);
    return index === -1 ? rows.length : index;
  };
  if (kind === 'at') return Math.min(first, rows.length);
  if (kind === 'id' && order === 'ascending') return behind(({ id }) => id > first);
  if (kind === 'id' && order === 'descending') return behind(({ id }) => id < first);
  if (kind === 'rank' && order === 'unordered') {
    return behind(({ rank, id }) => rank > first || (rank === first && id > second));
  }
  return undefined;
}

function encode(position: string): string {
  return Buffer.from(position).toString('base64');
}

function decode(cursor: string): string {
  return Buffer.from(cursor, 'base64').toString();
}

function pigeonholeOf(id: number): Pigeonhole {
  return { id, name: `Pigeonhole ${id}`, status: 'live', startDate: '2026-01-01', timezone: 'UTC' };
}

function toPage(
  items: readonly Item[],
  place: { cursor: string | null; nextCursor: string | null; perPage: number; requestedAt: number; number: number },
): Page {
  const { cursor, nextCursor, perPage, requestedAt, number } = place;
  const hasMore = nextCursor !== null;
  const body = JSON.stringify({ data: items, meta: { perPage, nextCursor, hasMore } });
  const page = {
    items: [...items],
    irregular: [],
    cursor,
    nextCursor,
    hasMore,
    perPage,
    requestId: `request-${number}`,
    requestedAt,
    quota: null,
    bytes: Buffer.byteLength(body),
    digest: createHash('sha256').update(JSON.stringify(items)).digest('hex'),
  };
  return page;
}
