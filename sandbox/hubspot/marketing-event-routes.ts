import type { DoubleAnswer } from '../serve/double-request.js';
import {
  enforcesRules,
  inputsOf,
  jsonBody,
  onlyFields,
  propertyValues,
  requiredText,
  type Call,
  type Route,
  HubSpotRefusal,
  invalidInput,
  notFound,
} from './call.js';
import type { AttendanceState, MarketingEvent, Participation } from './marketing-events.js';
import { refusalOf, validateProperties } from './validate-properties.js';
import type { CrmRecord } from './portal.js';

const ROOT = '/marketing/v3/marketing-events';
const EVENTS = `${ROOT}/events`;
/** Documented of the upsert; of attendance nothing is, and the same is assumed. */
const MAX_INPUTS = 100;
const STATES: Readonly<Record<string, AttendanceState>> = {
  register: 'REGISTERED',
  attend: 'ATTENDED',
  cancel: 'CANCELLED',
};

/**
 * Marketing events and who took part. Documented: "Marketing events". By the ids of an outside system an event answers
 * only to the app that created it, and is a 404 to every other; by its own id it answers to all.
 */
export const marketingEventRoutes: readonly Route[] = [
  route('POST', `${EVENTS}/upsert`, 'write', upsert),
  route('POST', EVENTS, 'write', create),
  route('GET', `${EVENTS}/([^/]+)`, 'read', (call) => ({ status: 200, json: eventJson(existing(call)) })),
  route('PUT', `${EVENTS}/([^/]+)`, 'write', put),
  route('DELETE', `${EVENTS}/([^/]+)`, 'write', remove),
  route('POST', `${ROOT}/attendance/([^/]+)/([^/]+)/email-create`, 'write', attendByEmail),
  route('POST', `${ROOT}/attendance/([^/]+)/([^/]+)/create`, 'write', attendById),
  route('GET', `${ROOT}/([^/]+)/identifiers`, 'read', identifiers),
  route('POST', `${ROOT}/([0-9]+)/attendance/([^/]+)/email-create`, 'write', (call) => attendByEmail(call, byId(call))),
  route('POST', `${ROOT}/([0-9]+)/attendance/([^/]+)/create`, 'write', (call) => attendById(call, byId(call))),
  route('GET', `${ROOT}/([0-9]+)`, 'read', (call) => ({ status: 200, json: eventJson(byId(call)) })),
  route('PATCH', `${ROOT}/([0-9]+)`, 'write', patch),
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
        eventJson(call.account.marketingEvents.upsert(call.appId, input.accountId, input.eventId, input.fields)),
      ),
    },
  };
}

function create(call: Call): DoubleAnswer {
  const { accountId, eventId, fields } = eventOf(jsonBody(call));
  if (call.account.marketingEvents.find(call.appId, accountId, eventId) !== undefined) {
    throw new HubSpotRefusal(409, 'CONFLICT', 'Marketing event already exists');
  }
  return { status: 201, json: eventJson(call.account.marketingEvents.upsert(call.appId, accountId, eventId, fields)) };
}

function put(call: Call): DoubleAnswer {
  const { accountId, fields } = eventOf({ ...jsonBody(call), externalEventId: call.parts[0]! });
  const event = call.account.marketingEvents.upsert(call.appId, accountId, call.parts[0]!, fields);
  return { status: 200, json: eventJson(event) };
}

function patch(call: Call): DoubleAnswer {
  const event = byId(call);
  const body = jsonBody(call);
  onlyFields(body, [...DETAILS, 'eventCancelled', 'customProperties']);
  customPropertiesOf(body);
  call.account.marketingEvents.change(event, body);
  return { status: 200, json: eventJson(event) };
}

/** Every event of the account with this external id, whichever app created it. */
function identifiers(call: Call): DoubleAnswer {
  const found = call.account.marketingEvents.all().filter((event) => event.externalEventId === call.parts[0]);
  const results = found.map((event) => ({
    objectId: event.id,
    externalAccountId: event.externalAccountId,
    externalEventId: event.externalEventId,
    marketingEventName: event.fields.eventName,
    appInfo: { id: event.appId, name: `App ${event.appId}` },
  }));
  return { status: 200, json: { total: results.length, results } };
}

function remove(call: Call): DoubleAnswer {
  call.account.marketingEvents.remove(existing(call));
  return { status: 204 };
}

