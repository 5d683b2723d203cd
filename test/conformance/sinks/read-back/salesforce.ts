import { field } from '../../../../sandbox/salesforce/sobject-type.js';
import type { OrgRecord } from '../../../../sandbox/salesforce/org.js';
import { TestOrg } from '../../../../sinks/salesforce/org.test-kit.js';
import { emailOf, type HeldDestination, numberIn, personOf, type Version } from './held-destination.js';

const record = {
  object: 'Contact',
  match: ['externalId', 'contactEmail'],
  externalId: { Key__c: '$string(item.id)' },
  properties: { Email: 'item.Email', LastName: { value: 'item.Name', write: 'if-empty' }, Title: 'item.Title' },
};

/** Contacts with an external id that need not be unique, as in an org whose administrator did not tick "unique". */
export async function startSalesforce(): Promise<HeldDestination> {
  let nowMs = Date.parse('2026-11-22T09:30:00Z');
  const org = await TestOrg.open({
    profile: 'noRules',
    app: 'external',
    now: () => nowMs,
    fields: { Contact: [field('Key__c', { externalId: true })] },
  });
  const made = org.sink(record, {}, { now: () => nowMs, onForget: 'manual' });
  const { org: records } = org.double.org;
  const contactOf = (number: number): OrgRecord =>
    records.all(records.type('Contact')).find(({ values }) => values.Key__c === String(number))!;
  const titleOf = (version: Version): string => `Title, ${version}`;
  return {
    sink: {
      ...made,
      async send(...given) {
        nowMs += 60_000; // the engine waits between two attempts
        return await made.send(...(given as unknown as Parameters<typeof made.send>));
      },
    } as HeldDestination['sink'],
    findsCopies: true,
    leavesErased: true,
    item: (number, version) => personOf(number, version, { Title: titleOf(version) }),
    contents: () =>
      records.all(records.type('Contact')).map(({ id, values }) => {
        const { SystemModstamp: _, LastModifiedDate: __, ...own } = values;
        return [id, numberIn(JSON.stringify(own)), JSON.stringify(own)] as const;
      }),
    remove: (number) => records.delete(contactOf(number)),
    edit: (number) => org.change(contactOf(number), { Title: titleOf('edited'), Phone: '123' }),
    backup(number) {
      const contact = contactOf(number);
      const { Title } = contact.values;
      return () => (contact.deleted ? records.undelete(contact) : org.change(contact, { Title }));
    },
    merge(number) {
      const kept = org.add('Contact', { LastName: 'Kept', Email: emailOf(number), Title: 'Other' });
      records.mergeContacts(kept, contactOf(number));
    },
    duplicate: (number) => org.add('Contact', { LastName: 'Copy', Email: emailOf(number), Key__c: String(number) }),
    close: () => org.close(),
  };
}
