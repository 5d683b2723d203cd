import { Secret } from '../../../../config/secret.js';
import type { CrmRecord } from '../../../../sandbox/hubspot/portal.js';
import { startHubSpotDouble } from '../../../../sandbox/hubspot/start-hubspot-double.js';
import { createHubSpotSink } from '../../../../sinks/hubspot/hubspot.js';
import { loadHubSpotConfig } from '../../../../sinks/hubspot/load-config.test-kit.js';
import { environmentOf } from '../../../../sinks/sink-environment.test-kit.js';
import { changeOf, emailOf, type HeldDestination, numberIn, personOf, type Version } from './held-destination.js';

const records = [
  {
    from: 'attendees',
    object: 'contacts',
    match: ['email'],
    properties: { email: 'item.Email', firstname: { value: 'item.Name', write: 'if-empty' }, company: 'item.Company' },
  },
  { from: 'qna-questions', object: 'notes', email: 'attendee.Email', properties: { hs_note_body: 'item.content' } },
];

/** Contacts, and for the even items notes, because two contacts cannot have the same address. */
export async function startHubSpot(): Promise<HeldDestination> {
  const hubspot = await startHubSpotDouble({ profile: 'withoutRules' });
  const { portal, contacts, associations } = hubspot.account;
  const notes = hubspot.account.type('notes');
  const config = loadHubSpotConfig({ token: new Secret('hubspot-token'), baseUrl: hubspot.url, records });
  const limits = { per10s: 1_000_000 };
  const sink = createHubSpotSink(
    config,
    environmentOf('crm', { requestTimeoutMs: 60_000, onForget: 'manual', limits }),
  );
  const isNote = (number: number): boolean => number % 2 === 0;
  const textOf = (number: number, version: Version): string => `${version} text of ${emailOf(number)}`;
  const noteOf = (number: number): CrmRecord =>
    portal.all(notes).find(({ values }) => numberIn(values.get('hs_note_body') ?? '') === number)!;
  const contactOf = (number: number): CrmRecord => portal.byUnique(contacts, 'email', emailOf(number))!;
  return {
    sink,
    findsCopies: true,
    leavesErased: true,
    item: (number, version) =>
      isNote(number)
        ? changeOf('qna-questions', number, version, { id: number, content: textOf(number, version) }, author(number))
        : personOf(number, version, { Company: textOf(number, version) }),
    contents: () =>
      [contacts, notes].flatMap((type) =>
        portal.all(type).map((record) => {
          const text = JSON.stringify([...record.values].toSorted(([a], [b]) => a.localeCompare(b)));
          return [`${type.name} ${record.id}`, numberIn(text), text] as const;
        }),
      ),
    remove: (number) => portal.archive(contactOf(number)),
    edit: (number) => portal.update(noteOf(number), { hs_note_body: textOf(number, 'edited') }),
    backup(number) {
      const contact = contactOf(number);
      const company = contact.values.get('company')!;
      return () => (contact.archivedAtMs === undefined ? portal.update(contact, { company }) : portal.restore(contact));
    },
    merge(number) {
      const kept = portal.create(contacts, { email: 'kept@example.com', company: 'Other' });
      hubspot.account.mergeContacts(kept, contactOf(number));
    },
    duplicate(number) {
      const copy = portal.create(notes, Object.fromEntries(noteOf(number).values));
      const contact = {
        toType: 'contacts',
        toId: contactOf(number - 1).id,
        category: 'HUBSPOT_DEFINED',
        typeId: 202,
      } as const;
      associations.add({ fromType: 'notes', fromId: copy.id, ...contact });
    },
    async close() {
      await sink.close();
      await hubspot.close();
    },
  };

  function author(number: number) {
    return { attendee: { Email: emailOf(number - 1) } };
  }
}