/** Contacts that do not exist are created with `contactProperties`; those that do keep what they have. */
function attendByEmail(call: Call, event = existing(call)): DoubleAnswer {
  const state = stateOf(call.parts[1]!);
  const { account } = call;
  const inputs = inputsOf(jsonBody(call), MAX_INPUTS).map((input) => {
    onlyFields(input, ['email', 'interactionDateTime', 'properties', 'contactProperties']);
    const email = requiredText(input, 'email');
    const contactProperties = propertyValues(input, 'contactProperties');
    return { email, ...interactionOf(input, state), contactProperties };
  });
  const results = account.portal.atomically(() =>
    inputs.map(({ email, contactProperties, ...interaction }) => {
      const problems = validateProperties(account.contacts.properties, { email });
      if (problems.length > 0) throw refusalOf(problems);
      const contact =
        account.portal.byUnique(account.contacts, 'email', email) ??
        account.portal.create(account.contacts, { ...contactProperties, email }, enforcesRules(call));
      return { contact, email: email.toLowerCase(), ...interaction };
    }),
  );
  return recorded(call, event, state, results);
}

function attendById(call: Call, event = existing(call)): DoubleAnswer {
  const state = stateOf(call.parts[1]!);
  const results = inputsOf(jsonBody(call), MAX_INPUTS).map((input) => {
    onlyFields(input, ['vid', 'interactionDateTime', 'properties']);
    const { vid } = input;
    if (typeof vid !== 'number') throw invalidInput('Some required fields were not set: [vid]');
    const contact = call.account.portal.byId(call.account.contacts, String(vid));
    if (contact === undefined) throw notFound(`No contact with ID ${vid} exists`);
    return { contact, email: contact.values.get('email'), ...interactionOf(input, state) };
  });
  return recorded(call, event, state, results);
}

function recorded(
  call: Call,
  event: MarketingEvent,
  state: AttendanceState,
  results: readonly ({ contact: CrmRecord; email: string | undefined } & Interaction)[],
): DoubleAnswer {
  for (const { contact, atMs, properties } of results) {
    const participation = call.account.marketingEvents.record(event, contact.id, state, atMs);
    Object.assign(participation.properties, properties);
  }
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

function byId(call: Call): MarketingEvent {
  const event = call.account.marketingEvents.byId(call.parts[0]!);
  if (event === undefined) throw notFound(`No marketing event exists with ID ${call.parts[0]}`);
  return event;
}

function found(call: Call, accountId: string, eventId: string): MarketingEvent {
  const event = call.account.marketingEvents.find(call.appId, accountId, eventId);
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
  onlyFields(input, [...DETAILS, ...FLAGS, 'customProperties', 'externalAccountId', 'externalEventId']);
  customPropertiesOf(input);
  const { externalAccountId: _account, externalEventId: _event, ...fields } = input;
  return { accountId, eventId, fields };
}

/** Documented fields of a marketing event, other than its ids. */
const DETAILS = [
  'eventName',
  'eventOrganizer',
  'eventType',
  'eventDescription',
  'eventUrl',
  'startDateTime',
  'endDateTime',
];
const FLAGS = ['eventCancelled', 'eventCompleted'];

/** Documented as required in every request that writes an event. */
function customPropertiesOf({ customProperties }: Readonly<Record<string, unknown>>): void {
  if (customProperties === undefined) throw invalidInput('Some required fields were not set: [customProperties]');
  if (!isListOfNamedValues(customProperties)) {
    throw invalidInput('Invalid input JSON: customProperties is not a list of {name, value}');
  }
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

interface Interaction {
  readonly atMs: number;
  readonly properties: Readonly<Record<string, string>>;
}

/** Documented: `joinedAt` and `leftAt`, of the state `attend` alone; (A) instants in ISO 8601. */
function interactionOf(input: Readonly<Record<string, unknown>>, state: AttendanceState): Interaction {
  const properties = propertyValues(input);
  onlyFields(properties, state === 'ATTENDED' ? ['joinedAt', 'leftAt'] : []);
  if (Object.values(properties).some((value) => Number.isNaN(Date.parse(value)))) {
    throw invalidInput('Invalid input JSON: joinedAt and leftAt are instants');
  }
  return { atMs: interactionAt(input), properties };
}

function interactionAt(input: Readonly<Record<string, unknown>>): number {
  const { interactionDateTime } = input;
  if (typeof interactionDateTime !== 'number' || !Number.isSafeInteger(interactionDateTime)) {
    throw invalidInput('Some required fields were not set: [interactionDateTime]');
  }
  return interactionDateTime;
}
