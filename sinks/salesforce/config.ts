import { z } from 'zod';
import { listNames } from '../../base/lists.js';
import { listOf, nonEmptyText, oneOf, secret, sinkUrl, text } from '../../config/values.js';
import type { Expression } from '../mapping/expression.js';
import { expression, writtenValue } from '../mapping/expression-schema.js';
import { networkKeys, plainHttpStaysPrivate } from '../network/address-policy.js';
import { signingAlgorithm } from '../rest/sign-jwt.js';

export type PersonType = 'Lead' | 'Contact';

export function isPersonType(object: string): object is PersonType {
  return object === 'Lead' || object === 'Contact';
}

/** The record to use if several match. `park`: none, so the change becomes a dead letter. */
export type OnSeveral = 'newest' | 'oldest' | 'park';

export type MatchBy = 'externalId' | 'contactEmail' | 'leadEmail';

/** A field with the External ID flag, and the expression for its value. */
export interface KeyField {
  readonly field: string;
  readonly value: Expression;
}

const fieldName = () =>
  text('the API name of a Salesforce field, such as Engagement_Id__c', (found) =>
    /^[A-Za-z]\w{0,79}$/.test(found) ? found : undefined,
  );

/** Fields that only Salesforce sets, or that this sink sets because of other keys. */
const fieldsOfSalesforce = new Set(['id', 'attributes', 'isconverted', 'convertedcontactid', 'lastmodifieddate']);

const writableField = () =>
  fieldName().refine((field) => !fieldsOfSalesforce.has(field.toLowerCase()), {
    error: 'is set by Salesforce itself; remove it',
  });

/** The error of a group of fields. @param object the object that has the fields */
const fieldsWithExpressions = (object = '') => ({
  error: `allowed: names of ${object}fields that Salesforce does not set itself, each with an expression`,
});

const oneKeyField = 'allowed: one external id field with its expression';
/** Schema of one field and its expression, written as a group with one key. */
const keyField = () =>
  z
    .record(writableField(), expression(), { error: oneKeyField })
    .refine((found) => Object.keys(found).length === 1, { error: oneKeyField })
    .transform((found): KeyField => {
      const [[field, value]] = Object.entries(found) as [[string, Expression]];
      return { field, value };
    })
    .meta({ allowed: 'the API name of one field that is flagged External ID, with its expression' });

const statusLabel = () => nonEmptyText('the label of a campaign member status, such as Responded');

const campaign = z.strictObject({
  externalId: keyField().describe('The external id field of Campaign, and its value.'),
  name: expression().optional().describe("The campaign's name; the pigeonhole's by default."),
  properties: z
    .record(writableField(), expression(), fieldsWithExpressions('Campaign '))
    .default({})
    .describe('Further fields of the campaign.'),
  attended: expression()
    .optional()
    .describe('Whether the person attended. By default, whether the item has a time of sign-in.'),
  status: z
    .strictObject({
      registered: statusLabel().describe('The status of people who registered.'),
      attended: statusLabel().describe(
        'The status of people who attended. pigeonpost never changes it back to `registered`.',
      ),
      removed: statusLabel().optional().describe('The status after the item is deleted. Without it, the status stays.'),
    })
    .describe('Labels of campaign member statuses.'),
  memberProperties: z
    .record(writableField(), writtenValue, fieldsWithExpressions('CampaignMember '))
    .default({})
    .describe('Further fields of the campaign member, such as counts.'),
});

const lookup = z.strictObject({
  object: fieldName()
    .optional()
    .describe('The object of the other record. Required if the field can refer to several objects.'),
  externalId: keyField().describe('The external id field of the other record, and its value.'),
  otherwise: text('the id of a record, 15 or 18 characters', (found) =>
    /^[A-Za-z0-9]{15}(?:[A-Za-z0-9]{3})?$/.test(found) ? found : undefined,
  )
    .optional()
    .describe('The id to write if no record is found.'),
  write: oneOf(['always', 'if-empty', 'if-newer'])
    .prefault('if-empty')
    .describe('When to overwrite the value of the field.'),
});

const personLink = z.strictObject({
  externalId: keyField().optional().describe("The person's external id field, and its value."),
  Lead: fieldName().optional().describe('The field that holds the id of a lead.'),
  Contact: fieldName().optional().describe('The field that holds the id of a contact.'),
});

