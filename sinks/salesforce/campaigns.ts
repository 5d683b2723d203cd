import { z } from 'zod';
import type { Fields, Lane, Result } from '../sink.js';
import { classifyRecordErrors } from './classify.js';
import type { CallBudget } from '../rest/rest-client.js';
import { conformValue, type Org, type ObjectFields } from './object-fields.js';
import {
  type CampaignStep,
  type FieldValue,
  CallFailure,
  CallsEnded,
  digest,
  type Job,
  type LeaveStep,
} from './operation.js';
import { settle, writeRecords } from './write-records.js';
import type { SalesforceClient } from './client.js';
import { query, queryAll, soqlText } from './query.js';

export interface Campaign {
  readonly id: string;
  readonly statuses: Statuses;
}

/** A campaign's ID and the values last written to it, as the lane stores them. */
const rememberedSchema = z.object({ id: z.string(), fingerprint: z.string() });

/**
 * Writes each campaign of a lane once, and again only if the mapped values change. Edits that users make in Salesforce
 * therefore stay.
 */
export class Campaigns {
  readonly #found = new Map<string, Campaign | Result>();
  /** The changes to the lane's memory, which the engine commits with the outcomes. */
  readonly learnt: Record<string, unknown> = {};

  constructor(
    private readonly org: Org,
    private readonly lane: Pick<Lane, 'memory'>,
  ) {}

  /** Returns the campaign, or the result that says why there is none. @throws {CallFailure} @throws {CallsEnded} */
  async get(step: CampaignStep, budget: CallBudget): Promise<Campaign | Result> {
    const name = JSON.stringify([step.key, step.fields, step.status]);
    let campaign = this.#found.get(name);
    if (campaign === undefined) {
      campaign = await this.#make(step, budget);
      this.#found.set(name, campaign);
    }
    return campaign;
  }

  async #make(step: CampaignStep, budget: CallBudget): Promise<Campaign | Result> {
    const wanted: Statuses = new Map([
      [step.status.registered, false],
      [step.status.attended, true],
    ]);
    const memoryKey = `campaign ${digest([step.key.field, step.key.value])}`;
    const fingerprint = digest(step.fields);
    const remembered = rememberedSchema.safeParse(this.learnt[memoryKey] ?? (this.lane.memory as Fields)[memoryKey]);
    let id = remembered.success && remembered.data.fingerprint === fingerprint ? remembered.data.id : undefined;
    let statuses = id === undefined ? undefined : await this.org.statuses.of(id, wanted, budget);
    if (id === undefined || statuses === undefined || statuses.size === 0) {
      const written = await this.#write(step, budget);
      if (typeof written !== 'string') return written;
      id = written;
      this.learnt[memoryKey] = { id, fingerprint };
      statuses = await this.org.statuses.of(id, wanted, budget);
    }
    const missing = [...wanted.keys()].filter((label) => !statuses.has(label));
    if (missing.length === 0) return { id, statuses };
    return {
      kind: 'rejected',
      cause: 'salesforce:campaign-status-missing',
      detail: `campaign ${id} lacks a member status of "campaign.status", and ${this.org.statuses.whyMissing(id)}: add it there`,
    };
  }

  async #write({ key, fields }: CampaignStep, budget: CallBudget): Promise<string | Result> {
    const facts = await this.org.objects.of('Campaign', budget);
    const record: Record<string, FieldValue> = { [key.field]: key.value };
    for (const [field, value] of Object.entries(fields)) {
      const known = facts.fields.get(field.toLowerCase());
      const conformed = known === undefined ? undefined : conformValue(value, known);
      if (known === undefined || conformed === undefined) {
        const code = known === undefined ? 'INVALID_FIELD' : 'wrong-type';
        const detail = `Campaign has no field ${field} that accepts the mapping's value: run "pigeonpost check" for details`;
        return { kind: 'rejected', cause: `salesforce:${code}:Campaign.${field}`, detail };
      }
      record[known.name] = conformed;
    }
    const write = { how: 'upsert', type: 'Campaign', keyField: key.field } as const;
    const [written] = await writeRecords(this.org.client, write, [record], budget);
    switch (written?.kind) {
      case 'written':
        return written.id;
      case 'failed':
        return written.result;
      case 'refused': {
        const failure = classifyRecordErrors(written.errors, 'Campaign', written.requestId);
        if ('result' in failure) return failure.result;
        return { kind: 'retry', detail: 'the campaign was deleted while it was written' };
      }
      default:
        return { kind: 'unsent' };
    }
  }
}

/** Time for which a campaign's statuses are cached. */
const BELIEVED_FOR_MS = 10 * 60 * 1000;

/** Statuses of a campaign's members, and whether each counts as a response. */
type Statuses = ReadonlyMap<string, boolean>;

/**
 * Reads, caches and adds the member statuses of campaigns, for all lanes. If a campaign lacks a status, Salesforce
 * silently gives the member another one. Before a status is written, it is therefore checked, and added if it is
 * missing.
 */
export class CampaignStatuses {
  readonly #known = new Map<string, { readonly statuses: Statuses; readonly untilMs: number }>();
  /** Salesforce's codes for the statuses that it refused to add, by campaign. */
  readonly #refused = new Map<string, string>();

  constructor(
    private readonly client: SalesforceClient,
    private readonly objects: ObjectFields,
  ) {}

