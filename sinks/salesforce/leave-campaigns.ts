import { classifyRecordErrors } from './classify.js';
import type { CallBudget } from '../rest/call-budget.js';
import type { Job, LeaveStep } from './operation.js';
import type { Org } from './object-fields.js';
import { query, queriesFor, soqlText } from './query.js';
import { writeRecords } from './write-records.js';

/**
 * Gives the memberships of items that are gone the status for that. One that is no more, or has a status that someone
 * else gave, is left as it is.
 * @throws {CallFailure} @throws {CallsEnded}
 */
export async function leaveCampaigns(org: Org, jobs: readonly Job<LeaveStep>[], budget: CallBudget): Promise<void> {
  const present = new Map<string, string>();
  const ids = jobs.flatMap(({ step }) => (step.known.member === null ? [] : [soqlText(step.known.member.id)]));
  for (const each of queriesFor(ids, (list) => `SELECT Id, Status FROM CampaignMember WHERE Id IN (${list})`)) {
    for (const { Id, Status } of await query(org.client, each, budget)) present.set(String(Id), String(Status));
  }
  const due = new Map<string, Job<LeaveStep>[]>();
  for (const job of jobs) {
    const { member } = job.step.known;
    const status = member === null ? undefined : present.get(member.id);
    if (member === null || status === undefined || !job.step.ours.includes(status)) {
      job.done.push(status === undefined ? 'no membership any more' : 'membership left as it is');
      continue;
    }
    const { status: label } = job.step;
    const statuses = await org.statuses.of(member.campaignId, new Map([[label, false]]), budget);
    if (statuses.has(label)) due.set(member.id, [...(due.get(member.id) ?? []), job]);
    else {
      const detail = `campaign ${member.campaignId} lacks the status of "campaign.status.removed", and the user may not add it: add it there`;
      job.result = { kind: 'rejected', cause: 'salesforce:campaign-status-missing', detail };
    }
  }
  const groups = [...due.values()];
  const records = [...due].map(([id, [job]]) => ({ id, Status: job!.step.status }));
  const written = await writeRecords(org.client, { how: 'update', type: 'CampaignMember' }, records, budget);
  groups.forEach((group, index) => {
    for (const job of group) settle(job, written[index]!);
  });
}

function settle(job: Job<LeaveStep>, written: Awaited<ReturnType<typeof writeRecords>>[number]): void {
  const { known, status } = job.step;
  switch (written.kind) {
    case 'written':
      job.remote = { ...known, member: { ...known.member!, status } };
      job.done.push(`member ${written.id} ${status}`);
      return;
    case 'failed':
      job.result = written.result;
      return;
    case 'refused': {
      const failure = classifyRecordErrors(written.errors, 'CampaignMember', written.requestId);
      if ('result' in failure) job.result = failure.result;
      else job.done.push('no membership any more');
      return;
    }
    case 'not-begun':
      job.result = { kind: 'unsent' };
  }
}
