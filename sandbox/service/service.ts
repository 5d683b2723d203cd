import type { JsonObject } from '../json.js';
import { isListName, isSpaceListName, type ListName, LISTS } from '../list-name.js';
import type { Conference } from '../world/conference.js';
import { createPigeonhole, createRegistrants, parseBody, createSession } from './create-operations.js';
import { type FaultKind, type FaultRule, type Faults, retryAfterOf } from './faults.js';
import type { Knobs } from './knobs.js';
import { listItems, singleBody } from './list-items.js';
import type { Quota } from './quota.js';
import type { RequestLog } from './serve-request.js';
import { ServiceError } from './service-error.js';

/** A received request. */
export interface ServiceRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  /** The scheme, host and path that the client used. */
  url: string;
  apiKey: string | undefined;
  contentType: string | undefined;
  body: string;
}

export interface ServiceAnswer {
  status: number;
  headers: Record<string, string>;
  body: string | Buffer;
}

export interface ServiceState {
  conference: Conference;
  workspaceKind: 'personal' | 'team';
  apiKeys: Set<string>;
  knobs: Knobs;
  faults: Faults;
  quota: Quota;
  log: RequestLog;
  pages: PageCache;
  /** This machine's clock, milliseconds since 1970. */
  now: () => number;
}

/**
 * Executes a request and returns its answer. Applies faults of the answer's content; the caller applies faults of the
 * connection. Checks the key before the path. The quota counts every request with a valid key.
 */
export function answerRequest(
  state: ServiceState,
  request: ServiceRequest,
  faults: ReadonlyMap<FaultKind, FaultRule>,
): ServiceAnswer {
  const headers: Record<string, string> = { Date: new Date(state.now()).toUTCString() };
  try {
    if (request.apiKey === undefined || !state.apiKeys.has(request.apiKey)) throw new ServiceError(4501);
    const spent = state.quota.spend(request.apiKey, state.knobs.quota, state.now());
    Object.assign(headers, spent.headers);
    if (spent.exceeded) throw new ServiceError(8000);
    throwFault(faults.get('error'));
    const answer = perform(state, request, faults);
    throwFault(faults.get('errorAfter'));
    return { ...answer, headers: { ...headers, ...answer.headers } };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error; // a defect of the sandbox, not an answer of the service
    const rules = [faults.get('error'), faults.get('errorAfter'), faults.get('staleCursor')];
    const rule = rules.find((each) => each?.code === error.code);
    if (rule === undefined) return json(error.status, JSON.stringify(error.body()), headers);
    Object.assign(headers, retryAfterOf(rule, state.now()));
    const { code: _code, ...withoutCode } = error.body();
    const body = rule.withoutCode ? withoutCode : error.body();
    return json(rule.status ?? error.status, JSON.stringify(body), headers);
  }
}

function throwFault(rule: FaultRule | undefined): void {
  if (rule === undefined) return;
  const errors = rule.code === 4500 ? { errors: [{ field: 'body', message: 'is not accepted' }] } : {};
  throw new ServiceError(rule.code, errors);
}

function perform(
  state: ServiceState,
  request: ServiceRequest,
  faults: ReadonlyMap<FaultKind, FaultRule>,
): ServiceAnswer {
  const { conference, knobs } = state;
  const resource = resourceOf(request.path);
  if (resource === undefined) throw new ServiceError(4502);
  const { list, GET, POST } = resource;
  const named =
    resource.pigeonholeId === null ? null : (faults.get('otherPigeonhole')?.instead ?? resource.pigeonholeId);
  const pigeonholeId = named!; // used only for resources of a pigeonhole
  const operation = request.method === 'GET' ? GET : request.method === 'POST' ? POST : undefined;
  if (operation === undefined) throw new ServiceError(9000, { message: 'Method not supported here' });
  const nowMs = state.now();
  const body = (): JsonObject => parseBody(request.body, request.contentType);
  switch (operation) {
    case 'list':
      return json(200, listPage(state, { list: list!, pigeonholeId: named }, request, faults));
    case 'readPigeonhole': {
      const item = conference.pigeonholes.item(pigeonholeId);
      if (item === undefined) throw new ServiceError(4504);
      const expectedParticipants = conference.space(pigeonholeId)?.expectedParticipants ?? 0;
      return json(
        200,
        singleBody({ ...item, expectedParticipants: item['expectedParticipants'] ?? expectedParticipants }),
      );
    }
    case 'createPigeonhole': {
      const { workspaceKind } = state;
      const { subscriptionField } = knobs;
      return json(201, singleBody(createPigeonhole(conference, body(), { workspaceKind, subscriptionField })));
    }
    case 'createSession':
      return json(201, singleBody(createSession(conference, pigeonholeId, body(), nowMs)));
    case 'createRegistrants':
      createRegistrants(conference, pigeonholeId, body(), knobs);
      return { status: 204, headers: {}, body: '' };
  }
}

