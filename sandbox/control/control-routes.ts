import { isListName, LIST_NAMES, isSpaceListName, type ListName, RESPONSE_LISTS } from '../list-name.js';
import { FAULT_KINDS, faultSchema } from '../service/faults.js';
import { knobsSchema, listSettingSchema, type Knobs } from '../service/knobs.js';
import type { ServiceState } from '../service/service.js';
import type { AnyTable } from '../store/item-table.js';
import { mutate, MutationError, type MutationResult } from '../world/mutations.js';
import { type Traffic, EVENT_KINDS } from '../world/traffic.js';
import { z } from 'zod';

/** A control request that cannot be carried out; the message says what to do instead. */
export class ControlError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'ControlError';
    this.status = status;
  }
}

const list = z.enum(LIST_NAMES);
const item = z.record(z.string(), z.json());

/** Bodies of the control API. */
const mutationSchema = z.strictObject({
  op: z.enum(['insert', 'patch', 'delete', 'restore']),
  list,
  pigeonhole: z.int().optional(),
  id: z.int().optional(),
  item: item.optional(),
  exact: z.boolean().optional(),
  mirror: z.boolean().optional(),
});

const mutationsSchema = z.union([mutationSchema.transform((one) => [one]), z.array(mutationSchema)]);

const touchSchema = z.strictObject({
  list,
  pigeonhole: z.int(),
  share: z.number().positive().max(1),
});

const clearSchema = z.strictObject({
  pigeonhole: z.int(),
  lists: z.array(list).default([...RESPONSE_LISTS]),
});

const eventsSchema = z.strictObject({
  count: z.int().min(1).max(1_000_000).default(1),
  kind: z.enum(EVENT_KINDS).optional(),
});

const thawSchema = z.strictObject({ rate: z.number().positive().optional() });

const signInSchema = z.strictObject({
  pigeonhole: z.int(),
  attendeeCode: z.string(),
});

const keysSchema = z.strictObject({ accepted: z.array(z.string().min(1)) });

/**
 * Checks a control body.
 * @throws {ControlError} 400, naming the field
 */
function check<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? 'the body' : `"${issue.path.join('.')}"`;
  throw new ControlError(
    400,
    `${where}: ${issue?.message ?? 'is not understood'}; see sandbox/README.md for an example`,
  );
}

/** The parts of the sandbox that the control API changes. */
export interface Controlled {
  service: ServiceState;
  traffic: Traffic;
  /** Events a second after `thaw` without a rate. */
  rate: number;
  /** The settings at the start of the sandbox. */
  initialKnobs: Knobs;
}

interface ControlRequest {
  method: string;
  /** Path after `/_control/`. */
  path: string;
  query: URLSearchParams;
  /** Parsed JSON; undefined without a body. */
  body: unknown;
}

/** A route whose result is sent as JSON. `truth` is not a route, since it is streamed. */
type Handler = (controlled: Controlled, request: ControlRequest) => unknown;

const ROUTES: Record<string, Handler> = {
  'GET state': ({ service, traffic }) => stateOf(service, traffic),
  'POST freeze': ({ traffic }) => {
    traffic.freeze();
    return { frozen: true };
  },
  'POST thaw': ({ traffic, rate }, { body }) => {
    traffic.thaw(check(thawSchema, body ?? {}).rate ?? rate);
    return { frozen: traffic.frozen };
  },
  'POST events': ({ traffic }, { body }) => {
    const { count, kind } = check(eventsSchema, body ?? {});
    traffic.emit(count, kind);
    return { emitted: traffic.emitted };
  },
  'GET faults': ({ service }) => ({ faults: service.faults.state(), kinds: FAULT_KINDS }),
  'POST faults': ({ service }, { body }) => {
    const rules = (Array.isArray(body) ? body : [body]).map((rule: unknown) => check(faultSchema, rule));
    return { ids: rules.map((rule) => service.faults.add(rule)) };
  },
  'DELETE faults': ({ service }) => ({ lifted: service.faults.lift() }),
  'GET knobs': ({ service }) => service.knobs,
  'PATCH knobs': ({ service }, { body }) => {
    const given = typeof body === 'object' && body !== null ? body : {};
    service.knobs = check(knobsSchema, { ...service.knobs, ...given });
    if ('quota' in given) service.quota.reset();
    return service.knobs;
  },
  'DELETE knobs': ({ service, initialKnobs }) => {
    service.knobs = initialKnobs;
    service.quota.reset();
    return service.knobs;
  },
  'DELETE quota': ({ service }) => {
    service.quota.reset();
    return { used: service.quota.used(service.now()) };
  },
  'POST mutations': ({ service }, { body }) => {
    const results: MutationResult[] = [];
    for (const { pigeonhole, ...mutation } of check(mutationsSchema, body)) {
      results.push(mutate(service.conference, { ...mutation, pigeonholeId: pigeonhole ?? null }, service.now()));
    }
    return { results };
  },
  'GET absences': ({ service }) => ({ absences: service.conference.absences.all() }),
  'GET consents': ({ service }) => ({ consents: service.conference.consentChanges }),
  'POST touch': ({ service }, { body }) => touch(service, check(touchSchema, body)),
  'POST clear': ({ service }, { body }) => {
    const { pigeonhole, lists } = check(clearSchema, body);
    for (const list of lists) {
      tableOf(service, list, pigeonhole).clear();
      service.conference.absences.gone({ list, pigeonholeId: pigeonhole, id: null, item: null }, service.now());
    }
    return { cleared: lists };
  },
  'POST sign-in': ({ service }, { body }) => {
    const { pigeonhole, attendeeCode } = check(signInSchema, body);
    const desk = service.conference.space(pigeonhole)?.desk;
    const registrantId = desk?.idOf(attendeeCode);
    if (desk === undefined || registrantId === undefined) {
      throw new ControlError(
        404,
        `no registrant of pigeonhole ${pigeonhole} has that code; create the registrant first`,
      );
    }
    return { registrantId, attendeeId: desk.signIn(registrantId, service.now()) };
  },
  'POST keys': ({ service }, { body }) => {
    service.apiKeys = new Set(check(keysSchema, body).accepted);
    return { accepted: service.apiKeys.size };
  },
  'GET requests': ({ service }, { query }) => ({
    requests: service.log.latest(Number(query.get('last') ?? 100) || 100),
  }),
  'DELETE requests': ({ service }) => {
    service.log.reset();
    return service.log.counts();
  },
};

