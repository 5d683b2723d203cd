import { serviceTraits } from '../base/lists.js';
import { factsOf, fieldErrorsIn, type KnownFrames, memberOf, type ServiceAnswer } from './answer.js';
import { ApiError, type Call } from './api-error.js';
import type { ClientOptions } from './connections.js';
import { openExchange, type Exchange } from './exchange.js';
import { readPage, type Page } from './page.js';
import { type ListRef, defaultCount, listPath, listQuery, pigeonholePath } from './lists.js';
import type { Quota } from './response.js';
import type { Pigeonhole, Session } from './wire-types.js';

interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface PageOptions extends CallOptions {
  /** As received from the service; null or absent for the first page. */
  readonly cursor?: string | null | undefined;
  /** Page size, 1 to 300; default 300. */
  readonly count?: number | undefined;
  /**
   * Pages of this list that the caller received before. A body that equals one of theirs is not parsed until the page's
   * items are used. The client adds the pages that it returns.
   */
  readonly known?: KnownFrames | undefined;
}

interface WalkOptions extends CallOptions {
  /** The cursor of a checkpoint; null or absent for the first page. */
  readonly from?: string | null | undefined;
  readonly count?: number | undefined;
}

/**
 * The fields of a pigeonhole or session to create, sent unchanged. The service ignores fields that it does not know.
 * Source: docs/service-contract.md, "Creating".
 */
type NewObject = Readonly<Record<string, unknown>>;

/** The result of a request that creates an entity, if the service answered with the entity. */
export interface CreatedEntity<Entity> {
  readonly entity: Entity;
  readonly requestId: string | null;
}

/** The result of a request that creates entities, if the service reported success without a body. */
interface Created {
  readonly requestId: string | null;
  readonly quota: Quota | null;
}

/**
 * The service, with one method per operation. Every call is made once: the caller decides when to wait and retry,
 * because it knows what other work there is. All calls reject with ApiError, with RangeError if an id or a count is
 * invalid, or with the error of `confirm` (base/lease.ts) if the caller's lease was not confirmed.
 */
export interface PigeonholeClient {
  /**
   * Yields the pages of a list up to the last one. It requests the next page only after the caller has taken the
   * previous one, so the caller decides when to spend a request of the quota.
   * @throws {ApiError} as `page`; also with kind `protocol` if the service returns a cursor that this walk has already
   * used, or the same page too often (`maxTimesShown`)
   */
  pages(list: ListRef, options?: WalkOptions): AsyncGenerator<Page, void, undefined>;
  /** Returns one page. Rejects with kind `protocol` if the page does not allow the walk to continue: see `readPage`. */
  page(list: ListRef, options?: PageOptions): Promise<Page>;
  getPigeonhole(pigeonholeId: number, options?: CallOptions): Promise<Pigeonhole>;
  /**
   * Not idempotent: a second call creates a second pigeonhole. If the call fails, `mayHaveTakenEffect` of the error
   * says whether to look the pigeonhole up before a retry.
   */
  createPigeonhole(input: NewObject, options?: CallOptions): Promise<CreatedEntity<Pigeonhole>>;
  /** Not idempotent, like `createPigeonhole`. */
  createSession(pigeonholeId: number, input: NewObject, options?: CallOptions): Promise<CreatedEntity<Session>>;
  /**
   * Creates registrants in one request; without elements, no request is sent. It is not documented whether the service
   * creates some registrants when it rejects others. If the call fails and `mayHaveTakenEffect` is not false, look the
   * registrants up before you repeat the call.
   * @param elements the elements of a JSON array without its brackets, as the caller stores them. Each registrant has
   *   `attendeeCode`, and one text for each enabled profile field of the pigeonhole, under the field's name
   */
  createRegistrants(pigeonholeId: number, elements: string, options?: CallOptions): Promise<Created>;
  /** Waits for calls in progress, then closes the connections. Later calls reject with kind `aborted`. */
  close(): Promise<void>;
}

/**
 * Creates a client of one workspace, with its own connections, which `close` closes. Connects on the first call.
 * @throws {ClientOptionsError} if the address, the key, the proxy or the certificates cannot be used
 */
export function createPigeonholeClient(options: ClientOptions): PigeonholeClient {
  const exchange = openExchange(options);
  const page = (list: ListRef, pageOptions: PageOptions = {}): Promise<Page> => fetchPage(exchange, list, pageOptions);
  return {
    page,
    pages: (list, walkOptions = {}) => walkPages(page, list, walkOptions),
    async getPigeonhole(pigeonholeId, { signal } = {}) {
      const call: Call = { method: 'GET', path: pigeonholePath(pigeonholeId) };
      return entityIn<Pigeonhole>(call, await exchange.send({ ...call, signal }));
    },
    async createPigeonhole(input, { signal } = {}) {
      return createEntity<Pigeonhole>(exchange, { method: 'POST', path: '/v2/pigeonholes' }, input, signal);
    },
    async createSession(pigeonholeId, input, { signal } = {}) {
      const path = `${pigeonholePath(pigeonholeId)}/sessions`;
      return createEntity<Session>(exchange, { method: 'POST', path }, input, signal);
    },
    async createRegistrants(pigeonholeId, elements, { signal } = {}) {
      const call: Call = { method: 'POST', path: `${pigeonholePath(pigeonholeId)}/registrants/bulk` };
      if (elements === '') return { requestId: null, quota: null };
      const answer = await exchange.send({ ...call, json: `{"data":[${elements}]}`, signal });
      requireNoRefusals(call, answer);
      return { requestId: answer.requestId, quota: answer.quota };
    },
    close: () => exchange.close(),
  };
}

