import { groupBy } from '../../base/grouping.js';
import { RecordTask } from '../records/record-task.js';
import { writeRecords } from '../records/write-records.js';
import type { Lane, Outcome, Result, SendResult } from '../sink.js';
import {
  CallFailure,
  CallsEnded,
  Job,
  jobsOfKind,
  type PersonJob,
  type SalesforceOperation,
  type Step,
} from './operation.js';
import type { Exclusive } from '../records/exclusive.js';
import { Campaigns, leaveCampaigns } from './campaigns.js';
import { forgetPeople } from './forget-people.js';
import { deleteLinked, writeLinked } from './linked-records.js';
import { OpenCreations } from './open-creations.js';
import { resolveLookups } from './lookups.js';
import type { Org } from './object-fields.js';
import { writeMembers } from './write-members.js';
import { People, PersonSearch } from './write-people.js';

/**
 * Carries out a batch in stages: removals, people by their entry of `records`, memberships, and records that belong to
 * people. Safe to repeat: records are searched before they are written, and created by an upsert on an external id.
 */
export async function deliverBatch(
  org: Org,
  operations: readonly SalesforceOperation[],
  lane: Pick<Lane, 'memory' | 'remember'>,
  { newPeople, now }: { readonly newPeople: Exclusive; readonly now: () => number },
): Promise<SendResult> {
  const options = { accepted: 'Salesforce accepted it', failureEnds: 'entry' } as const;
  const tasks = operations.map((operation) => new RecordTask(operation, options));
  const jobsOf = tasks.map((task) => task.operation.steps.map((step) => new Job(task, step)));
  const jobs = jobsOf.flat();
  const campaigns = new Campaigns(org, lane);
  const creations = new OpenCreations(lane, now);
  const people = jobsOfKind(jobs, 'person');
  await stage(jobsOfKind(jobs, 'forget'), (due) => forgetPeople(org, due));
  await stage(jobsOfKind(jobs, 'unlink'), (due) => deleteLinked(org, due));
  await stage(jobsOfKind(jobs, 'leave'), (due) => leaveCampaigns(org, due));
  const waiting = new Set<string>();
  for (const sameRecord of byRecord(people)) {
    const records = new People(org, waiting, async (work) => {
      if (!(await newPeople.run(org.budget.signal, work))) throw new CallsEnded();
    });
    await stage(sameRecord, async (due) => {
      await resolveLookups(org, due[0]!.step.objectType, due);
      await writeRecords(
        due.map((job) => new PersonSearch(job)),
        records,
      );
    });
    for (const job of sameRecord) if (isWaiting(job) && job.step.email !== null) waiting.add(job.step.email);
  }
  await stage(
    people.filter(({ isOpen, isDone }) => isOpen && isDone),
    (due) => writeMembers(org, due, campaigns),
  );
  // Linked records are last, because each contains the id of its person.
  const linked = { isWaiting: (email: string | null) => email !== null && waiting.has(email), creations };
  for (const sameRecord of byRecord(jobsOfKind(jobs, 'linked'))) {
    await stage(sameRecord, (due) => writeLinked(org, due, linked));
  }
  const outcomes = tasks.map((task, index) => outcomeOf(task, jobsOf[index]!));
  const memory = { ...campaigns.learnt, ...creations.learnt };
  return Object.keys(memory).length > 0 ? { outcomes, memory } : { outcomes };
}

/**
 * Runs a stage. A failure of the whole stage is the result of all its open jobs; jobs that did not start stay open.
 */
async function stage<J extends Job>(jobs: readonly J[], carryOut: (due: readonly J[]) => Promise<void>): Promise<void> {
  const due = jobs.filter(({ isOpen }) => isOpen);
  if (due.length === 0) return;
  try {
    await carryOut(due);
  } catch (error) {
    if (!(error instanceof CallFailure || error instanceof CallsEnded)) throw error;
    for (const job of due) job.end(error instanceof CallFailure ? error.result : ended(job));
  }
}

const stoppedEarly: Result = { kind: 'retry', detail: 'sending stopped before all steps were done' };

function ended({ isDone }: Job): Result {
  return isDone ? stoppedEarly : { kind: 'unsent' };
}

function isWaiting({ task, step, isDone }: PersonJob): boolean {
  const result = task.resultOf(step.record);
  return result === undefined ? !isDone : !['delivered', 'rejected'].includes(result.kind);
}

function byRecord<J extends Job>(jobs: readonly J[]): J[][] {
  return [...groupBy(jobs, ({ step }) => step.record).values()];
}

function outcomeOf(task: RecordTask<Step>, jobs: readonly Job[]): Outcome {
  for (const job of jobs) if (job.isOpen && !job.isDone) job.end({ kind: 'unsent' });
  const { object = task.operation.object, ...outcome } = task.outcome();
  const wasStarted = jobs.some(({ isDone }) => isDone);
  if (outcome.kind !== 'unsent') return { ...outcome, object };
  if (!wasStarted) return outcome;
  return { ...(outcome.afterMs === undefined ? stoppedEarly : outcome), object };
}
