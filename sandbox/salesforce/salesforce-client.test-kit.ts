import { type KeyObject, sign } from 'node:crypto';
import { callDouble, type Answered } from '../serve/call-double.test-kit.js';
import type { ServeOptions } from '../serve/serve-double.js';
import { field } from './sobject-type.js';
import type { SalesforceOptions } from './salesforce-org.js';
import { startSalesforceDouble, type SalesforceDouble } from './start-salesforce-double.js';

const started: SalesforceDouble[] = [];

/** Closes the stand-ins that the test started. */
export async function closeDoubles(): Promise<void> {
  await Promise.all(started.splice(0).map((double) => double.close()));
}

export const NOW_MS = Date.parse('2026-11-20T10:00:00Z');

/** Requests a token with a valid assertion in which `claims` replace some claims. */
export async function requestToken(
  double: SalesforceDouble,
  claims: Readonly<Record<string, unknown>> = {},
  header?: Readonly<Record<string, unknown>>,
  privateKey: KeyObject | string = double.org.privateKey!,
): Promise<Answered> {
  const assertion = signAssertion(
    privateKey,
    {
      iss: 'salesforce-client',
      sub: 'integration@example.com',
      aud: double.url,
      exp: Math.floor(double.org.now() / 1000) + 120,
      ...claims,
    },
    header,
  );
  const form = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion });
  const answer = await fetch(`${double.url}/services/oauth2/token`, { method: 'POST', body: form });
  return { status: answer.status, headers: answer.headers, text: '', json: await answer.json() };
}

/** The result of one record of a collection. */
interface RecordResult {
  readonly id: string;
  readonly success: boolean;
  readonly errors: readonly { readonly statusCode: string }[];
}

/** Starts an org with the fields that the tests use, and opens a session. */
export async function salesforce(options: SalesforceOptions & ServeOptions = {}): Promise<{
  double: SalesforceDouble;
  call: (path: string, body?: unknown, method?: string, headers?: Record<string, string>) => Promise<Answered>;
  query: (soql: string) => Promise<Answered>;
  upsert: (object: string, external: string, records: readonly Record<string, unknown>[]) => Promise<Answered>;
  /** Creates one record and returns its result. */
  create: (object: string, values: object, headers?: Record<string, string>) => Promise<RecordResult>;
  /** Changes one record and returns its result. */
  update: (object: string, id: string, values: object, headers?: Record<string, string>) => Promise<RecordResult>;
}> {
  const double = await startSalesforceDouble({
    onViolation: 'record',
    now: () => NOW_MS,
    fields: {
      Lead: [
        field('Engagement_Id__c', { externalId: true, unique: true }),
        field('Region__c', { picklist: ['North', 'South'], restrictedPicklist: true }),
        field('Score__c', { type: 'double' }),
        field('Seen_On__c', { type: 'date' }),
      ],
      Contact: [field('Engagement_Id__c', { externalId: true })],
      Campaign: [field('Event_Id__c', { externalId: true, unique: true })],
      CampaignMember: [field('Engagement_Key__c', { externalId: true, unique: true })],
    },
    ...options,
  });
  started.push(double);
  const token = (await requestToken(double)).json.access_token;
  const call = (
    path: string,
    body?: unknown,
    method?: string,
    headers: Record<string, string> = {},
  ): Promise<Answered> =>
    callDouble(`${double.url}/services/data/v60.0${path}`, {
      token,
      body,
      headers,
      ...(method !== undefined && { method }),
    });
  const one = async (method: string, object: string, values: object, headers?: Record<string, string>) =>
    (await call('/composite/sobjects', { records: [{ attributes: { type: object }, ...values }] }, method, headers))
      .json[0];
  return {
    double,
    call,
    create: (object, values, headers) => one('POST', object, values, headers),
    update: (object, id, values, headers) => one('PATCH', object, { id, ...values }, headers),
    query: (soql) => call(`/query?${new URLSearchParams({ q: soql }).toString()}`),
    upsert: (object, external, records) =>
      call(
        `/composite/sobjects/${object}/${external}`,
        { allOrNone: false, records: records.map((record) => ({ attributes: { type: object }, ...record })) },
        'PATCH',
      ),
  };
}

/** A lead with all required fields. */
export function lead(engagementId: string, parts: Record<string, unknown> = {}): Record<string, unknown> {
  return { Engagement_Id__c: engagementId, LastName: 'Doe', Company: 'ACME', ...parts };
}

/** Returns a signed assertion as the JWT bearer flow requires it, with the given claims and header fields. */
function signAssertion(
  privateKey: KeyObject | string,
  claims: Readonly<Record<string, unknown>>,
  header: Readonly<Record<string, unknown>> = { alg: 'RS256' },
): string {
  const part = (json: unknown): string => Buffer.from(JSON.stringify(json)).toString('base64url');
  const signed = `${part(header)}.${part(claims)}`;
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), privateKey).toString('base64url')}`;
}