async function fetchPage(
  exchange: Exchange,
  list: ListRef,
  { cursor, count, signal, known }: PageOptions,
): Promise<Page> {
  const call: Call = { method: 'GET', path: listPath(list) };
  const query = listQuery(list, cursor ?? null, count ?? defaultCount);
  const answer = await exchange.send({ ...call, query, signal, known });
  const page = readPage(call, list.list, cursor ?? null, answer);
  const { bodyHash, frame } = answer;
  if (known !== undefined && bodyHash !== undefined && frame === undefined) {
    const { nextCursor, hasMore, perPage, digest } = page;
    known.set(bodyHash, { nextCursor, hasMore, perPage, digest });
  }
  return page;
}

/**
 * Yields the pages of a list, as `PigeonholeClient.pages` does, for a caller that supplies its own `page`. Cursors are
 * opaque: they are returned as received and never parsed. Only `hasMore` ends the walk; a short page does not.
 * Source: docs/service-contract.md, "Pagination".
 */
export async function* walkPages(
  page: PigeonholeClient['page'],
  list: ListRef,
  { from, count, signal }: WalkOptions,
): AsyncGenerator<Page, void, undefined> {
  const used = new Set<string>();
  const timesShown = new Map<string, number>();
  for (let cursor = from ?? null; ;) {
    if (cursor !== null) used.add(cursor);
    const current = await page(list, { cursor, count, signal });
    yield current; // before the check below: these items are valid, whatever the next cursor is
    if (!current.hasMore) return;
    cursor = current.nextCursor;
    const times = (timesShown.get(current.digest) ?? 0) + 1;
    timesShown.set(current.digest, times);
    if (times > maxTimesShown(list, current) || (cursor !== null && used.has(cursor))) {
      throw new ApiError(
        { method: 'GET', path: listPath(list) },
        {
          kind: 'protocol',
          problem: 'the service returned a cursor that leads back to pages which this walk has already read',
          requestId: current.requestId,
          quota: current.quota,
          mayHaveTakenEffect: false,
        },
      );
    }
  }
}

/**
 * Returns the number of times that a walk may receive the same page before it counts as going in a circle. A repeated
 * cursor is not the only sign of a circle, because the service may return different cursors for the same page. A list
 * may show one page twice if rows move to a later page during the walk. Pages of votes may be equal more often, because
 * anonymous votes of the same second are identical.
 */
function maxTimesShown({ list }: ListRef, { items }: Page): number {
  const instants = new Set(items.map((item) => (item as { createdAt?: unknown }).createdAt));
  return !serviceTraits[list].hasIds && instants.size === 1 ? 100 : 2;
}

async function createEntity<Entity extends { id: number }>(
  exchange: Exchange,
  call: Call,
  body: unknown,
  signal: AbortSignal | undefined,
): Promise<CreatedEntity<Entity>> {
  const answer = await exchange.send({ ...call, json: JSON.stringify(body), signal });
  return { entity: entityIn<Entity>(call, answer), requestId: answer.requestId };
}

/** Returns a single entity as received, if it has an id; its other fields are checked where they are used. */
function entityIn<Entity extends { id: number }>(call: Call, answer: ServiceAnswer): Entity {
  if (hasEntity<Entity>(answer.body)) return answer.body.data;
  throw new ApiError(call, {
    kind: 'protocol',
    problem: 'the answer has no entity with an id under "data"',
    ...factsOf(answer),
    mayHaveTakenEffect: call.method === 'POST',
  });
}

function hasEntity<Entity extends { id: number }>(body: unknown): body is { data: Entity } {
  return Number.isSafeInteger(memberOf(memberOf(body, 'data'), 'id'));
}

/**
 * Throws if a success lists errors, because some registrants may be missing. The documented success has no body; any
 * body without errors passes.
 */
function requireNoRefusals(call: Call, answer: ServiceAnswer): void {
  const errors = memberOf(answer.body, 'errors');
  if (errors === undefined || (Array.isArray(errors) && errors.length === 0)) return;
  throw new ApiError(call, {
    kind: 'protocol',
    problem: 'the service reported success and listed errors, so some registrants may be missing',
    ...factsOf(answer),
    fieldErrors: fieldErrorsIn(answer.body),
    mayHaveTakenEffect: true,
  });
}
