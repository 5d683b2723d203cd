import { type ServiceAnswer, fieldErrorsIn } from './answer.js';
import { ApiError, type Call } from './api-error.js';
import type { ClientOptions } from './client-options.js';
import { openExchange, type Exchange } from './exchange.js';
import { peekNextCursor, readPage, type Page } from './page.js';
import { defaultCount, listPath, listQuery, pigeonholePath } from './list-request.js';
import type { ListRef } from './lists.js';
import type { Quota } from './response-headers.js';
import type {
  NewPigeonhole,
  NewRegistrant,
  NewSession,
  PrintedRegistrants,
  Pigeonhole,
  Session,
} from './wire-types.js';

interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface PageOptions extends CallOptions {
  /** As the service gave it; null or absent for the first page. */
  readonly cursor?: string | null | undefined;
  /** Page size, 1 to 300; default 300. */
  readonly count?: number | undefined;
  /**
   * Called once a page has come, before it is read, with the cursor that it seems to end with: whoever is sure to go on
   * can ask for the page after at once. Only `Page.nextCursor` can be believed.
   */
  readonly onReceived?: ((cursor: string | undefined) => void) | undefined;
  /** The page is read then: that keeps this thread for milliseconds, in which it may have something better to do. */
  readonly parseAfter?: Promise<unknown> | undefined;
}

interface WalkOptions extends CallOptions {
  /** Cursor of a checkpoint; null or absent starts at the first page. */
  readonly from?: string | null | undefined;
  readonly count?: number | undefined;
}

/** A create that the service has answered with what it has made. */
export interface CreatedEntity<Entity> {
  readonly entity: Entity;
  readonly requestId: string | null;
}

/** A create that the service has answered with an empty success. */
interface Created {
  readonly requestId: string | null;
  readonly quota: Quota | null;
}

/**
 * The service, one method an operation. Every call is made once: waiting and retrying belong to whoever knows what
 * else there is to do. All reject with ApiError; with RangeError where an id or a count is impossible.
 */
export interface PigeonholeClient {
  /**
   * Yields the pages of a list until the service says that there are no more. The next page is asked for only when
   * the one before has been taken, so the caller decides when a request is spent.
   * @throws {ApiError} as `page`; also kind `protocol` when a cursor comes back that this walk has used
   */
  pages(list: ListRef, options?: WalkOptions): AsyncGenerator<Page, void, undefined>;
  /** One page. Rejects with kind `protocol` when it could not be walked on from: see `readPage`. */
  page(list: ListRef, options?: PageOptions): Promise<Page>;
  getPigeonhole(pigeonholeId: number, options?: CallOptions): Promise<Pigeonhole>;
  /** Not idempotent: a repeat makes another. `mayHaveTakenEffect` of the error says whether to look first. */
  createPigeonhole(input: NewPigeonhole, options?: CallOptions): Promise<CreatedEntity<Pigeonhole>>;
  /** Not idempotent, as `createPigeonhole`. */
  createSession(pigeonholeId: number, input: NewSession, options?: CallOptions): Promise<CreatedEntity<Session>>;
  /**
   * Creates registrants in one request; none for an empty list. Whether the service creates some when it refuses
   * others is not documented: after any error but one with `mayHaveTakenEffect: false`, look before repeating.
   */
  createRegistrants(
    pigeonholeId: number,
    registrants: readonly NewRegistrant[] | PrintedRegistrants,
    options?: CallOptions,
  ): Promise<Created>;
  /** Waits for calls under way, then closes the connections; later calls reject with kind `aborted`. */
  close(): Promise<void>;
}

/**
 * A client of one workspace, with connections of its own that `close` ends. Opens nothing until the first call.
 * @throws {ClientOptionsError} when the address, the key, the proxy or the certificates cannot be used
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
    async createRegistrants(pigeonholeId, registrants, { signal } = {}) {
      const call: Call = { method: 'POST', path: `${pigeonholePath(pigeonholeId)}/registrants/bulk` };
      const elements = 'elements' in registrants ? registrants.elements : registrants.map(printed).join(',');
      if (elements === '') return { requestId: null, quota: null };
      const answer = await exchange.send({ ...call, json: `{"data":[${elements}]}`, signal });
      requireNoRefusals(call, answer);
      return { requestId: answer.requestId, quota: answer.quota };
    },
    close: () => exchange.close(),
  };
}

function printed(registrant: NewRegistrant): string {
  return JSON.stringify(registrant);
}

async function fetchPage(
  exchange: Exchange,
  list: ListRef,
  { cursor, count, signal, onReceived, parseAfter }: PageOptions,
): Promise<Page> {
  const call: Call = { method: 'GET', path: listPath(list) };
  const query = listQuery(list, cursor ?? null, count ?? defaultCount);
  const onBody = onReceived && ((body: Uint8Array): void => onReceived(peekNextCursor(body)));
  const answer = await exchange.send({ ...call, query, signal, onBody, parseAfter });
  return readPage(call, list.list, cursor ?? null, answer);
}

/**
 * The pages of a list, each asked for by `page`: what `PigeonholeClient.pages` does, for a caller with a way of its own
 * to ask. A cursor is opaque: sent back as it came, never parsed. `hasMore` alone ends the walk; a short page does not.
 * Source: docs/service-contract.md, "Pagination".
 */
export async function* walkPages(
  page: PigeonholeClient['page'],
  list: ListRef,
  { from, count, signal }: WalkOptions,
): AsyncGenerator<Page, void, undefined> {
  const used = new Set<string>();
  for (let cursor = from ?? null; ;) {
    if (cursor !== null) used.add(cursor);
    const current = await page(list, { cursor, count, signal });
    yield current; // before the check below: these items are real, whatever the next cursor is
    if (!current.hasMore) return;
    cursor = current.nextCursor;
    if (cursor !== null && used.has(cursor)) {
      throw new ApiError(
        { method: 'GET', path: listPath(list) },
        {
          kind: 'protocol',
          problem: 'the service returned a cursor that this walk has already used',
          requestId: current.requestId,
          quota: current.quota,
          mayHaveTakenEffect: false,
        },
      );
    }
  }
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

/** A single entity, kept as it came once it has an id; its other fields are checked where they are used. */
function entityIn<Entity extends { id: number }>(call: Call, answer: ServiceAnswer): Entity {
  if (hasEntity<Entity>(answer.body)) return answer.body.data;
  throw new ApiError(call, {
    kind: 'protocol',
    problem: 'the answer holds no entity with an id under "data"',
    status: answer.status,
    requestId: answer.requestId,
    quota: answer.quota,
    mayHaveTakenEffect: call.method === 'POST',
  });
}

function hasEntity<Entity extends { id: number }>(body: unknown): body is { data: Entity } {
  if (typeof body !== 'object' || body === null || !('data' in body)) return false;
  const { data } = body;
  return typeof data === 'object' && data !== null && 'id' in data && Number.isSafeInteger(data.id);
}

/** The documented success is empty. Another body passes, unless it lists errors: then some registrants may be missing. */
function requireNoRefusals(call: Call, answer: ServiceAnswer): void {
  const { body } = answer;
  if (typeof body !== 'object' || body === null || !('errors' in body)) return;
  if (Array.isArray(body.errors) && body.errors.length === 0) return;
  throw new ApiError(call, {
    kind: 'protocol',
    problem: 'a success came with errors, so some registrants may be missing',
    status: answer.status,
    requestId: answer.requestId,
    quota: answer.quota,
    fieldErrors: fieldErrorsIn(body),
    mayHaveTakenEffect: true,
  });
}
