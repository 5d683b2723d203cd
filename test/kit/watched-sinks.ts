import { Secret } from '../../config/secret.js';
import { canvasConfigSchema } from '../../sinks/canvas/config.js';
import { createCanvasSink } from '../../sinks/canvas/canvas.js';
import { hurriedClock } from '../../sinks/network/hurried-clock.test-kit.js';
import type { Sink } from '../../sinks/sink.js';
import { Gate } from '../conformance/sinks/gate.js';
import { field } from '../../sandbox/salesforce/sobject-type.js';
import type { RunningDouble } from '../../sandbox/serve/serve-double.js';
import { deedLists, markerOf, names } from './marked-people.js';
import type { SceneOptions } from './scene.js';
import { archive, type Stage } from './stage.js';
import { startVendorDoubles, vendorSecrets } from './start-vendor-doubles.js';
import { environmentOf } from '../../sinks/sink-environment.test-kit.js';

/** Sinks of most types, with mappings that send everything, and the data that they have sent. */
interface WatchedSinks {
  readonly options: Required<Pick<SceneOptions, 'sinks' | 'environment' | 'openSinks'>>;
  /** Returns the data sent since the last call, by sink: requests, parts of batches, or lines. */
  taken(scene: { readonly folder: string }): string[];
  close(): Promise<void>;
}

const terms = 'consent: { accept: [obtained] }, onConsentWithdrawn: forget';
const everything = '$string(attendee) & $string(item) & $string(previous)';
const lists = ['sessions', ...deedLists];

/** @param warehouseUrl an empty PostgreSQL database; undefined: without this sink */
export async function openWatchedSinks(stage: Stage, warehouseUrl: string | undefined): Promise<WatchedSinks> {
  const doubles = await startVendorDoubles({ org, school });
  let spoken = '';
  const target = new URL(warehouseUrl ?? 'postgres://127.0.0.1:1');
  const gate = new Gate(Number(target.port), (bytes) => (spoken += bytes.toString('latin1')));
  target.port = String(await gate.open());
  const { crm, salesforce, talk, lms, grades, dynamics } = doubles;
  const seen = { crm: 0, salesforce: 0, talk: 0, lms: 0, grades: 0, dynamics: 0, hooks: 0, lines: new Set<string>() };
  return {
    options: {
      sinks: {
        crm: `{ type: hubspot, token: "\${HUBSPOT_TOKEN}", baseUrl: "${crm.url}", ${terms}, records: [ ${contacts} ] }`,
        salesforce: `{ type: salesforce, clientId: "${salesforce.org.clientId}", username: "${salesforce.org.username}",
          privateKey: "\${SF_KEY}", baseUrl: "${salesforce.url}", loginUrl: "${salesforce.url}",
          ${terms}, records: [ ${leads} ] }`,
        talk: `{ type: slack, token: "\${SLACK_TOKEN}", channel: C0123456789, baseUrl: "${talk.url}", ${terms},
          limits: { per10s: 10000 }, messages: [ ${lists.map((from) => `{ from: ${from}, text: '${everything}' }`).join(', ')} ] }`,
        lms: `{ type: xapi, endpoint: "${lms.endpoint}", username: lrs-key, password: "\${LRS_SECRET}", ${terms},
          actor: { homePage: "https://example.com", name: attendee.attendeeCode } }`,
        grades: `{ type: canvas, token: "\${CANVAS_TOKEN}", baseUrl: "${grades.url}", ${terms}, records: ${JSON.stringify(graded)} }`,
        dynamics: `{ type: dynamics, baseUrl: "${dynamics.url}/api/data/v9.2", tokenUrl: "${dynamics.url}/oauth2/v2.0/token",
          clientId: 11111111-2222-3333-4444-555555555555, clientSecret: "\${DYNAMICS_SECRET}", ${terms}, records: [ ${rows} ] }`,
        archive: `{ type: file, folder: ./archive, ${terms} }`,
        ...(warehouseUrl !== undefined && {
          warehouse: `{ type: postgres, url: "\${WAREHOUSE_URL}", schema: engagement, ${terms} }`,
        }),
      },
      environment: { ...vendorSecrets(doubles), WAREHOUSE_URL: target.href },
      openSinks: (made) => new Map(made).set('grades', { ...made.get('grades')!, sink: hurriedGrades(grades.url) }),
    },
    taken(scene) {
      const asked = (Object.keys(doubles) as (keyof typeof doubles)[]).flatMap((name) => {
        const { requests }: RunningDouble = doubles[name];
        const later = requests.slice(seen[name]);
        seen[name] = requests.length;
        return later.flatMap(({ path, query, body }) =>
          parts(body).map((part) => `${name} ${path} ${query.toString()} ${part}`),
        );
      });
      const hooks = stage.received().slice(seen.hooks);
      seen.hooks += hooks.length;
      const lines = archive(scene).filter(({ id }) => !seen.lines.has(id));
      for (const { id } of lines) seen.lines.add(id);
      const statements = spoken.split(/(?=(?:insert into|update|delete from) "engagement"\.)/);
      spoken = '';
      return [
        ...asked,
        ...hooks.map((receipt) => `hooks ${JSON.stringify(receipt)}`),
        ...lines.map((line) => `archive ${JSON.stringify(line)}`),
        ...statements.map((statement) => `warehouse ${statement.replaceAll('\n', ' ')}`),
      ];
    },
    async close() {
      await Promise.all([...Object.values(doubles), gate].map((each) => each.close()));
    },
  };
}

