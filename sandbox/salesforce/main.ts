import { runDouble } from '../serve/run-double.js';
import { field } from './sobject-type.js';
import { startSalesforceDouble } from './start-salesforce-double.js';

/** Custom fields of the configuration example, which an administrator would create. */
const fields = {
  Lead: [field('Engagement_Id__c', { externalId: true, unique: true })],
  Contact: [field('Engagement_Id__c', { externalId: true, unique: true })],
  Campaign: [field('Event_Id__c', { externalId: true, unique: true })],
  CampaignMember: [field('Engagement_Key__c', { externalId: true, unique: true })],
};

/** Runs the stand-in as a program: `node tools/run-typescript.cjs sandbox/salesforce/main.ts --port 8102`. */
runDouble('Salesforce double', (options) => startSalesforceDouble({ fields, ...options }));
