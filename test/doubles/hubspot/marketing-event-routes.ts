import type { DoubleAnswer } from '../serve/double-request.js';
import { inputsOf, jsonBody, propertyValues, requiredText, type Call, type Route } from './call.js';
import { HubSpotRefusal, invalidInput, notFound } from './hubspot-refusal.js';
import type { AttendanceState, MarketingEvent, Participation } from './marketing-events.js';
import { refusalOf, validateProperties } from './validate-properties.js';
import type { CrmRecord } from './portal.js';

const EVENTS = '/marketing/v3/marketing-events/events';
/** Documented of the upsert; of attendance nothing is, and the same is assumed. */
const MAX_INPUTS = 100;
const STATES: Readonly<Record<string, AttendanceState>> = {
  register: 'REGISTERED',
  attend: 'ATTENDED',
  cancel: 'CANCELLED',
};

/** Marketing events by the ids of an outside system, and who took part. Documented: "Marketing events". */
export const marketingEventRoutes: readonly Route[] = [
  route('POST', `${EVENTS}/upsert`, 'write', upsert),
  route('POST', EVENTS, 'write', create),
  route('GET', `${EVENTS}/([^/]+)`, 'read', (call) => ({ status: 200, json: eventJson(existing(call)) })),
  route('PUT', `${EVENTS}/([^/]+)`, 'write', put),
  route('DELETE', `${EVENTS}/([^/]+)`, 'write', remove),
  route('POST', '/marketing/v3/marketing-events/attendance/([^/]+)/([^/]+)/email-create', 'write', attendByEmail),
  route('POST', '/marketing/v3/marketing-events/attendance/([^/]+)/([^/]+)/create', 'write', attendById),
  route('GET', '/marketing/v3/marketing-events/participations/([^/]+)/([^/]+)/breakdown', 'read', breakdown),
  route('GET', '/marketing/v3/marketing-events/participations/([^/]+)/([^/]+)', 'read', counters),
];

function route(method: string, path: string, access: 'read' | 'write', answer: (call: Call) => DoubleAnswer): Route {
  return {
    method,
    path: new RegExp(`^${path}$`),
    scopes: () => [`crm.objects.marketing_events.${access}`],
    answer,
  };
}

function upsert(call: Call): DoubleAnswer {
  const inputs = inputsOf(jsonBody(call), MAX_INPUTS).map(eventOf);
  const keys = new Set(inputs.map(({ accountId, eventId }) => JSON.stringify([accountId, eventId])));
  if (keys.size < inputs.length) throw invalidInput('Duplicate externalEventId found in batch input');
  return {
    status: 200,
    json: {
      status: 'COMPLETE',
      results: inputs.map((input) =>
        eventJson(call.account.marketingEvents.upsert(input.accountId, input.eventId, input.fields)),
      ),
    },
  };
}

function create(call: Call): DoubleAnswer {
  const { accountId, eventId, fields } = eventOf(jsonBody(call));
  if (call.account.marketingEvents.find(accountId, eventId) !== undefined) {
    throw new HubSpotRefusal(409, 'CONFLICT', 'Marketing event already exists');
  }
  return { status: 201, json: eventJson(call.account.marketingEvents.upsert(accountId, eventId, fields)) };
}

function put(call: Call): DoubleAnswer {
  const { accountId, fields } = eventOf({ ...jsonBody(call), externalEventId: call.parts[0]! });
  return { status: 200, json: eventJson(call.account.marketingEvents.upsert(accountId, call.parts[0]!, fields)) };
}

function remove(call: Call): DoubleAnswer {
  call.account.marketingEvents.remove(existing(call));
  return { status: 204 };
}

/** Contacts that do not exist are created with `contactProperties`; those that do keep what they have. */
function attendByEmail(call: Call): DoubleAnswer {
  const event = existing(call);
  const state = stateOf(call.parts[1]!);
  const { account } = call;
  const inputs = inputsOf(jsonBody(call), MAX_INPUTS).map((input) => ({
    email: requiredText(input, 'email'),
    atMs: interactionAt(input),
    contactProperties: input.contactProperties === undefined ? {} : propertyValues(input, 'contactProperties'),
  }));
  const results = account.portal.atomically(() =>
    inputs.map(({ email, atMs, contactProperties }) => {
      const problems = validateProperties(account.contacts.properties, { email });
      if (problems.length > 0) throw refusalOf(problems);
      const contact =
        account.portal.byUnique(account.contacts, 'email', email) ??
        account.portal.create(account.contacts, { ...contactProperties, email });
      return { contact, email: email.toLowerCase(), atMs };
    }),
  );
  return recorded(call, event, state, results);
}

function attendById(call: Call): DoubleAnswer {
  const event = existing(call);
  const state = stateOf(call.parts[1]!);
  const results = inputsOf(jsonBody(call), MAX_INPUTS).map((input) => {
    const { vid } = input;
    if (typeof vid !== 'number') throw invalidInput('Some required fields were not set: [vid]');
    const contact = call.account.portal.byId(call.account.contacts, String(vid));
    if (contact === undefined) throw notFound(`No contact with ID ${vid} exists`);
    return { contact, email: contact.values.get('email'), atMs: interactionAt(input) };
  });
  return recorded(call, event, state, results);
}

