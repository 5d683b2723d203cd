import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { field } from '../../sandbox/salesforce/sobject-type.js';
import { filesBelow } from './archive.js';
import type { SceneOptions } from './scene.js';
import { everyone } from './stage.js';
import { type StartedDoubles, startVendorDoubles, vendorSecrets } from './start-vendor-doubles.js';

/** A stand-in of every vendor, a sink with a usual mapping for each, and a file sink. */
export interface VendorDoubles extends StartedDoubles {
  readonly options: Required<Pick<SceneOptions, 'sinks' | 'environment'>>;
  /** Returns the present records of each double by sink, as text without write times. @param folder of the scene, where the file sink writes */
  held(scene: { readonly folder: string }): Promise<Record<string, string>>;
  close(): Promise<void>;
}

const key = (name: string) => field(name, { externalId: true, unique: true });
const channel = 'C0123456789';

export async function openVendorDoubles(): Promise<VendorDoubles> {
  const doubles = await startVendorDoubles({ org, school });
  const { crm, salesforce, talk, lms, grades } = doubles;
  return {
    ...doubles,
    options: {
      sinks: {
        crm: `{ type: hubspot, token: "\${HUBSPOT_TOKEN}", baseUrl: "${crm.url}", onForget: manual, records: [
          { from: attendees, object: contacts, match: [email], properties: { email: item.Email, firstname: item.Name } },
          { from: attendees, object: marketing-event, event: { name: pigeonhole.name, organizer: '"ACME"' },
            attendance: '"attend"', email: item.Email } ] }`,
        salesforce: `{ type: salesforce, clientId: "${salesforce.org.clientId}", username: "${salesforce.org.username}",
          privateKey: "\${SF_KEY}", baseUrl: "${salesforce.url}", records: [
          { from: attendees, object: Lead, externalId: { Engagement_Id__c: $string(item.id) },
            properties: { Email: item.Email, LastName: item.Name, Company: '"ACME"' },
            campaign: { externalId: { Event_Id__c: $string(pigeonhole.id) },
              status: { registered: Registered, attended: Attended } } } ] }`,
        talk: `{ type: slack, token: "\${SLACK_TOKEN}", channel: ${channel}, baseUrl: "${talk.url}/api", ${everyone},
          limits: { per10s: 10000 }, messages: [ { from: qna-questions, when: 'item.status = "allowed"', text: item.content,
            threadBy: session.id } ] }`,
        lms: `{ type: xapi, endpoint: "${lms.endpoint}", username: lrs-key, password: "\${LRS_SECRET}",
          actor: { homePage: "https://example.com", name: attendee.attendeeCode } }`,
        grades: `{ type: canvas, token: "\${CANVAS_TOKEN}", baseUrl: "${grades.url}", records: [
          { from: attendees, course: '"42"', assignment: '"1"', user: '"sis_user_id:" & item.attendeeCode', grade: '1' } ] }`,
        archive: `{ type: file, folder: ./archive, ${everyone} }`,
      },
      environment: vendorSecrets(doubles),
    },
    async held({ folder }) {
      const states = await Promise.all(
        Object.entries(doubles).map(
          async ([name, { url }]) => [name, withoutTimes(await (await fetch(`${url}/_double/state`)).text())] as const,
        ),
      );
      const messages = talk.workspace.channels.get(channel)!.all.map(({ text }) => text);
      const archive = join(folder, 'archive');
      const files = filesBelow(archive).map((file) => [relative(archive, file), readFileSync(file, 'utf8')]);
      return { ...Object.fromEntries(states), talk: JSON.stringify(messages), archive: JSON.stringify(files) };
    },
    async close() {
      await Promise.all(Object.values(doubles).map((each) => each.close()));
    },
  };
}

/** A record that was written with the values that it had is as it was. */
function withoutTimes(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+\d{4})/g, '');
}

const org = { fields: { Lead: [key('Engagement_Id__c')], Campaign: [key('Event_Id__c')] } };

const school = {
  users: [{ id: 1001, name: 'Student 1', sisUserId: 'code-1' }],
  courses: [
    {
      id: 42,
      name: 'Conference',
      students: [1001],
      assignments: [{ id: 1, name: 'Attendance', pointsPossible: 1, gradingType: 'points' as const, published: true }],
    },
  ],
};