  /**
   * Returns the campaign's statuses. They include the wanted ones, unless the org does not allow pigeonpost to add one.
   * Empty if the campaign does not exist.
   * @throws {CallFailure} @throws {CallsEnded}
   * @param wanted labels, and whether each counts as a response if it has to be added
   */
  async of(campaignId: string, wanted: Statuses, budget: CallBudget): Promise<Statuses> {
    const known = this.#known.get(campaignId);
    if (known !== undefined && performance.now() < known.untilMs && hasAll(known.statuses, wanted))
      return known.statuses;
    const present = await this.#ask(campaignId, budget);
    let { statuses } = present;
    const missing = [...wanted].filter(([label]) => !statuses.has(label));
    if (statuses.size > 0 && missing.length > 0 && (await this.#add(campaignId, missing, present.lastPlace, budget))) {
      ({ statuses } = await this.#ask(campaignId, budget));
    }
    if (hasAll(statuses, wanted))
      this.#known.set(campaignId, { statuses, untilMs: performance.now() + BELIEVED_FOR_MS });
    return statuses;
  }

  /** Returns why `of` could not add a status to the campaign, as a clause of a sentence. */
  whyMissing(campaignId: string): string {
    const codes = this.#refused.get(campaignId);
    return codes === undefined ? 'the user may not add it' : `Salesforce refused to add it (${codes})`;
  }

  async #ask(campaignId: string, budget: CallBudget) {
    const soql = `SELECT Label, HasResponded, SortOrder FROM CampaignMemberStatus WHERE CampaignId = ${soqlText(campaignId)}`;
    const rows = await query(this.client, soql, budget);
    const statuses: Statuses = new Map(rows.map(({ Label, HasResponded }) => [String(Label), HasResponded === true]));
    return { statuses, lastPlace: Math.max(0, ...rows.map(({ SortOrder }) => Number(SortOrder ?? 0))) };
  }

  /**
   * Adds the missing statuses after the last place, because a `SortOrder` is unique in its campaign. Returns false if
   * the user may not add any: in some orgs, only administrators may.
   */
  async #add(
    campaignId: string,
    missing: readonly (readonly [string, boolean])[],
    lastPlace: number,
    budget: CallBudget,
  ): Promise<boolean> {
    this.#refused.delete(campaignId);
    if (!(await this.objects.of('CampaignMemberStatus', budget)).createable) return false;
    const records = missing.map(([label, responds], index) => ({
      CampaignId: campaignId,
      Label: label,
      HasResponded: responds,
      SortOrder: lastPlace + index + 1,
    }));
    const written = await writeRecords(this.client, { how: 'create', type: 'CampaignMemberStatus' }, records, budget);
    const codes = new Set<string>();
    for (const each of written) {
      if (each.kind === 'failed') throw new CallFailure(each.result);
      if (each.kind === 'not-begun') throw new CallsEnded();
      if (each.kind === 'refused') for (const { code } of each.errors) if (code !== '') codes.add(code);
    }
    // A refusal decides nothing: the caller reads the statuses again, which also shows those that another lane has added.
    if (codes.size > 0) this.#refused.set(campaignId, [...codes].join(', '));
    return true;
  }
}

function hasAll(statuses: Statuses, wanted: Statuses): boolean {
  return [...wanted.keys()].every((label) => statuses.has(label));
}

/**
 * Sets the status `removed` on the memberships of deleted items. A membership stays as it is if it no longer exists, or
 * if a user set its status.
 * @throws {CallFailure} @throws {CallsEnded}
 */
export async function leaveCampaigns(org: Org, jobs: readonly Job<LeaveStep>[], budget: CallBudget): Promise<void> {
  const ids = jobs.flatMap(({ step }) => (step.known.member === null ? [] : [soqlText(step.known.member.id)]));
  const soql = (list: string): string => `SELECT Id, Status FROM CampaignMember WHERE Id IN (${list})`;
  const rows = await queryAll(org.client, ids, soql, budget);
  const present = new Map(rows.map(({ Id, Status }) => [String(Id), String(Status)]));
  const due = new Map<string, Job<LeaveStep>[]>();
  for (const job of jobs) {
    const { member } = job.step.known;
    const status = member === null ? undefined : present.get(member.id);
    if (member === null || status === undefined || !job.step.ours.includes(status)) {
      job.done.push(status === undefined ? 'membership no longer exists' : 'membership left unchanged');
      continue;
    }
    const { status: label } = job.step;
    const statuses = await org.statuses.of(member.campaignId, new Map([[label, false]]), budget);
    if (statuses.has(label)) due.set(member.id, [...(due.get(member.id) ?? []), job]);
    else {
      const detail = `campaign ${member.campaignId} lacks the status of "campaign.status.removed", and ${org.statuses.whyMissing(member.campaignId)}: add it there`;
      job.result = { kind: 'rejected', cause: 'salesforce:campaign-status-missing', detail };
    }
  }
  const groups = [...due.values()];
  const records = [...due].map(([id, [job]]) => ({ id, Status: job!.step.status }));
  const written = await writeRecords(org.client, { how: 'update', type: 'CampaignMember' }, records, budget);
  groups.forEach((group, index) => {
    for (const job of group) {
      const { known, status } = job.step;
      settle(job, written[index]!, 'CampaignMember', {
        written({ id }) {
          job.remote = { ...known, member: { ...known.member!, status } };
          job.done.push(`member ${id} ${status}`);
        },
        lost() {
          job.done.push('membership no longer exists');
        },
      });
    }
  });
}