/** Creates the configured sink without waits for jobs of Canvas, which would take most of the test's time. */
function hurriedGrades(baseUrl: string): Sink {
  const config = canvasConfigSchema.parse({ baseUrl, token: new Secret('canvas-token'), records: graded });
  const environment = environmentOf('grades');
  return createCanvasSink(config, environment, { clock: hurriedClock });
}

/** Splits a batch into its parts, so that each is searched separately. */
function parts(body: string): string[] {
  const whole: unknown = body.startsWith('[') ? JSON.parse(body) : body;
  return Array.isArray(whole) ? whole.map((part) => JSON.stringify(part)) : [body];
}

const contacts = [
  `{ from: attendees, object: contacts, match: [email], properties: { email: 'item.Email', firstname: 'item.Name' } }`,
  ...lists.map(
    (from) =>
      `{ from: ${from}, object: notes, email: attendee.Email, contactProperties: { firstname: attendee.Name }, properties: { hs_note_body: '${everything}' } }`,
  ),
].join(', ');

/**
 * Only the record of a person sets the external id, so that a request about the person's actions can be distinguished
 * from it.
 */
const leads = [
  `{ from: attendees, object: Lead, externalId: { Engagement_Id__c: '$string(item.id)' }, match: [externalId],
     properties: { Email: 'item.Email', LastName: 'item.Name', Company: '"none"' },
     campaign: { externalId: { Event_Id__c: '$string(pigeonhole.id)' }, status: { registered: Registered, attended: Responded } } }`,
  ...lists.map(
    (from) =>
      `{ from: ${from}, object: Lead, create: false, match: [leadEmail], email: attendee.Email, properties: { Deed__c: '${everything}' } }`,
  ),
].join(', ');

/** Only the record of a person has the code, so that its requests can be distinguished from those of their actions. */
const rows = [
  `{ from: attendees, object: contacts, match: [acme_code],
     properties: { acme_code: item.attendeeCode, emailaddress1: item.Email, lastname: item.Name } }`,
  ...lists.map(
    (from) =>
      `{ from: ${from}, object: contacts, create: false, match: [emailaddress1],
         properties: { emailaddress1: attendee.Email, acme_deed: '${everything}' } }`,
  ),
].join(', ');

/** One assignment for each list, because Canvas has one grade per student and assignment. */
const graded = ['engagement', 'attendees', ...deedLists].map((from, index) => ({
  from,
  ...(from === 'engagement' && { when: 'item.scope = "pigeonhole"' }),
  course: '"42"',
  assignment: `"${index + 1}"`,
  user: `"sis_user_id:" & ${from === 'attendees' ? 'item' : 'attendee'}.attendeeCode`,
  grade: '1',
}));

const students = names.map((who, index) => ({
  id: 1001 + index,
  name: `Student ${index + 1}`,
  sisUserId: `${markerOf(who)}-code`,
}));
const assignments = Array.from({ length: 2 + deedLists.length }, (_, index) => ({
  id: index + 1,
  name: `Assignment ${index + 1}`,
  pointsPossible: 100,
  gradingType: 'points' as const,
  published: true,
}));
const school = {
  users: students,
  courses: [{ id: 42, name: 'Conference', students: students.map(({ id }) => id), assignments }],
};

const externalId = { externalId: true, unique: true };
const org = {
  fields: {
    Lead: [field('Engagement_Id__c', externalId), field('Deed__c', { type: 'textarea' as const })],
    Campaign: [field('Event_Id__c', externalId)],
  },
};
