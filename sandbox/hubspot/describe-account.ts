import { statePage, type StateTable } from '../serve/state-page.js';
import type { Account } from './account.js';
import { systemValues } from './record-json.js';

/** Describes the account as rows: for `GET /_double/state`, and for the page. */
export function accountState(account: Account): Record<string, Readonly<Record<string, unknown>>[]> {
  const events = account.marketingEvents.all();
  return {
    ...Object.fromEntries(
      account.types.map((type) => [
        type.name,
        account.portal
          .all(type)
          .map((record) => ({ id: record.id, ...Object.fromEntries(record.values), ...systemValues(record) })),
      ]),
    ),
    associations: account.associations.all().map((association) => ({ ...association })),
    marketingEvents: events.map(({ id, externalAccountId, externalEventId, fields }) => ({
      id,
      externalAccountId,
      externalEventId,
      ...fields,
    })),
    lists: account.lists.all().map(({ listId, members }) => ({ listId, members: [...members].join(' ') })),
    participations: events.flatMap((event) =>
      account.marketingEvents.participationsOf(event).map(({ contactId, state, occurredAtMs, activities }) => ({
        event: event.externalEventId,
        contactId,
        email: account.portal.byId(account.contacts, contactId)?.values.get('email'),
        state,
        occurredAt: new Date(occurredAtMs).toISOString(),
        activities: activities.length,
      })),
    ),
  };
}

export function accountPage(account: Account): string {
  const tables: StateTable[] = Object.entries(accountState(account))
    .filter(([title, rows]) => rows.length > 0 || title === 'contacts')
    .map(([title, rows]) => ({ title, rows: rows.map(withoutItsOwn) }));
  return statePage({
    title: `HubSpot: portal ${account.portalId}`,
    note: 'a stand-in for an account: the records as they are now, newest first',
    barColor: '#b5431f',
    tables,
  });
}

/** Removes properties that HubSpot sets automatically, and the id, which the row already has. */
function withoutItsOwn(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(row).filter(([name]) => name !== 'hs_object_id' && name !== 'createdate'));
}
