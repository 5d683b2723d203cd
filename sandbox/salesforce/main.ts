import { runDouble } from '../serve/run-double.js';
import { field } from './sobject-type.js';
import { startSalesforceDouble } from './start-salesforce-double.js';

/** The fields of the configuration's example, which an administrator would have made. */
const fields = {
  Lead: [field('Engagement_Id__c', { externalId: true, unique: true })],
  Contact: [field('Engagement_Id__c', { externalId: true, unique: true })],
  Campaign: [field('Event_Id__c', { externalId: true, unique: true })],
  CampaignMember: [field('Engagement_Key__c', { externalId: true, unique: true })],
};

/** A Salesforce for trying things out: `node tools/run-typescript.cjs sandbox/salesforce/main.ts --port 8102`. */
runDouble('Salesforce double', (options) => startSalesforceDouble({ fields, ...options }));
