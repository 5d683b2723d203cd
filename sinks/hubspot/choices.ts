import type { Choices } from '../connect.js';
import { fieldsOf } from '../sink.js';
import type { CallBudget } from '../rest/rest-client.js';
import { failureOf } from './check.js';
import { listOf } from './classify.js';
import type { HubSpotClient } from './client.js';

/** The form fills these from the attendee in any case. */
const always: ReadonlySet<string> = new Set(['email', 'firstname', 'lastname']);

/** Returns the properties of contacts that the mapping may write. Never throws. Source: HubSpot, "Properties". */
export async function listProperties(client: HubSpotClient, budget: CallBudget): Promise<Choices> {
  const reply = await client.get(client.path('properties', 'contacts'), budget);
  if (reply.kind !== 'ok') return { kind: 'refused', detail: failureOf(reply, 'the properties of contacts') };
  const items = listOf(reply.body.results)
    .map(fieldsOf)
    .filter(({ name, hidden, calculated, modificationMetadata }) => {
      const isReadOnly = fieldsOf(modificationMetadata)['readOnlyValue'] === true;
      return hidden !== true && calculated !== true && !isReadOnly && !always.has(String(name));
    })
    .map(({ name, label }) => ({ value: String(name), label: String(label ?? name), note: String(name) }))
    .toSorted((one, other) => one.label.localeCompare(other.label));
  return { kind: 'offered', items, more: false };
}
