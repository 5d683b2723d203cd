import type { CampaignStatuses } from './campaign-statuses.js';
import type { SalesforceClient } from './client.js';
import type { ObjectFields } from './object-fields.js';

/** What a sink holds of its org, shared by all lanes. */
export interface Org {
  readonly client: SalesforceClient;
  readonly objects: ObjectFields;
  readonly statuses: CampaignStatuses;
}