function recorded(
  call: Call,
  event: MarketingEvent,
  state: AttendanceState,
  results: readonly { contact: CrmRecord; email: string | undefined; atMs: number }[],
): DoubleAnswer {
  for (const { contact, atMs } of results) call.account.marketingEvents.record(event, contact.id, state, atMs);
  return {
    status: 200,
    json: {
      status: 'COMPLETE',
      results: results.map(({ contact, email }) => ({
        vid: Number(contact.id),
        ...(email !== undefined && { email }),
      })),
    },
  };
}

function breakdown(call: Call): DoubleAnswer {
  const event = found(call, call.parts[0]!, call.parts[1]!);
  const { query } = call.request;
  const state = query.get('state');
  const identifier = query.get('contactIdentifier');
  const limit = Number(query.get('limit') ?? 10);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) throw invalidInput('limit must be between 1 and 100');
  const fitting = call.account.marketingEvents
    .participationsOf(event)
    .filter((participation) => state === null || participation.state === state)
    .filter(({ contactId }) => identifier === null || isContact(call, contactId, identifier));
  const after = Number(query.get('after') ?? 0);
  return {
    status: 200,
    json: {
      total: fitting.length,
      results: fitting.slice(after, after + limit).map((participation) => participationJson(call, participation)),
      ...(fitting.length > after + limit && { paging: { next: { after: String(after + limit) } } }),
    },
  };
}

function counters(call: Call): DoubleAnswer {
  const participations = call.account.marketingEvents.participationsOf(found(call, call.parts[0]!, call.parts[1]!));
  const count = (state: AttendanceState): number => participations.filter((each) => each.state === state).length;
  return {
    status: 200,
    json: { attended: count('ATTENDED'), registered: count('REGISTERED'), cancelled: count('CANCELLED'), noShows: 0 },
  };
}

function participationJson(
  call: Call,
  { id, event, contactId, state, occurredAtMs, createdAtMs }: Participation,
): unknown {
  const contact = call.account.portal.byId(call.account.contacts, contactId);
  return {
    id,
    createdAt: new Date(createdAtMs).toISOString(),
    properties: { occurredAt: occurredAtMs, attendanceState: state },
    associations: {
      contact: {
        contactId,
        email: contact?.values.get('email'),
        firstname: contact?.values.get('firstname'),
        lastname: contact?.values.get('lastname'),
      },
      marketingEvent: {
        marketingEventId: event.id,
        name: event.fields.eventName,
        externalAccountId: event.externalAccountId,
        externalEventId: event.externalEventId,
      },
    },
  };
}

function isContact(call: Call, contactId: string, identifier: string): boolean {
  if (contactId === identifier) return true;
  return call.account.portal.byUnique(call.account.contacts, 'email', identifier)?.id === contactId;
}

function existing(call: Call): MarketingEvent {
  const accountId = call.request.query.get('externalAccountId');
  if (accountId === null) throw invalidInput('Some required parameters were not set: [externalAccountId]');
  return found(call, accountId, call.parts[0]!);
}

function found(call: Call, accountId: string, eventId: string): MarketingEvent {
  const event = call.account.marketingEvents.find(accountId, eventId);
  if (event === undefined) throw notFound('No marketing event exists with these external ids');
  return event;
}

function eventOf(input: Readonly<Record<string, unknown>>): {
  accountId: string;
  eventId: string;
  fields: Record<string, unknown>;
} {
  const accountId = requiredText(input, 'externalAccountId');
  const eventId = requiredText(input, 'externalEventId');
  requiredText(input, 'eventName');
  requiredText(input, 'eventOrganizer');
  const { customProperties } = input;
  if (customProperties !== undefined && !isListOfNamedValues(customProperties)) {
    throw invalidInput('Invalid input JSON: customProperties is not a list of {name, value}');
  }
  const { externalAccountId: _account, externalEventId: _event, ...fields } = input;
  return { accountId, eventId, fields };
}

function isListOfNamedValues(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    (value as { name?: unknown; value?: unknown }[]).every(
      (each) => typeof each.name === 'string' && typeof each.value === 'string',
    )
  );
}

function eventJson(event: MarketingEvent): Record<string, unknown> {
  return {
    ...event.fields,
    id: event.externalEventId,
    objectId: event.id,
    externalAccountId: event.externalAccountId,
    externalEventId: event.externalEventId,
    createdAt: new Date(event.createdAtMs).toISOString(),
    updatedAt: new Date(event.updatedAtMs).toISOString(),
  };
}

function stateOf(subscriberState: string): AttendanceState {
  const state = STATES[subscriberState];
  if (state === undefined) throw invalidInput('subscriberState is not one of [register, attend, cancel]');
  return state;
}

function interactionAt(input: Readonly<Record<string, unknown>>): number {
  const { interactionDateTime } = input;
  if (typeof interactionDateTime !== 'number' || !Number.isSafeInteger(interactionDateTime)) {
    throw invalidInput('Some required fields were not set: [interactionDateTime]');
  }
  return interactionDateTime;
}