const recordKeys = z.strictObject({
  from: oneOf(listNames).describe('The list of the items.'),
  when: expression().optional().describe('Only items for which this is true.'),
  object: text('Lead, Contact, Task, or the API name of an object of your own (Name__c)', (found) =>
    /^(?:Lead|Contact|Task|[A-Za-z]\w{0,76}__c)$/.test(found) ? found : undefined,
  ).describe(
    'The record to create for a person who is not found. `Task` or an object of your own: a record that belongs to a person who is found.',
  ),
  externalId: keyField().optional().describe('The external id field of the object, and its value.'),
  match: listOf(oneOf(['externalId', 'contactEmail', 'leadEmail']), {
    allowed: 'a list of externalId, contactEmail, leadEmail',
  })
    .prefault(['externalId', 'contactEmail', 'leadEmail'])
    .describe('How to find a person, in order: the first entry that finds a record decides.'),
  onSeveral: oneOf(['newest', 'oldest', 'park'])
    .prefault('park')
    .describe('The record to use if several match: the newest or oldest by creation, or none (`park`, a dead letter).'),
  create: z
    .boolean({ error: 'allowed: true or false' })
    .default(true)
    .describe('Whether to create people who are not found. `false` only updates.'),
  email: expression().optional().describe('The e-mail address for `match`; the property Email by default.'),
  properties: z
    .record(writableField(), writtenValue, fieldsWithExpressions())
    .describe('The values to write, by the API name of the field.'),
  lookups: z
    .record(writableField(), lookup, { error: 'allowed: names of fields that hold the id of another record' })
    .default({})
    .describe('Fields for the id of another record, which is found by its external id.'),
  person: personLink
    .optional()
    .describe('For Task and objects of your own: the person to whom the record belongs. For Task, WhoId by default.'),
  campaign: campaign.optional().describe('Makes the person a member of a campaign.'),
});

/** An entry of `records`. */
export type RecordKeys = Readonly<z.infer<typeof recordKeys>>;
export type CampaignKeys = Readonly<z.infer<typeof campaign>>;

const record = recordKeys.superRefine((keys, context) => {
  const problem = (path: string, message: string): void =>
    void context.issues.push({ code: 'custom', input: keys, path: [path], message });
  if (!isPersonType(keys.object)) return linkedProblems(keys, problem);
  if (keys.person !== undefined) problem('person', 'belongs to Task and objects of your own; remove it');
  if (keys.externalId === undefined && keys.create) {
    problem(
      'externalId',
      'is missing: without it, a repeat would create the person twice. Set it, or set "create: false"',
    );
  }
  const byEmail = keys.match.some((by) => by !== 'externalId');
  if (byEmail && keys.email === undefined && keys.properties.Email === undefined) {
    problem('match', 'by e-mail needs the property Email, or the key "email"');
  }
  if (keys.externalId === undefined && !byEmail) problem('match', 'has nothing to match by; add contactEmail');
  if (keys.externalId !== undefined && Object.hasOwn(keys.properties, keys.externalId.field)) {
    problem('properties', `sets ${keys.externalId.field}, which "externalId" already sets`);
  }
});

function linkedProblems(
  keys: Pick<RecordKeys, 'object' | 'externalId' | 'email' | 'match' | 'person' | 'properties' | 'campaign'>,
  problem: (path: string, message: string) => void,
): void {
  if (keys.campaign !== undefined) problem('campaign', 'belongs to Lead and Contact; remove it');
  if (keys.externalId === undefined)
    problem('externalId', 'is missing: without it, a repeat would create a second record');
  const { Lead, Contact, externalId } = keys.person ?? {};
  if (keys.object !== 'Task' && Lead === undefined && Contact === undefined) {
    problem('person', `has to name the field of ${keys.object} that holds the id of the lead or contact`);
  }
  const byEmail = keys.email !== undefined && keys.match.some((by) => by !== 'externalId');
  if (!byEmail && (externalId === undefined || !keys.match.includes('externalId'))) {
    problem('email', 'is missing: the person is found by "email", or by "person.externalId"');
  }
  const conditional = Object.entries(keys.properties).find(([, { write }]) => write !== 'always');
  if (conditional !== undefined)
    problem('properties', `must write ${conditional[0]} with "always", because the sink owns the whole record`);
}

