import type { Result } from '../sink.js';
import type { Campaign, Campaigns } from './campaigns.js';
import { classifyRecordErrors } from './classify-record-errors.js';
import type { Turn } from './client.js';
import { decideMemberStatus, type PresentMember } from './decide-member-status.js';
import { isOpen, type PersonJob } from './job.js';
import type { Org } from './org.js';
import { query } from './query.js';
import { queriesFor, soqlText } from './soql.js';
import { type FieldValues, type Written, writeRecords } from './write-records.js';

interface MemberRow extends PresentMember {
  readonly id: string;
}

/** Someone in a campaign, for one or several items. */
interface Membership {
  readonly campaign: Campaign;
  readonly jobs: readonly PersonJob[];
  readonly present: MemberRow | null;
  readonly status: string;
}

/**
 * Makes people whose records were written members of their campaigns, or brings their status up to date. A membership
 * is found by campaign and person, of which Salesforce lets there be one, so that a repeat makes no second one.
 * @throws {CallFailure} @throws {CallsEnded}
 */
export async function writeMembers(
  org: Org,
  jobs: readonly PersonJob[],
  campaigns: Campaigns,
  turn: Turn,
): Promise<void> {
  for (const [campaign, members] of await byCampaign(jobs, campaigns, turn)) {
    const due = members.filter((job) => isDue(job, campaign));
    if (due.length === 0) continue;
    const present = await presentMembers(org, campaign, due, turn);
    const memberships = membershipsOf(campaign, due, present);
    await write(
      org,
      memberships.filter((each) => each.present === null),
      turn,
    );
    await write(
      org,
      memberships.filter((each) => each.present !== null),
      turn,
    );
  }
}

async function byCampaign(
  jobs: readonly PersonJob[],
  campaigns: Campaigns,
  turn: Turn,
): Promise<Map<Campaign, PersonJob[]>> {
  const groups = new Map<Campaign, PersonJob[]>();
  for (const job of jobs) {
    if (!isOpen(job) || job.remote === null || job.step.campaign === null) continue;
    const campaign = await campaigns.get(job.step.campaign, turn);
    if ('kind' in campaign) job.result = campaign;
    else groups.set(campaign, [...(groups.get(campaign) ?? []), job]);
  }
  return groups;
}

/** What this sink gave before is not given again: should someone have changed it since, that stays. */
function isDue({ remote, step }: PersonJob, { id }: Campaign): boolean {
  const member = remote?.member;
  return member?.campaignId !== id || member.status !== step.campaign!.status[step.campaign!.stage];
}

/** By the id of the person. */
async function presentMembers(
  org: Org,
  { id }: Campaign,
  jobs: readonly PersonJob[],
  turn: Turn,
): Promise<Map<string, MemberRow>> {
  const rows = new Map<string, MemberRow>();
  for (const type of ['Contact', 'Lead'] as const) {
    const column = `${type}Id`;
    const people = jobs.flatMap(({ remote }) => (remote?.type === type ? [soqlText(remote.id)] : []));
    const soql = (list: string): string =>
      `SELECT Id, ${column}, Status, HasResponded FROM CampaignMember WHERE CampaignId = ${soqlText(id)} AND ${column} IN (${list})`;
    for (const each of queriesFor(people, soql)) {
      for (const row of await query(org.client, each, turn)) {
        rows.set(String(row[column]), {
          id: String(row.Id),
          status: String(row.Status),
          hasResponded: row.HasResponded === true,
        });
      }
    }
  }
  return rows;
}

function membershipsOf(
  campaign: Campaign,
  jobs: readonly PersonJob[],
  present: ReadonlyMap<string, MemberRow>,
): Membership[] {
  const byPerson = new Map<string, PersonJob[]>();
  for (const job of jobs) byPerson.set(job.remote!.id, [...(byPerson.get(job.remote!.id) ?? []), job]);
  return [...byPerson].flatMap(([personId, group]): Membership[] => {
    const row = present.get(personId) ?? null;
    const attended = group.find(({ step }) => step.campaign!.stage === 'attended');
    const { stage, status } = (attended ?? group[0]!).step.campaign!;
    const decided = decideMemberStatus(row, stage, status, (label) => campaign.statuses.get(label) ?? false);
    if (decided !== null) return [{ campaign, jobs: group, present: row, status: decided }];
    for (const job of group) remember(job, campaign, { id: row!.id, status: row!.status, created: false });
    return [];
  });
}

/** All of them new, or all of them there already. */
async function write(org: Org, memberships: readonly Membership[], turn: Turn): Promise<void> {
  if (memberships.length === 0) return;
  const how = memberships[0]!.present === null ? 'create' : 'update';
  const records = memberships.map((membership) => recordOf(membership));
  const written = await writeRecords(org.client, { how, type: 'CampaignMember' }, records, turn);
  memberships.forEach((membership, index) => settle(membership, written[index]!));
}

function recordOf({ campaign, jobs, present, status }: Membership): FieldValues {
  if (present !== null) return { id: present.id, Status: status };
  const { type, id } = jobs[0]!.remote!;
  return { CampaignId: campaign.id, [`${type}Id`]: id, Status: status };
}

function settle({ campaign, jobs, present, status }: Membership, written: Written): void {
  for (const job of jobs) {
    switch (written.kind) {
      case 'written':
        remember(job, campaign, { id: written.id, status, created: present === null });
        job.done.push(`member ${written.id} ${status}`);
        break;
      case 'failed':
        job.result = written.result;
        break;
      case 'refused':
        job.result = refusalOf(written);
        break;
      case 'not-begun':
        job.result = {
          kind: 'retry',
          detail: 'the record was written and its campaign member was not: its time was over',
        };
    }
  }
}

function refusalOf({ errors, requestId }: Extract<Written, { kind: 'refused' }>): Result {
  const failure = classifyRecordErrors(errors, 'CampaignMember', requestId);
  // Someone else was faster, or one of the three is no more: looked at anew, it is known which.
  if (failure.kind !== 'other') return { kind: 'retry', detail: 'the campaign member has changed meanwhile' };
  return failure.result;
}

function remember(
  job: PersonJob,
  { id: campaignId }: Campaign,
  member: { readonly id: string; readonly status: string; readonly created: boolean },
): void {
  const before = job.remote!.member;
  const created = member.created || (before?.id === member.id && before.created);
  job.remote = { ...job.remote!, member: { ...member, created, campaignId } };
}
