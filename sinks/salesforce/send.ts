import { groupBy } from '../../base/grouping.js';
import { writeRecords } from '../records/write-records.js';
import { worstOf } from '../records/worst-result.js';
import type { Fields, Lane, Outcome, Result, SendResult } from '../sink.js';
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
import { deleteLinked, OpenCreations, writeLinked, resolveLookups } from './linked-records.js';
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
  const jobsOf = operations.map(({ steps }) => steps.map((step: Step): Job => new Job(step)));
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
    people.filter(({ isOpen, done }) => isOpen && done.length > 0),
    (due) => writeMembers(org, due, campaigns),
  );
  // Linked records are last, because each contains the id of its person.
  const linked = { isWaiting: (email: string | null) => email !== null && waiting.has(email), creations };
  for (const sameRecord of byRecord(jobsOfKind(jobs, 'linked'))) {
    await stage(sameRecord, (due) => writeLinked(org, due, linked));
  }
  const outcomes = operations.map((operation, index) => outcomeOf(operation, jobsOf[index]!));
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
    for (const job of due) job.result ??= error instanceof CallFailure ? error.result : ended(job);
  }
}

const stoppedEarly = 'sending stopped before all steps were done';

function ended({ done }: Job): Result {
  return done.length === 0 ? { kind: 'unsent' } : { kind: 'retry', detail: stoppedEarly };
}

function isWaiting(job: PersonJob): boolean {
  return !['delivered', 'rejected'].includes((job.result ?? settled(job)).kind);
}

function byRecord<J extends Job>(jobs: readonly J[]): J[][] {
  return [...groupBy(jobs, ({ step }) => step.record).values()];
}

function outcomeOf({ others }: SalesforceOperation, jobs: readonly Job[]): Outcome {
  const worst: Result = worstOf(jobs.map((job): Result => job.result ?? settled(job)));
  const wasStarted = jobs.some(({ done }) => done.length > 0);
  if (worst.kind === 'unsent' && !wasStarted) return worst;
  const isPostponed = worst.kind === 'unsent' && worst.afterMs !== undefined;
  const result: Result = worst.kind === 'unsent' && !isPostponed ? { kind: 'retry', detail: stoppedEarly } : worst;
  const object: Record<string, unknown> = { ...others };
  for (const { step, remote, mayExist } of jobs) {
    if (remote !== null) object[step.record] = remote;
    else if (mayExist === true) object[step.record] = { mayExist };
  }
  return { ...result, object: Object.keys(object).length > 0 ? (object as Fields) : null };
}

function settled({ done }: Job): Result {
  return done.length === 0 ? { kind: 'unsent' } : { kind: 'delivered', detail: done.join('; ') };
}