const signingKey = secret()
  .refine((found) => signingAlgorithm(found.reveal()) === 'RS256', {
    error:
      'allowed: an RSA private key of at least 2048 bits (PEM) without passphrase, written as ${file:/path} or ${NAME}',
  })
  .meta({
    allowed: 'an RSA private key of at least 2048 bits (PEM), written as `${file:/path}` or `${NAME}`',
    secret: true,
  });

const salesforceKeys = z.strictObject({
  loginUrl: sinkUrl()
    .prefault('https://login.salesforce.com')
    .describe(
      'The address of the login: the My Domain of the org, which external client apps need, or for a connected app `https://login.salesforce.com` or (sandboxes) `https://test.salesforce.com`.',
    ),
  baseUrl: sinkUrl()
    .optional()
    .describe('Replaces the addresses of both the login and the org, for example with the address of a proxy.'),
  clientId: nonEmptyText('the consumer key of the app').describe('The consumer key of the app.'),
  clientSecret: secret()
    .optional()
    .describe(
      'The consumer secret of the app, in place of `username` and `privateKey`. Needs the My Domain as `loginUrl`.',
    ),
  username: nonEmptyText('the username of the integration user')
    .optional()
    .describe('The Salesforce user that pigeonpost logs in as. With `clientSecret`, the app names the user.'),
  privateKey: signingKey.optional().describe('The key that signs the logins. Its certificate is in the app.'),
  apiVersion: text('a version such as v62.0', (found) => (/^v\d{2,3}\.0$/.test(found) ? found : undefined))
    .prefault('v62.0')
    .describe("The version of Salesforce's API."),
  assignmentRule: text('active, none, or the id of a lead assignment rule (01Q…)', (found) =>
    /^(?:active|none|01Q\w{12}(?:\w{3})?)$/.test(found) ? found : undefined,
  )
    .prefault('active')
    .describe('The rule that assigns an owner to new leads. Existing leads keep their owner.'),
  duplicateAlerts: oneOf(['stop', 'save'])
    .prefault('stop')
    .describe(
      'Whether to save a new record although a duplicate rule alerts. With `stop`, its change becomes a dead letter.',
    ),
  records: z
    .array(record, { error: 'allowed: a list of records' })
    .min(1, { error: 'allowed: at least one record' })
    .describe('What to write to Salesforce for each list.'),
  ...networkKeys,
});

/** The keys of a `salesforce` sink in pigeonpost.yaml, without those that all sinks share. */
export type SalesforceConfig = Readonly<z.infer<typeof salesforceKeys>>;

/** docs/sinks/salesforce.md explains each key to users. */
export const salesforceConfigSchema = salesforceKeys
  .superRefine(plainHttpStaysPrivate('loginUrl', 'baseUrl'))
  .superRefine(loginProblems);

const sharedLogins = ['https://login.salesforce.com', 'https://test.salesforce.com'];

/** Checks that the keys fit one of the two login methods. */
function loginProblems(keys: SalesforceConfig, context: z.core.$RefinementCtx): void {
  const problem = (path: string, message: string): void =>
    void context.issues.push({ code: 'custom', input: keys, path: [path], message });
  for (const key of ['username', 'privateKey'] as const) {
    if (keys.clientSecret === undefined && keys[key] === undefined) {
      problem(key, 'is missing: log in with "username" and "privateKey", or with "clientSecret"');
    }
    if (keys.clientSecret !== undefined && keys[key] !== undefined)
      problem(key, 'is not used with "clientSecret"; remove one');
  }
  if (keys.clientSecret !== undefined && sharedLogins.includes(keys.loginUrl)) {
    problem(
      'loginUrl',
      'has to be the My Domain of the org (https://NAME.my.salesforce.com) for a login with "clientSecret"',
    );
  }
  if (Number(keys.apiVersion.slice(1)) < 46) {
    problem('apiVersion', 'has to be v46.0 or later: earlier versions cannot create records by an external id');
  }
  if (keys.duplicateAlerts === 'save' && Number(keys.apiVersion.slice(1)) < 52) {
    problem('apiVersion', 'has to be v52.0 or later for "duplicateAlerts: save"');
  }
}
