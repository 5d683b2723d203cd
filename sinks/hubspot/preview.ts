import type { PreviewedCall } from '../sink.js';
import type { HubSpotClient } from './client.js';
import type { ContactReference, RecordStep, RegistrationStep, Step } from './operation.js';
import { propertyText, upsertOf } from './send-records.js';
import { inputOf } from './send-registrations.js';

/** An id that only an answer of HubSpot contains. */
const unknownId = '{id}';

type Addresses = Pick<HubSpotClient, 'address'>;

/** Returns the calls of a step in their order. Pure. */
export function previewOf(step: Step, client: Addresses): PreviewedCall[] {
  const post = (resource: Parameters<Addresses['address']>[0], call: string, body: unknown): PreviewedCall => {
    return { method: 'POST', address: client.address(resource, call), body };
  };
  const lists = (how: 'add' | 'remove', listIds: readonly string[], id: string): PreviewedCall[] =>
    listIds.map((listId) => {
      return { method: 'PUT', address: client.address('lists', `${listId}/memberships/${how}`), body: [id] };
    });
  const readContact = ({ match }: ContactReference): PreviewedCall[] =>
    match.map(({ property, value }) =>
      post('objects', 'contacts/batch/read', { idProperty: property, inputs: [{ id: value }] }),
    );
  switch (step.kind) {
    case 'record':
      return [
        ...recordCalls(step, client),
        ...(step.contact === null ? [] : readContact(step.contact)),
        ...(step.contact === null
          ? []
          : [
              post('associations', `${step.objectType}/contacts/batch/associate/default`, {
                inputs: [{ from: { id: step.id ?? unknownId }, to: { id: unknownId } }],
              }),
            ]),
        ...lists('add', step.lists, step.id ?? unknownId),
        ...lists(
          'remove',
          step.listsBefore.filter((listId) => !step.lists.includes(listId)),
          step.id ?? unknownId,
        ),
      ];
    case 'forget': {
      const properties = Object.fromEntries(Object.keys(step.writtenAtMs).map((name) => [name, '']));
      return [
        post('objects', `${step.objectType}/batch/read`, { inputs: [{ id: step.id }] }),
        post('objects', `${step.objectType}/batch/update`, { inputs: [{ id: step.id, properties }] }),
        ...lists('remove', step.lists, step.id),
      ];
    }
    case 'leave':
      return lists('remove', step.lists, step.id);
    case 'archive':
      return [post('objects', `${step.objectType}/batch/archive`, { inputs: [{ id: step.id }] })];
    case 'registration':
      return registrationCalls(step, client);
    case 'note': {
      const { id, properties, contact } = step;
      if (id !== null) return [post('objects', 'notes/batch/update', { inputs: [{ id, properties }] })];
      const input = { properties, associations: [{ to: { id: step.sentTo ?? unknownId } }] };
      return [...readContact(contact), post('objects', 'notes/batch/create', { inputs: [input] })];
    }
    case 'by-hand':
      return [];
  }
}

function recordCalls({ objectType, id, match, create, write }: RecordStep, client: Addresses): PreviewedCall[] {
  const post = (call: string, body: unknown): PreviewedCall => {
    return { method: 'POST', address: client.address('objects', `${objectType}/batch/${call}`), body };
  };
  const properties = Object.fromEntries(write.map(({ name, value }) => [name, propertyText(value)]));
  const reads =
    id === null
      ? match.map(({ property, value }) => post('read', { idProperty: property, inputs: [{ id: value }] }))
      : [];
  const [first] = match;
  if (id === null && create && first !== undefined) {
    return [...reads, post('upsert', { inputs: [upsertOf(first, properties).body] })];
  }
  return [...reads, post('update', { inputs: [{ id: id ?? unknownId, properties }] })];
}

function registrationCalls(step: RegistrationStep, client: Addresses): PreviewedCall[] {
  const { event, attendance, email, eventId } = step;
  const { details, ...name } = event;
  const address = (call: string): string => client.address('marketingEvents', call);
  const call = email === null ? 'create' : 'email-create';
  return [
    { method: 'GET', address: address(`${encodeURIComponent(event.externalEventId)}/identifiers`), body: null },
    ...(details === null
      ? []
      : [{ method: 'POST', address: address('events/upsert'), body: { inputs: [{ ...details, ...name }] } }]),
    {
      method: 'POST',
      address: address(`${eventId ?? unknownId}/attendance/${attendance}/${call}`),
      body: { inputs: [inputOf(step).body] },
    },
  ];
}