/** Returns a page of a list, from the cache if its contents have not changed and no fault affects it. */
function listPage(
  { conference, knobs, pages, now }: ServiceState,
  { list, pigeonholeId }: { list: ListName; pigeonholeId: number | null },
  { query, url }: ServiceRequest,
  faults: ReadonlyMap<FaultKind, FaultRule>,
): Buffer {
  const name = `${url}?${query.toString()}`;
  const versions = conference.versionsOf(list, pigeonholeId);
  const isKept = faults.size === 0 && knobs.cursorText === 'plain';
  const kept = isKept ? pages.get(name, versions, knobs) : undefined;
  if (kept !== undefined) return kept;
  const body = Buffer.from(listItems({ conference, knobs, list, pigeonholeId, query, url, faults, nowMs: now() }));
  if (isKept) pages.put(name, versions, body);
  return body;
}

function json(status: number, body: string | Buffer, headers: Record<string, string> = {}): ServiceAnswer {
  return { status, headers: { ...headers, 'Content-Type': 'application/json' }, body };
}

const MAX_BYTES = 64 * 2 ** 20;

/**
 * Caches rendered pages, so that a second walk over unchanged data costs the service almost nothing and a benchmark
 * measures the client. Limited in bytes; the least recently used page is removed first.
 */
export class PageCache {
  readonly #pages = new Map<string, { versions: string; body: Buffer }>();
  #setting: unknown;
  #bytes = 0;

  /**
   * Returns the cached page of a name if it was rendered from the same versions.
   * @param setting settings of every page; a different object clears the cache
   */
  get(name: string, versions: string, setting: unknown): Buffer | undefined {
    if (this.#setting !== setting) {
      this.#pages.clear();
      this.#bytes = 0;
      this.#setting = setting;
    }
    const page = this.#pages.get(name);
    if (page === undefined) return undefined;
    this.#drop(name);
    if (page.versions !== versions) return undefined;
    this.#keep(name, page);
    return page.body;
  }

  put(name: string, versions: string, body: Buffer): void {
    this.#drop(name);
    this.#keep(name, { versions, body });
    for (const oldest of this.#pages.keys()) {
      if (this.#bytes <= MAX_BYTES) return;
      this.#drop(oldest);
    }
  }

  #keep(name: string, page: { versions: string; body: Buffer }): void {
    this.#pages.set(name, page);
    this.#bytes += page.body.length;
  }

  #drop(name: string): void {
    this.#bytes -= this.#pages.get(name)?.body.length ?? 0;
    this.#pages.delete(name);
  }
}

/** A resource of the service with its operations, by method. */
interface Resource {
  list: ListName | null;
  /** Null for the resources of the workspace. */
  pigeonholeId: number | null;
  GET?: 'list' | 'readPigeonhole';
  POST?: 'createPigeonhole' | 'createSession' | 'createRegistrants';
}

/**
 * Returns the resource of a path; undefined for an unknown path.
 * @throws {ServiceError} 4504 if a pigeonhole id is not an integer
 */
export function resourceOf(path: string): Resource | undefined {
  const [empty, version, first, id, ...rest] = path.split('/');
  if (empty !== '' || version !== 'v2') return undefined;
  if (first === 'subscriptions' && id === undefined) return { list: first, pigeonholeId: null, GET: 'list' };
  if (first !== 'pigeonholes') return undefined;
  if (id === undefined) return { list: first, pigeonholeId: null, GET: 'list', POST: 'createPigeonhole' };
  const below = rest.join('/');
  const readable = isListName(below) && isSpaceListName(below) && LISTS[below].isReadable ? below : undefined;
  if (readable === undefined && !['', 'registrants/bulk'].includes(below)) return undefined;
  if (!/^\d{1,15}$/.test(id)) throw new ServiceError(4504);
  const pigeonholeId = Number(id);
  if (readable === 'sessions') return { list: readable, pigeonholeId, GET: 'list', POST: 'createSession' };
  if (readable !== undefined) return { list: readable, pigeonholeId, GET: 'list' };
  if (below === '') return { list: null, pigeonholeId, GET: 'readPigeonhole' };
  return { list: 'registrants', pigeonholeId, POST: 'createRegistrants' };
}
