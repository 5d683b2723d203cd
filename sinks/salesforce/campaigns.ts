import { z } from 'zod';
import type { Value } from '../records/decide-values.js';
import type { Fields, Lane, Result } from '../sink.js';
import { BELIEVED_FOR_MS, conform, factsOf, type Org, type Statuses } from './object-fields.js';
import { type CampaignStep, CallFailure, CallsEnded, digest, type Job, type LeaveStep } from './operation.js';
import { settle, writeRecords } from './write-records.js';
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
  async get(step: CampaignStep): Promise<Campaign | Result> {
    const name = JSON.stringify([step.key, step.fields, step.status]);
    let campaign = this.#found.get(name);
    if (campaign === undefined) {
      campaign = await this.#make(step);
      this.#found.set(name, campaign);
    }
    return campaign;
  }

  async #make(step: CampaignStep): Promise<Campaign | Result> {
    const wanted: Statuses = new Map([
      [step.status.registered, false],
      [step.status.attended, true],
    ]);
    const memoryKey = `campaign ${digest([step.key.field, step.key.value])}`;
    const fingerprint = digest(step.fields);
    const remembered = rememberedSchema.safeParse(this.learnt[memoryKey] ?? (this.lane.memory as Fields)[memoryKey]);
    let id = remembered.success && remembered.data.fingerprint === fingerprint ? remembered.data.id : undefined;
    let statuses = id === undefined ? undefined : await statusesOf(this.org, id, wanted);
    if (id === undefined || statuses === undefined || statuses.size === 0) {
      const written = await this.#write(step);
      if (typeof written !== 'string') return written;
      id = written;
      this.learnt[memoryKey] = { id, fingerprint };
      statuses = await statusesOf(this.org, id, wanted);
    }
    const missing = [...wanted.keys()].filter((label) => !statuses.has(label));
    return missing.length === 0
      ? { id, statuses }
      : statusMissing(this.org, id, 'a member status of "campaign.status"');
  }

  async #write({ key, fields }: CampaignStep): Promise<string | Result> {
    const facts = await factsOf(this.org, 'Campaign');
    const record: Record<string, Value> = { [key.field]: key.value };
    for (const [field, value] of Object.entries(fields)) {
      const conformed = conform(facts, 'Campaign', { name: field, value });
      if ('kind' in conformed) return conformed;
      record[conformed.name] = conformed.value;
    }
    const write = { how: 'upsert', type: 'Campaign', keyField: key.field } as const;
    const [written] = await writeRecords(this.org, write, [record]);
    if (written!.kind === 'written') return written!.id;
    let failure: Result = { kind: 'retry', detail: 'the campaign was deleted while it was written' };
    settle({ end: (result) => (failure = result) }, written!, 'Campaign', {
      written: () => undefined,
      lost: () => undefined,
    });
    return failure;
  }
}

/**
 * Returns the member statuses of a campaign. They include the wanted ones, unless the org does not allow pigeonpost to
 * add one. Empty if the campaign does not exist. If a campaign lacks a status, Salesforce silently gives the member
 * another one. Before a status is written, it is therefore checked, and added if it is missing.
 * @param wanted labels, and whether each counts as a response if it has to be added
 * @throws {CallFailure} @throws {CallsEnded}
 */
async function statusesOf(org: Org, campaignId: string, wanted: Statuses): Promise<Statuses> {
  const cached = org.known.statuses.get(campaignId);
  if (cached !== undefined && performance.now() < cached.untilMs && hasAll(cached.statuses, wanted)) {
    return cached.statuses;
  }
  const present = await readStatuses(org, campaignId);
  let { statuses } = present;
  const missing = [...wanted].filter(([label]) => !statuses.has(label));
  if (statuses.size > 0 && missing.length > 0 && (await addStatuses(org, campaignId, missing, present.lastPlace))) {
    ({ statuses } = await readStatuses(org, campaignId));
  }
  if (hasAll(statuses, wanted)) {
    org.known.statuses.set(campaignId, { statuses, untilMs: performance.now() + BELIEVED_FOR_MS });
  }
  return statuses;
}

