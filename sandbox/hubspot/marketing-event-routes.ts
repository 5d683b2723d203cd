import type { DoubleAnswer } from '../serve/double-request.js';
import {
  enforcesRules,
  jsonBody,
  onlyFields,
  onlyInputs,
  propertyValues,
  requiredText,
  type Call,
  type Route,
  invalidInput,
  notFound,
} from './call.js';
import type { AttendanceState, MarketingEvent, Participation } from './marketing-events.js';
import { refusalOf, validateProperties } from './validate-properties.js';
import type { CrmRecord } from './portal.js';

const ROOT = '/marketing/v3/marketing-events';
/** Documented for the upsert. No limit is documented for attendance; the double assumes the same one. */
const MAX_INPUTS = 100;
const STATES: Readonly<Record<string, AttendanceState>> = {
  register: 'REGISTERED',
  attend: 'ATTENDED',
  cancel: 'CANCELLED',
};

/**
 * Marketing events and their participants. Documented: "Marketing events". An upsert finds only events that the same
 * app created. Every app of the account can access an event by its `objectId`.
 */
export const marketingEventRoutes: readonly Route[] = [
  route('POST', `${ROOT}/events/upsert`, 'write', upsert),
  route('GET', `${ROOT}/([^/]+)/identifiers`, 'read', identifiers),
  route('POST', `${ROOT}/([0-9]+)/attendance/([^/]+)/email-create`, 'write', attendByEmail),
  route('POST', `${ROOT}/([0-9]+)/attendance/([^/]+)/create`, 'write', attendById),
  route('PATCH', `${ROOT}/([0-9]+)`, 'write', patch),
  {
    ...route('GET', `${ROOT}/participations/([0-9]+)/breakdown`, 'read', breakdown),
    query: ['after', 'contactIdentifier', 'limit'],
  },
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
  const fields = [...DETAILS, ...FLAGS, 'customProperties', 'externalAccountId', 'externalEventId'];
  const inputs = onlyInputs(call, MAX_INPUTS, fields).map(eventOf);
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

function patch(call: Call): DoubleAnswer {
  const event = byId(call);
  const body = jsonBody(call);
  onlyFields(body, [...DETAILS, 'eventCancelled', 'customProperties']);
  customPropertiesOf(body);
  call.account.marketingEvents.change(event, body);
  return { status: 200, json: eventJson(event) };
}

/** Returns every event of the account with this external id, regardless of the app that created it. */
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

/**
 * Returns the participations in an event, page by page. Documented: "Read participations breakdown by internal
 * identifier", 2026-09; (A) at most 100 on a page.
 */
function breakdown(call: Call): DoubleAnswer {
  const event = byId(call);
  const { query } = call.request;
  const [limit, after] = [Number(query.get('limit') ?? 10), Number(query.get('after') ?? 0)];
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_INPUTS) throw invalidInput('limit is not between 1 and 100');
  const { marketingEvents, portal, contacts } = call.account;
  const contact = query.get('contactIdentifier');
  const all = marketingEvents
    .participationsOf(event)
    .filter(({ contactId }) => contact === null || contactId === contact || emailOf(contactId) === contact);
  const page = all.slice(after, after + limit);
  const next = after + limit < all.length ? { paging: { next: { after: String(after + limit), link: '' } } } : {};
  return { status: 200, json: { total: all.length, results: page.map(shown), ...next } };

  function emailOf(contactId: string): string | undefined {
    return portal.byId(contacts, contactId)?.values.get('email');
  }

  function shown({ id, contactId, state, occurredAtMs, createdAtMs }: Participation): unknown {
    const { externalAccountId, externalEventId } = event;
    const about = { marketingEventId: event.id, externalAccountId, externalEventId, name: event.fields.eventName };
    return {
      id,
      createdAt: new Date(createdAtMs).toISOString(),
      associations: { contact: { contactId, email: emailOf(contactId) }, marketingEvent: about },
      properties: { attendanceState: state, occurredAt: occurredAtMs },
    };
  }
}

/** Creates missing contacts with `contactProperties`. Existing contacts stay unchanged. */
function attendByEmail(call: Call): DoubleAnswer {
  const event = byId(call);
  const state = stateOf(call.parts[1]!);
  const { account } = call;
  const fields = ['email', 'interactionDateTime', 'properties', 'contactProperties'];
  const inputs = onlyInputs(call, MAX_INPUTS, fields).map((input) => {
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

function attendById(call: Call): DoubleAnswer {
  const event = byId(call);
  const state = stateOf(call.parts[1]!);
  const results = onlyInputs(call, MAX_INPUTS, ['vid', 'interactionDateTime', 'properties']).map((input) => {
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

function byId(call: Call): MarketingEvent {
  const event = call.account.marketingEvents.byId(call.parts[0]!);
  if (event === undefined) throw notFound(`No marketing event exists with ID ${call.parts[0]}`);
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

/** Documented: `joinedAt` and `leftAt`, only for the state `attend`; (A) instants in ISO 8601. */
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
