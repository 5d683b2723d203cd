import { Secret } from '../../../../config/secret.js';
import { type Contact, startDynamicsDouble } from '../../../../sandbox/dynamics/start-dynamics-double.js';
import { dynamicsConfigSchema } from '../../../../sinks/dynamics/config.js';
import { createDynamicsSink } from '../../../../sinks/dynamics/dynamics.js';
import { environmentOf } from '../../../../sinks/sink-environment.test-kit.js';
import { emailOf, type HeldDestination, numberIn, personOf, type Version } from './held-destination.js';

const records = [
  {
    from: 'attendees',
    object: 'contacts',
    match: ['emailaddress1'],
    properties: {
      emailaddress1: 'item.Email',
      lastname: { value: 'item.Name', write: 'if-empty' },
      jobtitle: 'item.Title',
    },
  },
];

/** Rows of contacts. A row of a colleague with the same address has no mark of pigeonpost. */
export async function startDynamics(): Promise<HeldDestination> {
  const double = await startDynamicsDouble();
  const config = dynamicsConfigSchema.parse({
    baseUrl: `${double.url}/api/data/v9.2`,
    tokenUrl: `${double.url}/oauth2/v2.0/token`,
    clientId: '11111111-2222-3333-4444-555555555555',
    clientSecret: new Secret('dynamics-secret'),
    records,
  });
  const sink = createDynamicsSink(
    config,
    environmentOf('crm', { requestTimeoutMs: 60_000, onForget: 'manual', limits: { per10s: 1_000_000 } }),
  );
  const rowOf = (number: number): Contact =>
    [...double.contacts.values()].find(({ emailaddress1 }) => emailaddress1 === emailOf(number))!;
  const titleOf = (version: Version): string => `Title, ${version}`;
  return {
    sink,
    findsCopies: false,
    leavesErased: true,
    item: (number, version) => personOf(number, version, { Title: titleOf(version) }),
    contents: () =>
      [...double.contacts.values()].map((row) => {
        const { modifiedon: _, ...own } = row;
        return [row.contactid, numberIn(JSON.stringify(own)), JSON.stringify(own)] as const;
      }),
    remove: (number) => double.contacts.delete(rowOf(number).contactid),
    edit: (number) => double.change(rowOf(number).contactid, { jobtitle: titleOf('edited') }),
    backup(number) {
      const row = rowOf(number);
      return () => double.contacts.set(row.contactid, row);
    },
    merge(number) {
      const kept = double.add({ lastname: 'Kept', emailaddress1: `other-${emailOf(number)}`, jobtitle: 'Other' });
      double.merge(rowOf(number).contactid, kept.contactid);
    },
    duplicate: (number) => double.add({ lastname: 'Copy', emailaddress1: emailOf(number), jobtitle: 'Other' }),
    async close() {
      await sink.close();
      await double.close();
    },
  };
}
