import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { Secret } from '../../config/secret.js';
import { salesforceConfigSchema } from './config.js';
import { salesforceSinkType } from './salesforce.js';
import { campaignKeys, privateKey, sampleConfig } from './sample.test-kit.js';

const record = { from: 'attendees', object: 'Lead', externalId: { Id__c: '"1"' }, properties: { Email: 'item.Email' } };
const keys = { clientId: 'c', username: 'u', privateKey: new Secret(privateKey), records: [record] };

const problems = (found: object): string[] =>
  (salesforceConfigSchema.safeParse({ ...keys, ...found }).error?.issues ?? []).map(
    ({ path, message }) => `${path.join('.')}: ${message}`,
  );
const recordProblems = (found: object): string[] => problems({ records: [{ ...record, ...found }] });

describe('the configuration', () => {
  it('has defaults for what most orgs have in common', () => {
    expect(salesforceConfigSchema.parse(keys)).toMatchObject({
      loginUrl: 'https://login.salesforce.com',
      apiVersion: 'v62.0',
      records: [
        {
          match: ['externalId', 'contactEmail', 'leadEmail'],
          create: true,
          properties: { Email: { write: 'always' } },
        },
      ],
    });
  });

  it.each(['docs/sinks/salesforce.md', 'config/example.fixture.yaml'])('accepts the example in %s', (file) => {
    const text = readFileSync(join(__dirname, '../..', file), 'utf8');
    const yaml = /^```yaml\n(.*?)^```/ms.exec(text)?.[1] ?? text;
    const { sinks } = parse(yaml) as { sinks: { salesforce: Record<string, unknown> } };
    const { type, ...own } = sinks.salesforce;
    expect(type).toBe('salesforce');
    const found = salesforceConfigSchema.safeParse({ ...own, privateKey: keys.privateKey });
    expect(found.error?.issues).toBeUndefined();
  });

  it.each([
    ['a creation without an external id', { externalId: undefined }, 'records.0.externalId: is missing'],
    ['a match by an e-mail address that is not mapped', { properties: {} }, 'records.0.match: by e-mail needs'],
    [
      'two external id fields',
      { externalId: { A__c: '1', B__c: '2' } },
      'records.0.externalId: allowed: one external id field',
    ],
    [
      'a second value for the external id',
      { properties: { Email: 'x', Id__c: '1' } },
      'records.0.properties: sets Id__c, which "externalId" already sets',
    ],
    [
      'nothing to match by',
      { externalId: undefined, create: false, match: ['externalId'] },
      'records.0.match: has nothing to match by',
    ],
    [
      'a field that Salesforce sets',
      { properties: { Email: 'x', IsConverted: 'true' } },
      'records.0.properties.IsConverted: allowed: names of fields that Salesforce does not set itself',
    ],
    [
      'a mistyped expression',
      { properties: { Email: 'item.(' } },
      'records.0.properties.Email: is not a usable expression',
    ],
    ['another object', { object: 'Account' }, 'records.0.object: allowed'],
    ['a task without a person', { object: 'Task', match: ['externalId'] }, 'records.0.email: is missing'],
    [
      'a custom object without a link to a person',
      { object: 'A__c', email: 'x' },
      'records.0.person: has to name the field',
    ],
    [
      'a campaign for a task',
      { object: 'Task', email: 'x', campaign: campaignKeys },
      'records.0.campaign: belongs to Lead and Contact',
    ],
    [
      'a condition for a field of a task',
      { object: 'Task', email: 'x', properties: { Subject: { value: '"x"', write: 'if-empty' } } },
      'records.0.properties: must write Subject with "always"',
    ],
    ['a person for a person', { person: { Lead: 'A__c' } }, 'records.0.person: belongs to Task'],
    ['a campaign without statuses', { campaign: { externalId: { A__c: '1' } } }, 'records.0.campaign.status'],
  ])('rejects %s at its key', (_, found, expected) => {
    expect(recordProblems(found).join('\n')).toContain(expected);
  });

  it.each([
    ['a text that is not a key', 'not a key'],
    [
      'a key of another kind',
      generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    ],
    [
      'a key that is too short',
      generateKeyPairSync('rsa', { modulusLength: 1024 })
        .privateKey.export({ type: 'pkcs8', format: 'pem' })
        .toString(),
    ],
  ])('rejects %s without quoting it', (_, pem) => {
    const told = problems({ privateKey: new Secret(pem) }).join();
    expect(told).toContain('privateKey: allowed: an RSA private key of at least 2048 bits');
    expect(told).not.toContain(pem);
  });

  const secret = { clientSecret: new Secret('secret'), username: undefined, privateKey: undefined };
  it.each([
    ['no login method', { username: undefined, privateKey: undefined }, 'username: is missing'],
    ['half of a login method', { privateKey: undefined }, 'privateKey: is missing'],
    ['two login methods', { clientSecret: secret.clientSecret }, 'username: is not used with "clientSecret"'],
    ['a client secret at the shared login address', secret, 'loginUrl: has to be the My Domain'],
    ['an invalid assignment rule', { assignmentRule: 'mine' }, 'assignmentRule: allowed: active, none'],
    ['a version without upserts of collections', { apiVersion: 'v45.0' }, 'apiVersion: has to be v46.0'],
    [
      'ignored duplicate alerts in a version without them',
      { duplicateAlerts: 'save', apiVersion: 'v51.0' },
      'apiVersion: has to be v52.0',
    ],
  ])('rejects %s at its key', (_, found, expected) => {
    expect(problems(found).join('\n')).toContain(expected);
  });

  it('accepts the secret of the app instead of a user and a key', () => {
    expect(problems({ ...secret, loginUrl: 'https://acme.my.salesforce.com' })).toEqual([]);
  });

  it('rejects an invalid version and an address without TLS', () => {
    expect(problems({ apiVersion: '62' }).join()).toContain('apiVersion');
    expect(problems({ apiVersion: 'v46.0' })).toEqual([]);
    expect(problems({ loginUrl: 'http://login.salesforce.com' }).join()).toContain('loginUrl');
  });
});

describe('the sink type', () => {
  it('reads the lists of its records and those that their expressions mention', () => {
    const config = sampleConfig(
      { url: 'http://127.0.0.1:9' },
      { properties: { Email: 'attendee.Email' }, campaign: campaignKeys },
    );
    expect(salesforceSinkType.lists(config)).toEqual(['attendees']);
    expect(salesforceSinkType.joins!(config)).toEqual(['attendees', 'pigeonholes']);
  });
});
