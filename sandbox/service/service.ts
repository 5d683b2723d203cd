import type { JsonObject } from '../json.js';
import type { ListName } from '../list-name.js';
import type { Conference } from '../world/conference.js';
import { createPigeonhole } from './create-pigeonhole.js';
import { createRegistrants } from './create-registrants.js';
import { createSession } from './create-session.js';
import type { FaultKind, FaultRule, Faults } from './faults.js';
import { parseBody } from './field-checks.js';
import type { Knobs } from './knobs.js';
import { listItems, singleBody } from './list-items.js';
import type { PageCache } from './page-cache.js';
import type { Quota } from './quota.js';
import type { RequestLog } from './request-log.js';
import { resourceOf } from './route.js';
import { httpStatusOf, ServiceError } from './service-error.js';

/** A request of the service, taken off the wire. */
export interface ServiceRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  /** Scheme, host and path as the client addressed them. */
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
 * What a request does and what it is answered, faults of the answer's content included; those of the connection
 * are the caller's. The key is looked at before the path, and the quota counts every request with a valid key.
 */
export function answerRequest(
  state: ServiceState,
  request: ServiceRequest,
  faults: ReadonlyMap<FaultKind, FaultRule>,
): ServiceAnswer {
  const serviceNowMs = state.now() + state.knobs.clockSkewSeconds * 1000;
  const headers: Record<string, string> = { Date: new Date(serviceNowMs).toUTCString() };
  try {
    if (request.apiKey === undefined || !state.apiKeys.has(request.apiKey)) throw new ServiceError(4501);
    const spent = state.quota.spend(request.apiKey, state.knobs.quota, serviceNowMs);
    Object.assign(headers, spent.headers);
    if (spent.exceeded) throw new ServiceError(8000);
    throwFault(faults.get('error'));
    const answer = perform(state, request, faults);
    throwFault(faults.get('errorAfter'));
    return { ...answer, headers: { ...headers, ...answer.headers } };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error; // a bug of the sandbox, not an answer of the service
    const rule = faults.get('error') ?? faults.get('errorAfter');
    if (rule?.retryAfterSeconds !== undefined && error.code === rule.code) {
      headers['Retry-After'] = String(rule.retryAfterSeconds);
    }
    const status =
      error instanceof WrongMethod
        ? state.knobs.wrongMethodStatus
        : ((error.code === rule?.code ? rule.status : undefined) ?? httpStatusOf(error.code, state.knobs.httpStatus));
    return json(status, JSON.stringify(error.body()), headers);
  }
}

class WrongMethod extends ServiceError {}

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
  const route = request.method === 'GET' ? resource.GET : request.method === 'POST' ? resource.POST : undefined;
  if (route === undefined) throw new WrongMethod(knobs.wrongMethodCode, { message: 'Method not supported here' });
  const nowMs = state.now();
  const body = (): JsonObject => parseBody(request.body, request.contentType);
  switch (route.kind) {
    case 'list':
      return json(200, listPage(state, route, request, faults));
    case 'readPigeonhole': {
      const item = conference.pigeonholes.item(route.pigeonholeId);
      if (item === undefined) throw new ServiceError(4504);
      const expectedParticipants = conference.space(route.pigeonholeId)?.expectedParticipants ?? 0;
      return json(
        200,
        singleBody({ ...item, expectedParticipants: item['expectedParticipants'] ?? expectedParticipants }),
      );
    }
    case 'createPigeonhole': {
      const { workspaceKind } = state;
      const { subscriptionField } = knobs;
      return json(
        knobs.createdStatus,
        singleBody(createPigeonhole(conference, body(), { workspaceKind, subscriptionField })),
      );
    }
    case 'createSession':
      return json(knobs.createdStatus, singleBody(createSession(conference, route.pigeonholeId, body(), nowMs)));
    case 'createRegistrants':
      createRegistrants(conference, route.pigeonholeId, body(), knobs);
      return { status: knobs.bulkStatus, headers: {}, body: '' };
  }
}

/** A page of a list, from the cache when nothing that it shows has changed and no fault concerns it. */
function listPage(
  { conference, knobs, pages, now }: ServiceState,
  { list, pigeonholeId }: { list: ListName; pigeonholeId: number | null },
  { query, url }: ServiceRequest,
  faults: ReadonlyMap<FaultKind, FaultRule>,
): Buffer {
  const name = `${url}?${query.toString()}`;
  const madeOf = conference.versionsOf(list, pigeonholeId);
  const isKept = faults.size === 0 && knobs.cursorText === 'plain';
  const kept = isKept ? pages.get(name, madeOf, knobs) : undefined;
  if (kept !== undefined) return kept;
  const body = Buffer.from(listItems({ conference, knobs, list, pigeonholeId, query, url, faults, nowMs: now() }));
  if (isKept) pages.put(name, madeOf, body);
  return body;
}

function json(status: number, body: string | Buffer, headers: Record<string, string> = {}): ServiceAnswer {
  return { status, headers: { ...headers, 'Content-Type': 'application/json' }, body };
}