/**
 * Answers a control request.
 * @throws {ControlError} for a path, body or item that does not exist
 */
export function control(controlled: Controlled, request: ControlRequest): unknown {
  const handler = ROUTES[`${request.method} ${request.path}`];
  if (handler === undefined) return controlOne(controlled, request);
  try {
    return handler(controlled, request);
  } catch (error) {
    if (error instanceof MutationError) throw new ControlError(404, error.message);
    throw error;
  }
}

/** Handles paths with the id of a fault or the name of a list. */
function controlOne({ service }: Controlled, { method, path, body }: ControlRequest): unknown {
  const [first, name = ''] = path.split('/');
  if (method === 'DELETE' && first === 'faults') return { lifted: service.faults.lift(Number(name)) };
  if (method === 'POST' && first === 'lists' && isListName(name)) {
    const lists = { ...service.knobs.lists, [name]: check(listSettingSchema, body) };
    service.knobs = { ...service.knobs, lists };
    return lists;
  }
  const known = Object.keys(ROUTES).join(', ');
  throw new ControlError(
    404,
    `there is no ${method} /_control/${path}; there are ${known}, POST lists/<list>, DELETE faults/<id>, GET truth/<list>`,
  );
}

/** Returns a list by name. @throws {ControlError} 404 if the list needs a pigeonhole that does not exist */
export function tableOf(service: ServiceState, list: ListName, pigeonholeId: number | null): AnyTable {
  const table = service.conference.table(list, pigeonholeId);
  if (table !== undefined) return table;
  throw new ControlError(
    404,
    `${list} needs the id of an existing pigeonhole as "pigeonhole", but got ${String(pigeonholeId)}`,
  );
}

/**
 * Edits a share of a list, evenly spread. In each of these items, changes a text that belongs to the item itself, not
 * one that is copied from another item.
 */
function touch(
  service: ServiceState,
  { list, pigeonhole, share }: { list: ListName; pigeonhole: number; share: number },
): unknown {
  const table = tableOf(service, list, pigeonhole);
  const ids = table.order(null, 'byId');
  const wanted = Math.round(ids.size * share);
  const touched: number[] = [];
  for (let count = 0; count < wanted; count += 1) {
    const id = ids.idAt(Math.floor((count * ids.size) / wanted));
    if (id === undefined) continue;
    const item = touchPatch(list, `touched ${service.now()}.${count}`);
    mutate(service.conference, { op: 'patch', list, pigeonholeId: pigeonhole, id, item }, service.now());
    touched.push(id);
  }
  return { touched };
}

function touchPatch(list: ListName, text: string): Record<string, string | { content: string }> {
  if (list === 'questions') return { question: { content: text } };
  if (list === 'qna-questions') return { content: text };
  if (list === 'answers') return { answer: { content: text } };
  if (list === 'sessions' || list === 'pigeonholes') return { description: text };
  if (list === 'attendees' || list === 'registrants') return { Company: text };
  throw new ControlError(400, `${list} has no text of its own to edit; use POST /_control/mutations`);
}

function stateOf(service: ServiceState, traffic: Traffic): unknown {
  const { conference } = service;
  const pigeonholes = conference.spaces().map((space) => ({
    id: space.id,
    status: conference.pigeonholes.item(space.id)?.['status'],
    counts: Object.fromEntries(LIST_NAMES.filter(isSpaceListName).map((list) => [list, space.table(list).size])),
  }));
  return {
    frozen: traffic.frozen,
    emitted: traffic.emitted,
    subscriptions: conference.subscriptions.size,
    pigeonholes,
    requests: service.log.counts(),
    quotaUsed: service.quota.used(service.now()),
  };
}
