import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import { type ListName, listNames } from '../../config/schema/list-names.js';
import type { Secret } from '../../config/secret.js';
import { listOf, nonEmptyText, oneOf, secret, sinkUrl, text } from '../../config/values.js';
import type { Expression } from '../mapping/expression.js';
import { expression } from '../mapping/expression-schema.js';
import { writtenValue, type WrittenValue } from '../mapping/written-value.js';
import { type NetworkKeys, networkKeys, plainHttpStaysPrivate } from '../network/address-policy.js';

/** `salesforce` in pigeonpost.yaml, less the keys that all sinks share. docs/sinks/salesforce.md explains each key to users. */
export interface SalesforceConfig extends NetworkKeys {
  readonly loginUrl: string;
  /** In place of scheme and host of both `loginUrl` and the org. */
  readonly baseUrl?: string | undefined;
  readonly clientId: string;
  readonly username: string;
  /** PEM; signs the assertions with which it logs in. */
  readonly privateKey: Secret;
  /** Such as `v62.0`. */
  readonly apiVersion: string;
  readonly records: readonly RecordKeys[];
}

export type PersonType = 'Lead' | 'Contact';

export type MatchBy = 'externalId' | 'contactEmail' | 'leadEmail';

/** A field that is flagged External ID, and what its value is made from. */
export interface KeyField {
  readonly field: string;
  readonly value: Expression;
}

/** An entry of `records`. */
export interface RecordKeys {
  readonly from: ListName;
  readonly when?: Expression | undefined;
  readonly object: PersonType;
  readonly externalId?: KeyField | undefined;
  readonly match: readonly MatchBy[];
  readonly create: boolean;
  /** In place of the property `Email`, for matching alone. */
  readonly email?: Expression | undefined;
  readonly properties: Readonly<Record<string, WrittenValue>>;
  readonly campaign?: CampaignKeys | undefined;
}

export interface CampaignKeys {
  readonly externalId: KeyField;
  readonly name?: Expression | undefined;
  readonly properties: Readonly<Record<string, Expression>>;
  readonly attended?: Expression | undefined;
  readonly status: StatusMap;
}

/** Labels of campaign member statuses, by what became of the person. */
export interface StatusMap {
  readonly registered: string;
  readonly attended: string;
  readonly removed?: string | undefined;
}

const fieldName = () =>
  text('the API name of a Salesforce field, such as Engagement_Id__c', (found) =>
    /^[A-Za-z]\w{0,79}$/.test(found) ? found : undefined,
  );

/** Set by Salesforce, or by this sink in another way. */
const fieldsOfSalesforce = new Set(['id', 'attributes', 'isconverted', 'convertedcontactid', 'lastmodifieddate']);

const writableField = () =>
  fieldName().refine((field) => !fieldsOfSalesforce.has(field.toLowerCase()), {
    error: 'is set by Salesforce itself; remove it',
  });

/** One field and its expression, written as a group of one. */
const keyField = () =>
  z
    .record(writableField(), expression(), { error: 'allowed: one external id field with its expression' })
    .transform((found, context): KeyField => {
      const [entry, ...others] = Object.entries(found);
      if (entry !== undefined && others.length === 0) return { field: entry[0], value: entry[1] };
      context.issues.push({
        code: 'custom',
        input: found,
        message: 'allowed: one external id field with its expression',
      });
      return z.NEVER;
    })
    .meta({ allowed: 'the API name of one field that is flagged External ID, with its expression' });

const statusLabel = () => nonEmptyText('the label of a campaign member status, such as Responded');

