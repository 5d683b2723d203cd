import { Secret } from '../config/secret.js';
import { literalNames, withoutAddressValues, withoutValues } from '../operations/literal-names.js';
import { ownKeyPair } from '../sandbox/salesforce/salesforce-org.js';
import { allSinks } from './all-sinks.js';
import { subjectOf } from './plan-of.test-kit.js';
import { sampleChange } from './sample-change.test-kit.js';
import { environmentOf } from './sink-environment.test-kit.js';
import type { PreviewedCall, Sink } from './sink.js';

const secret = (text = 's3cret'): Secret => new Secret(text);
const privateKey = ownKeyPair().privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const person = {
  id: 7,
  name: 'Zoe Quillfeather',
  email: 'zoe.quill@example.org',
  attendeeCode: 'QX7788',
  signInTime: '2026-11-21T09:00:00Z',
};
const pigeonhole = { id: 101, name: 'Annual meeting', startDate: '2026-11-21', timezone: 'UTC' };

const attendee = subjectOf(
  sampleChange({
    list: 'attendees',
    key: '7',
    type: 'attendees.created',
    data: person,
    timestamp: '2026-11-21T09:30:00.000Z',
  }),
  { attendee: person, pigeonhole },
);

const own = 'item.email';

/** A configuration of each sink type, and the calls for one attendee: method and address, then as a viewer sees it. */
const sinks: readonly (readonly [type: string, keys: object, calls: readonly string[], viewed: readonly string[]])[] = [
  [
    'webhook',
    {
      url: 'https://hooks.example.com/in?token=s3cret',
      secret: [secret(`whsec_${Buffer.alloc(32, 7).toString('base64')}`)],
    },
    ['POST https://hooks.example.com/in?token=(secret)'],
    ['POST https://hooks.example.com/in?token=(secret)'],
  ],
  [
    'http',
    {
      baseUrl: 'https://crm.example.com/v2',
      auth: { type: 'bearer', token: secret() },
      records: [
        {
          from: 'attendees',
          find: { url: `"/people?email=" & ${own}`, idFrom: 'body.id' },
          create: { url: `"/people/" & ${own}`, body: '{ "email": item.email, "name": item.name }' },
        },
      ],
    },
    [
      'GET https://crm.example.com/v2/people?email=zoe.quill@example.org',
      'POST https://crm.example.com/v2/people/zoe.quill@example.org',
    ],
    ['GET https://crm.example.com/v2/people?email=(value)', 'POST https://crm.example.com/v2/people/(value)'],
  ],
  [
    'http',
    {
      baseUrl: secret('https://flows.example.com/s3cret?sig=s3cret'),
      records: [{ from: 'attendees', create: { body: '{ "email": item.email }' } }],
    },
    ['POST https://flows.example.com/(secret)'],
    ['POST https://flows.example.com/(secret)'],
  ],
  [
    'hubspot',
    {
      token: secret(),
      records: [
        {
          from: 'attendees',
          object: 'contacts',
          match: ['email'],
          properties: { email: own, firstname: 'item.name' },
          lists: ['"5"'],
        },
      ],
    },
    [
      'POST https://api.hubapi.com/crm/objects/2026-09/contacts/batch/read',
      'POST https://api.hubapi.com/crm/objects/2026-09/contacts/batch/upsert',
      'PUT https://api.hubapi.com/crm/lists/2026-09/5/memberships/add',
    ],
    [
      'POST https://api.hubapi.com/crm/objects/2026-09/contacts/batch/read',
      'POST https://api.hubapi.com/crm/objects/2026-09/contacts/batch/upsert',
      'PUT https://api.hubapi.com/crm/lists/2026-09/5/memberships/add',
    ],
  ],
  [
    'salesforce',
    {
      clientId: 'app',
      username: 'integration',
      privateKey: secret(privateKey),
      records: [
        {
          from: 'attendees',
          object: 'Lead',
          externalId: { Id__c: '"a" & item.id' },
          properties: { Email: own, LastName: 'item.name' },
        },
      ],
    },
    [
      "GET https://login.salesforce.com/services/data/v62.0/query?q=SELECT%20Id%20FROM%20Lead%20WHERE%20Id__c%20IN%20('a7')",
      "GET https://login.salesforce.com/services/data/v62.0/query?q=SELECT%20Id%20FROM%20Contact%20WHERE%20Email%20IN%20('zoe.quill%40example.org')",
      "GET https://login.salesforce.com/services/data/v62.0/query?q=SELECT%20Id%20FROM%20Lead%20WHERE%20Email%20IN%20('zoe.quill%40example.org')",
      'PATCH https://login.salesforce.com/services/data/v62.0/composite/sobjects/Lead/Id__c',
    ],
    [
      'GET https://login.salesforce.com/services/data/v62.0/query?q=(value)',
      'GET https://login.salesforce.com/services/data/v62.0/query?q=(value)',
      'GET https://login.salesforce.com/services/data/v62.0/query?q=(value)',
      'PATCH https://login.salesforce.com/services/data/v62.0/composite/sobjects/Lead/Id__c',
    ],
  ],
  [
    'dynamics',
    {
      baseUrl: 'https://crm.example.com/api/data/v9.2',
      tokenUrl: 'https://login.example.com/token',
      clientId: 'app',
      clientSecret: secret(),
      records: [
        {
          from: 'attendees',
          object: 'contacts',
          match: ['emailaddress1'],
          properties: { emailaddress1: own, lastname: 'item.name' },
        },
      ],
    },
    [
      "GET https://crm.example.com/api/data/v9.2/contacts?$select=contactid,createdon,modifiedon,_modifiedby_value,_masterid_value&$orderby=createdon&$filter=emailaddress1%20eq%20'zoe.quill%40example.org'",
      'PATCH https://crm.example.com/api/data/v9.2/contacts(0086fd73-5dd0-8c14-8292-a32a7f2a423c)',
    ],
    [
      'GET https://crm.example.com/api/data/v9.(value)/contacts?(value)=(value)&(value)=(value)&(value)=(value)',
      'PATCH https://crm.example.com/api/data/v9.(value)/(value)',
    ],
  ],
  [
    'slack',
    {
      token: secret(),
      channel: 'C0123456789',
      messages: [{ from: 'attendees', text: 'item.name', threadBy: 'item.id' }],
    },
    ['POST https://slack.com/api/chat.postMessage', 'POST https://slack.com/api/chat.postMessage'],
    ['POST https://slack.com/api/chat.postMessage', 'POST https://slack.com/api/chat.postMessage'],
  ],
  [
    'slack',
    {
      webhookUrl: secret('https://hooks.slack.com/services/s3cret'),
      messages: [{ from: 'attendees', text: 'item.name' }],
    },
    ['POST https://hooks.slack.com/(secret)'],
    ['POST https://hooks.slack.com/(secret)'],
  ],
  [
    'canvas',
    {
      baseUrl: 'https://canvas.example.com',
      token: secret(),
      records: [
        { from: 'attendees', course: '"12"', assignment: '"34"', user: '"sis_login_id:" & item.email', grade: '"5"' },
      ],
    },
    [
      'GET https://canvas.example.com/api/v1/courses/12/assignments/34',
      'GET https://canvas.example.com/api/v1/courses/12/assignments/34/submissions/hex:sis_login_id:7a6f652e7175696c6c406578616d706c652e6f7267',
      'POST https://canvas.example.com/api/v1/courses/12/assignments/34/submissions/update_grades',
    ],
    [
      'GET https://canvas.example.com/api/v1/courses/12/assignments/34',
      'GET https://canvas.example.com/api/v1/courses/12/assignments/34/submissions/(value)',
      'POST https://canvas.example.com/api/v1/courses/12/assignments/34/submissions/update_grades',
    ],
  ],
  [
    'xapi',
    {
      endpoint: 'https://lrs.example.com/xapi',
      username: 'key',
      password: secret(),
      actor: { mbox: 'attendee.email' },
      activities: 'https://example.com/events',
      statements: ['attended'],
    },
    ['POST https://lrs.example.com/xapi/statements'],
    ['POST https://lrs.example.com/xapi/statements'],
  ],
  [
    'postgres',
    { url: secret('postgres://app:s3cret@db.example.com/warehouse'), schema: 'engagement' },
    ['upsert engagement.attendees'],
    ['upsert engagement.attendees'],
  ],
  [
    's3',
    {
      bucket: 'events',
      region: 'eu-central-1',
      accessKeyId: 'AKIDEXAMPLE',
      secretAccessKey: secret(),
      compression: 'none',
    },
    ['PUT https://events.s3.eu-central-1.amazonaws.com/attendees/day=2026-11-21/{number}.ndjson'],
    ['PUT https://events.s3.eu-central-1.amazonaws.com/attendees/day=(value)/{number}.ndjson'],
  ],
  [
    'file',
    { folder: '/data/events' },
    ['append /data/events/acme/101/attendees/2026-11-21.ndjson'],
    ['append /data/events/acme/101/attendees/(value).ndjson'],
  ],
];