/** Returns the result for a campaign that lacks a status of this key, which `statusesOf` could not add. */
function statusMissing({ known }: Org, campaignId: string, what: string): Result {
  const codes = known.refusedStatuses.get(campaignId);
  const why = codes === undefined ? 'the user may not add it' : `Salesforce refused to add it (${codes})`;
  const detail = `campaign ${campaignId} lacks ${what}, and ${why}: add it there`;
  return { kind: 'rejected', cause: 'salesforce:campaign-status-missing', detail };
}

async function readStatuses(org: Org, campaignId: string) {
  const soql = `SELECT Label, HasResponded, SortOrder FROM CampaignMemberStatus WHERE CampaignId = ${soqlText(campaignId)}`;
  const rows = await query(org, soql);
  const statuses: Statuses = new Map(rows.map(({ Label, HasResponded }) => [String(Label), HasResponded === true]));
  return { statuses, lastPlace: Math.max(0, ...rows.map(({ SortOrder }) => Number(SortOrder ?? 0))) };
}

/**
 * Adds the missing statuses after the last place, because a `SortOrder` is unique in its campaign. Returns false if the
 * user may not add any: in some orgs, only administrators may.
 */
async function addStatuses(
  org: Org,
  campaignId: string,
  missing: readonly (readonly [string, boolean])[],
  lastPlace: number,
): Promise<boolean> {
  org.known.refusedStatuses.delete(campaignId);
  if (!(await factsOf(org, 'CampaignMemberStatus')).createable) return false;
  const records = missing.map(([label, responds], index) => ({
    CampaignId: campaignId,
    Label: label,
    HasResponded: responds,
    SortOrder: lastPlace + index + 1,
  }));
  const written = await writeRecords(org, { how: 'create', type: 'CampaignMemberStatus' }, records);
  const codes = new Set<string>();
  for (const each of written) {
    if (each.kind === 'failed') throw new CallFailure(each.result);
    if (each.kind === 'not-begun') throw new CallsEnded();
    if (each.kind === 'refused') for (const { code } of each.errors) if (code !== '') codes.add(code);
  }
  // A refusal decides nothing: the caller reads the statuses again, which also shows those that another lane has added.
  if (codes.size > 0) org.known.refusedStatuses.set(campaignId, [...codes].join(', '));
  return true;
}

function hasAll(statuses: Statuses, wanted: Statuses): boolean {
  return [...wanted.keys()].every((label) => statuses.has(label));
}

/**
 * Sets the status `removed` on the memberships of deleted items. A membership stays as it is if it no longer exists, or
 * if a user set its status.
 * @throws {CallFailure} @throws {CallsEnded}
 */
export async function leaveCampaigns(org: Org, jobs: readonly Job<LeaveStep>[]): Promise<void> {
  const ids = jobs.flatMap(({ step }) => (step.known.member === null ? [] : [soqlText(step.known.member.id)]));
  const soql = (list: string): string => `SELECT Id, Status FROM CampaignMember WHERE Id IN (${list})`;
  const rows = await queryAll(org, ids, soql);
  const present = new Map(rows.map(({ Id, Status }) => [String(Id), String(Status)]));
  const due = new Map<string, Job<LeaveStep>[]>();
  for (const job of jobs) {
    const { member } = job.step.known;
    const status = member === null ? undefined : present.get(member.id);
    if (member === null || status === undefined || !job.step.ours.includes(status)) {
      job.done(status === undefined ? 'membership no longer exists' : 'membership left unchanged');
      continue;
    }
    const { status: label } = job.step;
    const statuses = await statusesOf(org, member.campaignId, new Map([[label, false]]));
    if (statuses.has(label)) due.set(member.id, [...(due.get(member.id) ?? []), job]);
    else job.end(statusMissing(org, member.campaignId, 'the status of "campaign.status.removed"'));
  }
  const groups = [...due.values()];
  const records = [...due].map(([id, [job]]) => ({ id, Status: job!.step.status }));
  const written = await writeRecords(org, { how: 'update', type: 'CampaignMember' }, records);
  groups.forEach((group, index) => {
    for (const job of group) {
      const { known, status } = job.step;
      settle(job, written[index]!, 'CampaignMember', {
        written({ id }) {
          job.remote = { ...known, member: { ...known.member!, status } };
          job.done(`member ${id} ${status}`);
        },
        lost() {
          job.done('membership no longer exists');
        },
      });
    }
  });
}