const campaign = z.strictObject({
  externalId: keyField().describe('The external id field of Campaign, and which campaign it is.'),
  name: expression().optional().describe("The campaign's name; the pigeonhole's by default."),
  properties: z
    .record(writableField(), expression(), {
      error: 'allowed: names of Campaign fields that Salesforce does not set itself, each with an expression',
    })
    .default({})
    .describe('What else is written to the campaign.'),
  attended: expression()
    .optional()
    .describe('Whether the person attended; by default whether the item says when they signed in.'),
  status: z
    .strictObject({
      registered: statusLabel().describe('The status of whoever is registered.'),
      attended: statusLabel().describe('The status of whoever attended. Never lowered to `registered` again.'),
      removed: statusLabel().optional().describe('The status once the item is gone; without it nothing changes then.'),
    })
    .describe('Labels of campaign member statuses.'),
});

const record = z
  .strictObject({
    from: oneOf(listNames).describe('The list whose items it is made from.'),
    when: expression().optional().describe('Only items for which this is true.'),
    object: oneOf(['Lead', 'Contact']).describe('What someone becomes who is not found.'),
    externalId: keyField().optional().describe('The external id field of the object, and its value.'),
    match: listOf(oneOf(['externalId', 'contactEmail', 'leadEmail']), {
      allowed: 'a list of externalId, contactEmail, leadEmail',
    })
      .prefault(['externalId', 'contactEmail', 'leadEmail'])
      .describe('How someone is found, in order: the first that finds a record is used.'),
    create: z
      .boolean({ error: 'allowed: true or false' })
      .default(true)
      .describe('Whether who is not found is created. `false` only updates.'),
    email: expression().optional().describe('The e-mail to match by; the property Email by default.'),
    properties: z
      .record(writableField(), writtenValue, {
        error: 'allowed: names of fields that Salesforce does not set itself, each with an expression',
      })
      .describe('What is written, by the API name of the field.'),
    campaign: campaign.optional().describe('Makes the person a member of a campaign.'),
  })
  .superRefine((keys, context) => {
    const problem = (path: string, message: string): void =>
      void context.issues.push({ code: 'custom', input: keys, path: [path], message });
    if (keys.externalId === undefined && keys.create) {
      problem('externalId', 'is missing: without it a repeat would create someone twice (or write "create: false")');
    }
    const byEmail = keys.match.some((by) => by !== 'externalId');
    if (byEmail && keys.email === undefined && keys.properties.Email === undefined) {
      problem('match', 'by e-mail needs the property Email, or the key "email"');
    }
    if (keys.externalId === undefined && !byEmail) problem('match', 'has nothing to match by; add contactEmail');
    if (keys.externalId !== undefined && Object.hasOwn(keys.properties, keys.externalId.field)) {
      problem('properties', `gives ${keys.externalId.field}, which "externalId" gives already`);
    }
  });

const signingKey = secret()
  .refine((found) => isRsaKey(found.reveal()), {
    error: 'allowed: an RSA private key (PEM) without passphrase, written as ${file:/path} or ${NAME}',
  })
  .meta({ allowed: 'an RSA private key (PEM), written as `${file:/path}` or `${NAME}`', secret: true });

export const salesforceConfigSchema: z.ZodType<SalesforceConfig> = z
  .strictObject({
    loginUrl: sinkUrl()
      .prefault('https://login.salesforce.com')
      .describe('Where it logs in: `https://test.salesforce.com` for a sandbox, or the My Domain of the org.'),
    baseUrl: sinkUrl()
      .optional()
      .describe('In place of the addresses of both the login and the org: a proxy, a test double.'),
    clientId: nonEmptyText('the consumer key of the app').describe('The consumer key of the connected app.'),
    username: nonEmptyText('the username of the integration user').describe('The user in whose name it acts.'),
    privateKey: signingKey.describe("Signs the logins; the app holds the key's certificate."),
    apiVersion: text('a version such as v62.0', (found) => (/^v\d{2,3}\.0$/.test(found) ? found : undefined))
      .prefault('v62.0')
      .describe("The version of Salesforce's API."),
    records: z
      .array(record, { error: 'allowed: a list of records' })
      .min(1, { error: 'allowed: at least one record' })
      .describe('What is made from which list.'),
    ...networkKeys,
  })
  .superRefine(plainHttpStaysPrivate('loginUrl', 'baseUrl'));

function isRsaKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}
