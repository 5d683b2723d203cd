import type { AnsweredRequest } from '../../sandbox/serve/serve-double.js';
import { type FieldDefinition, field } from '../../sandbox/salesforce/sobject-type.js';
import type { OrgRecord } from '../../sandbox/salesforce/org.js';
import type { SalesforceOptions } from '../../sandbox/salesforce/salesforce-org.js';
import { type SalesforceDouble, startSalesforceDouble } from '../../sandbox/salesforce/start-salesforce-double.js';
import type { Fields, Sink } from '../sink.js';
import type { SalesforceOperation } from './operation.js';
import { createSalesforceSink } from './salesforce.js';
import { sampleConfig, sampleEnvironment } from './sample.test-kit.js';

const key = (name: string): FieldDefinition => field(name, { externalId: true, unique: true });

/** The custom fields that an administrator creates for the sample's mapping. */
const ownFields = {
  Lead: [
    key('Engagement_Id__c'),
    field('Seats__c', { type: 'double' }),
    field('Grade__c', { picklist: ['Hot', 'Cold'], restrictedPicklist: true }),
    field('Last_Event__c'),
  ],
  Contact: [field('Seats__c', { type: 'double' }), field('Last_Event__c')],
  Account: [key('Domain__c')],
  Campaign: [key('Event_Id__c')],
  CampaignMember: [field('Questions__c', { type: 'double' }), field('Credit__c', { type: 'double' }), field('Note__c')],
  Task: [field('Engagement_Key__c', { externalId: true })],
  Attendance__c: [
    key('Engagement_Key__c'),
    field('Lead__c', { type: 'reference', referenceTo: ['Lead'] }),
    field('Contact__c', { type: 'reference', referenceTo: ['Contact'] }),
    field('Minutes__c', { type: 'double' }),
  ],
};

/** A strict stand-in with a new account, and the operations that tests of this sink need. */
export class TestOrg {
  readonly #sinks: Sink<SalesforceOperation>[] = [];

  private constructor(readonly double: SalesforceDouble) {}

  static async open(options: SalesforceOptions = {}): Promise<TestOrg> {
    return new TestOrg(await startSalesforceDouble({ fields: ownFields, ...options }));
  }

  get url(): string {
    return this.double.url;
  }

  /** Returns a sink of a process that has just started. The org closes it. @param record as in `sampleConfig` */
  sink(record: object = {}, keys: object = {}, environment: object = {}): Sink<SalesforceOperation> {
    const sink = createSalesforceSink(sampleConfig(this, record, keys), { ...sampleEnvironment, ...environment });
    this.#sinks.push(sink);
    return sink;
  }

  /** Returns the current records that are not deleted, oldest first. */
  all(type: string): Fields[] {
    const { org } = this.double.org;
    return org.all(org.type(type)).map(({ values }) => values);
  }

  /** Creates a record as a user would. Its `values` are always the current ones. */
  add(type: string, values: Fields): OrgRecord {
    const { org } = this.double.org;
    return org.create(org.type(type), values);
  }

  change(record: OrgRecord, values: Fields): void {
    this.double.org.org.update(record, values);
  }

  convert(lead: OrgRecord): OrgRecord {
    return this.double.org.org.convertLead(lead);
  }

  /** Deletes all records of the type, as a user would. */
  clear(type: string): void {
    const { org } = this.double.org;
    for (const record of org.all(org.type(type))) org.delete(record);
  }

  record(type: string, at = 0): OrgRecord {
    const { org } = this.double.org;
    return org.all(org.type(type))[at]!;
  }

  /** Returns the requests to the API, without logins. */
  calls(): AnsweredRequest[] {
    return this.double.requests.filter(({ path }) => !path.endsWith('/oauth2/token'));
  }

  /** Returns the requests that save records of the type. */
  writes(type: string): AnsweredRequest[] {
    return this.calls().filter(
      ({ method, body }) => ['POST', 'PATCH'].includes(method) && body.includes(`"type":"${type}"`),
    );
  }

  /** Returns the queries for the type. */
  queries(type: string): AnsweredRequest[] {
    return this.calls().filter(({ query }) => (query.get('q') ?? '').includes(` FROM ${type} `));
  }

  get logins(): number {
    return this.double.requests.filter(({ path }) => path.endsWith('/oauth2/token')).length;
  }

  async close(): Promise<void> {
    for (const sink of this.#sinks) await sink.close();
    await this.double.close();
  }
}
