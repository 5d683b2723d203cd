import { groupBy } from '../../base/grouping.js';
import { decideValues, type Value } from '../records/decide-values.js';
import type { Campaign, Campaigns } from './campaigns.js';
import { conform, conformValue, factsOf, type ObjectFacts, type Org } from './object-fields.js';
import { decideMemberStatus, type PresentMember } from './member-status.js';
import type { PersonJob } from './operation.js';
import { presentValues, type PresentRecord } from '../records/present-record.js';
import { queryAll, soqlText } from './query.js';
import { type FieldValues, settle, type Written, writeRecords } from './write-records.js';

interface MemberRow extends PresentMember, PresentRecord {
  readonly id: string;
}

/** The write of a person's campaign membership, for one or several items. */
interface Membership {
  readonly campaign: Campaign;
  readonly jobs: readonly PersonJob[];
  readonly present: MemberRow | null;
  /** The new status; null if the status stays. */
  readonly status: string | null;
  /** Values by field, without the status. */
  readonly fields: ReadonlyMap<string, Value>;
}

/**
 * Adds the people whose records were written to their campaigns, or updates their memberships. A membership is found by
 * campaign and person. Salesforce allows only one, so a repeat cannot create a second.
 * @throws {CallFailure} @throws {CallsEnded}
 */
export async function writeMembers(org: Org, jobs: readonly PersonJob[], campaigns: Campaigns): Promise<void> {
  for (const [campaign, members] of await byCampaign(jobs, campaigns)) {
    const facts = members.some(({ step }) => step.campaign!.memberWrites.length > 0)
      ? await factsOf(org, 'CampaignMember')
      : null;
    const due = members.filter(
      (job) =>
        (isDue(job, campaign) || job.step.campaign!.memberWrites.length > 0) && (facts === null || isFit(job, facts)),
    );
    if (due.length === 0) continue;
    const present = await presentMembers(org, { campaign, jobs: due, facts });
    const memberships = membershipsOf(campaign, due, present, facts);
    const fresh = memberships.filter((each) => each.present === null);
    const known = memberships.filter((each) => each.present !== null);
    for (const [how, some] of [['create', fresh] as const, ['update', known] as const]) {
      const written = await writeRecords(org, { how, type: 'CampaignMember' }, some.map(recordOf));
      some.forEach((membership, index) => settleMembers(membership, written[index]!));
    }
  }
}

async function byCampaign(jobs: readonly PersonJob[], campaigns: Campaigns): Promise<Map<Campaign, PersonJob[]>> {
  const groups = new Map<Campaign, PersonJob[]>();
  for (const job of jobs) {
    if (!job.isOpen || job.remote === null || job.step.campaign === null) continue;
    const campaign = await campaigns.get(job.step.campaign);
    if ('kind' in campaign) job.end(campaign);
    else groups.set(campaign, [...(groups.get(campaign) ?? []), job]);
  }
  return groups;
}

/**
 * Whether the membership's status must be set: not if this sink has already set it, because a user may have changed it
 * since.
 */
function isDue({ remote, step }: PersonJob, { id }: Campaign): boolean {
  const member = remote?.member;
  return member?.campaignId !== id || member.status !== step.campaign!.status[step.campaign!.stage];
}

/**
 * Whether all values fit the fields of the campaign member. If one does not, settles the job: the person was written
 * and stays.
 */
function isFit(job: PersonJob, facts: ObjectFacts): boolean {
  for (const write of job.step.campaign!.memberWrites) {
    const conformed = conform(facts, 'CampaignMember', write);
    if ('kind' in conformed) job.end(conformed);
  }
  return job.isOpen;
}

/** Reads the present memberships and returns them by the person's id. */
async function presentMembers(
  org: Org,
  { campaign: { id }, jobs, facts }: { campaign: Campaign; jobs: readonly PersonJob[]; facts: ObjectFacts | null },
): Promise<Map<string, MemberRow>> {
  const rows = new Map<string, MemberRow>();
  const own = jobs.flatMap(({ step }) => step.campaign!.memberWrites.map(({ name }) => name.toLowerCase()));
  const names = [...new Set(own)].flatMap((field) => facts?.fields.get(field)?.name ?? []);
  const columns = ['Id', 'Status', 'HasResponded', 'LastModifiedDate', ...names];
  for (const type of ['Contact', 'Lead'] as const) {
    const column = `${type}Id`;
    const people = jobs.flatMap(({ remote }) => (remote?.type === type ? [soqlText(remote.id)] : []));
    const soql = (list: string): string =>
      `SELECT ${[column, ...columns].join(', ')} FROM CampaignMember WHERE CampaignId = ${soqlText(id)} AND ${column} IN (${list})`;
    for (const row of await queryAll(org, people, soql)) {
      rows.set(String(row[column]), {
        id: String(row.Id),
        status: String(row.Status),
        hasResponded: row.HasResponded === true,
        values: new Map(Object.entries(row).map(([field, value]) => [field.toLowerCase(), value])),
        lastModifiedAtMs: Date.parse(String(row.LastModifiedDate)) || Number.POSITIVE_INFINITY,
      });
    }
  }
  return rows;
}

