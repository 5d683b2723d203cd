import { CallFailure, CallsEnded } from './call-failure.js';
import type { SalesforceClient } from './client.js';
import type { CallBudget } from '../rest/call-budget.js';
import { query } from './query.js';
import type { ObjectFields } from './object-fields.js';
import { soqlText } from './soql.js';
import { writeRecords } from './write-records.js';

/** How long what a campaign's statuses were is believed. */
const BELIEVED_FOR_MS = 10 * 60 * 1000;

/** The statuses that members of a campaign may have, and whether each counts as a response. */
export type Statuses = ReadonlyMap<string, boolean>;

/**
 * The statuses of campaigns, shared by all lanes. Salesforce gives a member whose status the campaign does not have
 * another one without saying so, so a status is made sure of before it is given.
 */
export class CampaignStatuses {
  readonly #known = new Map<string, { readonly statuses: Statuses; readonly untilMs: number }>();

  constructor(
    private readonly client: SalesforceClient,
    private readonly objects: ObjectFields,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /**
   * The campaign's statuses, those wanted among them where they are there or could be added. Empty: there is no such
   * campaign. @throws {CallFailure} @throws {CallsEnded}
   * @param wanted labels, and whether each is to count as a response where it is added
   */
  async of(campaignId: string, wanted: Statuses, budget: CallBudget): Promise<Statuses> {
    const known = this.#known.get(campaignId);
    if (known !== undefined && this.now() < known.untilMs && hasAll(known.statuses, wanted)) return known.statuses;
    let statuses = await this.#ask(campaignId, budget);
    if (statuses.size > 0 && !hasAll(statuses, wanted) && (await this.#add(campaignId, wanted, statuses, budget))) {
      statuses = await this.#ask(campaignId, budget);
    }
    if (hasAll(statuses, wanted)) this.#known.set(campaignId, { statuses, untilMs: this.now() + BELIEVED_FOR_MS });
    return statuses;
  }

  async #ask(campaignId: string, budget: CallBudget): Promise<Statuses> {
    const soql = `SELECT Label, HasResponded FROM CampaignMemberStatus WHERE CampaignId = ${soqlText(campaignId)}`;
    const rows = await query(this.client, soql, budget);
    return new Map(rows.map(({ Label, HasResponded }) => [String(Label), HasResponded === true]));
  }

  /** Whether it may be tried at all: some orgs keep statuses to their administrators. */
  async #add(campaignId: string, wanted: Statuses, present: Statuses, budget: CallBudget): Promise<boolean> {
    if (!(await this.objects.of('CampaignMemberStatus', budget)).createable) return false;
    const missing = [...wanted].filter(([label]) => !present.has(label));
    const records = missing.map(([label, responds], index) => ({
      CampaignId: campaignId,
      Label: label,
      HasResponded: responds,
      SortOrder: present.size + index + 1,
    }));
    const written = await writeRecords(this.client, { how: 'create', type: 'CampaignMemberStatus' }, records, budget);
    // What was refused shows when they are asked for again: another lane may have added it meanwhile.
    for (const each of written) {
      if (each.kind === 'failed') throw new CallFailure(each.result);
      if (each.kind === 'not-begun') throw new CallsEnded();
    }
    return true;
  }
}

function hasAll(statuses: Statuses, wanted: Statuses): boolean {
  return [...wanted.keys()].every((label) => statuses.has(label));
}
