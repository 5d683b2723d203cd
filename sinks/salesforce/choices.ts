import type { Choices, OfferedChoice } from '../connect.js';
import { factsOf, type Org } from './object-fields.js';
import { CallFailure } from './operation.js';
import { query } from './query.js';

/** The newest campaigns are enough to choose one for an event. */
const maxCampaigns = 100;

/**
 * Returns the campaigns that an external id names, and for each external id field of Campaign the choice of a campaign for
 * each event. A value is `Field__c=id` or `Field__c`. Never throws.
 */
export async function listCampaigns(org: Org): Promise<Choices> {
  try {
    await org.client.logIn(org.budget.signal);
    const facts = await factsOf(org, 'Campaign');
    const fields = [...facts.fields.values()].filter(({ externalId }) => externalId);
    if (fields.length === 0) {
      const detail =
        'Campaign has no field that is flagged External ID: create one such as Event_Id__c, or leave the campaign out';
      return { kind: 'refused', detail };
    }
    const items: OfferedChoice[] = [];
    for (const { name } of fields) {
      const rows = await query(
        org,
        `SELECT Id, Name, ${name} FROM Campaign ORDER BY CreatedDate DESC LIMIT ${maxCampaigns}`,
      );
      items.push({ value: name, label: 'A campaign for each event', note: `found by ${name}, created if necessary` });
      for (const row of rows.filter((each) => each[name] !== null)) {
        items.push({
          value: `${name}=${String(row[name])}`,
          label: String(row['Name']),
          note: `${name} ${String(row[name])}`,
        });
      }
    }
    return { kind: 'offered', items, more: false };
  } catch (error) {
    const detail = error instanceof CallFailure ? error.result.detail : undefined;
    return { kind: 'refused', detail: detail ?? 'Salesforce did not list the campaigns in time' };
  }
}
