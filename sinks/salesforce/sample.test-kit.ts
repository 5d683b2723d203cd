import type { Change } from '../change.js';
import { sampleChange } from '../sample-change.test-kit.js';
import { Secret } from '../../config/secret.js';
import { subjectOf } from '../plan-of.test-kit.js';
import type { Fields, Lane, Outcome, Planned, Sink, SinkEnvironment, Subject } from '../sink.js';
import { salesforceConfigSchema, type SalesforceConfig } from './config.js';
import { ownKeyPair } from '../../sandbox/salesforce/salesforce-org.js';
import type { SalesforceOperation } from './operation.js';
import { environmentOf } from '../sink-environment.test-kit.js';

const recordKeys = {
  from: 'attendees',
  object: 'Lead',
  externalId: { Engagement_Id__c: '$string(item.id)' },
  properties: { Email: 'item.Email', LastName: 'item.Name', Company: 'item.Company ? item.Company : "unknown"' },
};

export const campaignKeys = {
  externalId: { Event_Id__c: '$string(pigeonhole.id)' },
  status: { registered: 'Sent', attended: 'Responded' },
};

/** The private key for the app's certificate in stand-ins without a key of their own. */
export const privateKey = ownKeyPair().privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

/** Returns the configuration of the example, with changes to its only record and to its other keys. */
export function sampleConfig(org: { readonly url: string }, record: object = {}, keys: object = {}): SalesforceConfig {
  return salesforceConfigSchema.parse({
    baseUrl: org.url,
    loginUrl: org.url,
    clientId: 'salesforce-client',
    username: 'integration@example.com',
    privateKey: new Secret(privateKey),
    records: [{ ...recordKeys, ...record }],
    ...keys,
  });
}

export const sampleEnvironment: SinkEnvironment = environmentOf('salesforce');

export const pigeonhole: Fields = { id: 101, name: 'ACME Summit', startDate: '2026-11-21' };

/** Returns a change of an attendee with its context. */
export function attendee(data: Fields & { readonly id: number }, around: Partial<Subject> = {}): Subject {
  const change: Change = sampleChange({
    id: `change-${data.id}`,
    type: 'attendees.created',
    list: 'attendees',
    key: String(data.id),
    sessionId: null,
    data,
  });
  return subjectOf(change, { pigeonhole, ...around });
}

/** Returns the removal of the same attendee for this reason. */
export function gone(id: number, removal: 'deleted' | 'consent-withdrawn', object: Fields | null): Subject {
  const change: Change = sampleChange({
    id: `gone-${id}`,
    type: 'attendees.deleted',
    list: 'attendees',
    key: String(id),
    sessionId: null,
    data: null,
  });
  return subjectOf(change, { pigeonhole, removal, object });
}

/** Returns a lane with its memory. */
export function laneOf(memory: Record<string, unknown> = {}): Lane {
  return {
    workspace: 'acme',
    pigeonholeId: 101,
    ledgerId: 'ledger-1',
    memory,
    remember: (more) => Promise.resolve(void Object.assign(memory, more)),
  };
}

/** Plans and sends, and keeps the sink's memory in the lane. @throws if a change is not sent */
export async function deliver(
  sink: Sink<SalesforceOperation>,
  subjects: readonly Subject[],
  lane: Lane = laneOf(),
  signal: AbortSignal = new AbortController().signal,
): Promise<readonly Outcome[]> {
  const operations = (await sink.plan(subjects)).map((planned: Planned<SalesforceOperation>) => {
    if (planned.kind !== 'send') throw new Error(`not sent: ${JSON.stringify(planned)}`);
    return planned.operation;
  });
  const { outcomes, memory } = await sink.send(operations, lane, signal);
  Object.assign(lane.memory, memory);
  return outcomes;
}