describe('the calls in a preview', () => {
  it('are tested for every sink type', () => {
    expect([...new Set(sinks.map(([type]) => type))].toSorted()).toEqual([...allSinks.keys()].toSorted());
  });

  it.each(sinks)('of %s name method, address and body, without a secret', async (type, keys, calls, viewed) => {
    const sinkType = allSinks.get(type)!;
    const sink: Sink = sinkType.create(sinkType.configSchema.parse(keys), environmentOf('crm'));
    const [planned] = await sink.plan([attendee]);
    await sink.close();
    if (planned?.kind !== 'send') throw new Error(JSON.stringify(planned));
    const shown = sink.preview(planned.operation);
    expect(shown.map(lineOf)).toEqual(calls);
    expect(JSON.stringify(shown)).toMatch(/Zoe Quillfeather|zoe\.quill|7a6f652e/);
    expect(JSON.stringify(shown)).not.toMatch(/s3cret|whsec|changeId|writtenAtMs|steps|itemKey/);

    const names = new Set(['acme', '101', 'attendees', ...literalNames(JSON.parse(JSON.stringify(keys)))]);
    const masked = shown.map(({ address, body, ...call }) => {
      return { ...call, address: withoutAddressValues(address, names), body: withoutValues(body, names) };
    });
    expect(masked.map(lineOf)).toEqual(viewed);
    expect(JSON.stringify(masked)).not.toMatch(/zoe|quill|qx7788|7a6f652e/i);
  });
});

function lineOf({ method, address }: PreviewedCall): string {
  return `${method} ${address}`;
}