function membershipsOf(
  campaign: Campaign,
  jobs: readonly PersonJob[],
  present: ReadonlyMap<string, MemberRow>,
  facts: ObjectFacts | null,
): Membership[] {
  const byPerson = groupBy(jobs, ({ remote }) => remote!.id);
  return [...byPerson].flatMap(([personId, group]): Membership[] => {
    const row = present.get(personId) ?? null;
    const asked = row === null ? group : group.filter((job) => isDue(job, campaign));
    const decisive = asked.find(({ step }) => step.campaign!.stage === 'attended') ?? asked[0];
    const { stage, status } = (decisive ?? group[0]!).step.campaign!;
    const decided =
      decisive === undefined
        ? null
        : decideMemberStatus(row, stage, status, (label) => campaign.statuses.get(label) ?? false);
    const fields = memberFields(group, row, facts);
    if (decided !== null || fields.size > 0) return [{ campaign, jobs: group, present: row, status: decided, fields }];
    for (const job of asked) remember(job, campaign, { id: row!.id, status: row!.status, created: false }, []);
    return [];
  });
}

/**
 * Merges the values of several items. If two items set the same field, the later one wins. Values that the membership
 * already has are not written.
 */
function memberFields(
  jobs: readonly PersonJob[],
  row: MemberRow | null,
  facts: ObjectFacts | null,
): Map<string, Value> {
  const fields = new Map<string, Value>();
  if (facts === null) return fields;
  for (const { step, remote } of jobs) {
    const conformed = step.campaign!.memberWrites.map((write) => {
      const known = facts.fields.get(write.name.toLowerCase())!;
      return { ...write, name: known.name, value: conformValue(write.value, known)! };
    });
    const present = row && presentValues(row, { writtenAtMs: remote!.writtenAtMs, isOurs: false });
    for (const [field, value] of decideValues(conformed, present, step.happenedAtMs)) fields.set(field, value);
  }
  return fields;
}

function recordOf({ campaign, jobs, present, status, fields }: Membership): FieldValues {
  const given = { ...(status !== null && { Status: status }), ...Object.fromEntries(fields) };
  if (present !== null) return { id: present.id, ...given };
  const { type, id } = jobs[0]!.remote!;
  return { CampaignId: campaign.id, [`${type}Id`]: id, ...given };
}

function settleMembers(membership: Membership, written: Written): void {
  const { campaign, jobs, present, status, fields } = membership;
  for (const job of jobs) {
    if (written.kind === 'failed' && written.mayBeOpen === true) noteUnanswered(job, membership);
    if (written.kind === 'not-begun') {
      const detail = 'the record was written, but the time ended before its campaign member was written';
      job.end({ kind: 'retry', detail });
      continue;
    }
    // If the membership is a duplicate, another client created it. If it is lost, the campaign, the person or the
    // membership was deleted. The next attempt reads them again.
    const changed = { kind: 'retry', detail: 'the campaign member has changed in the meantime' } as const;
    settle(job, written, 'CampaignMember', {
      written({ id }) {
        const now = status ?? job.remote!.member?.status ?? present!.status;
        remember(job, campaign, { id, status: now, created: present === null }, [...fields.keys()]);
        job.done(`member ${id} ${status ?? 'updated'}`);
      },
      lost: () => job.end(changed),
      duplicate: () => job.end(changed),
    });
  }
}

/** Stores what Salesforce may have without having answered: a new membership, or values of the present one. */
function noteUnanswered(job: PersonJob, { campaign, present, fields }: Membership): void {
  const { remote } = job;
  if (present === null) job.remote = { ...remote!, joining: campaign.id };
  else {
    const status = remote!.member?.status ?? present.status;
    remember(job, campaign, { id: present.id, status, created: false }, [...fields.keys()]);
  }
}

function remember(
  job: PersonJob,
  { id: campaignId }: Campaign,
  member: { readonly id: string; readonly status: string; readonly created: boolean },
  fields: readonly string[],
): void {
  const { joining, ...remote } = job.remote!;
  const before = remote.member;
  const created = member.created || joining === campaignId || (before?.id === member.id && before.created);
  const own = new Set(job.step.campaign!.memberWrites.map(({ name }) => name.toLowerCase()));
  const ours = fields.filter((field) => own.has(field.toLowerCase()));
  const written = [...new Set([...(before?.id === member.id ? before.written : []), ...ours])];
  job.remote = { ...remote, member: { ...member, created, campaignId, written } };
}
