import { groupBy } from '../../base/grouping.js';
import { worstOf } from '../records/worst-result.js';
import type { Fields, Lane, Outcome, Result, SendResult } from '../sink.js';
import {
  CallFailure,
  CallsEnded,
  isOpen,
  type Job,
  jobOf,
  jobsOfKind,
  type PersonJob,
  type SalesforceOperation,
  type Step,
} from './operation.js';
import { Campaigns, leaveCampaigns } from './campaigns.js';
import { needsPresent } from './decide-fields.js';
import { findByIds, findPeople, type Found, groupPeople } from './find-people.js';
import { forgetPeople } from './forget-people.js';
import { deleteLinked, OpenCreations, writeLinked, resolveLookups } from './linked-records.js';
import type { Org } from './object-fields.js';
import { writeMembers } from './write-members.js';
import { writePeople } from './write-people.js';

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
  const jobsOf = operations.map(({ steps }) => steps.map((step: Step): Job => jobOf(step)));
  const jobs = jobsOf.flat();
  const campaigns = new Campaigns(org, lane);
  const creations = new OpenCreations(lane, now);
  const people = jobsOfKind(jobs, 'person');
  await stage(jobsOfKind(jobs, 'forget'), (due) => forgetPeople(org, due));
  await stage(jobsOfKind(jobs, 'unlink'), (due) => deleteLinked(org, due));
  await stage(jobsOfKind(jobs, 'leave'), (due) => leaveCampaigns(org, due));
  const waiting = new Set<string>();
  for (const sameRecord of byRecord(people)) {
    await stage(sameRecord, (due) => deliverPeople(org, due, { newPeople, waiting }));
    for (const job of sameRecord) if (isWaiting(job) && job.step.email !== null) waiting.add(job.step.email);
  }
  await stage(
    people.filter((job) => isOpen(job) && job.done.length > 0),
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
  const due = jobs.filter(isOpen);
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

interface Circumstances {
  readonly newPeople: Exclusive;
  /**
   * E-mail addresses of people whose record for an earlier entry of `records` is not written yet. A retry may create
   * it.
   */
  readonly waiting: ReadonlySet<string>;
}

function isWaiting(job: PersonJob): boolean {
  return !['delivered', 'rejected'].includes((job.result ?? settled(job)).kind);
}

async function deliverPeople(
  org: Org,
  jobs: readonly PersonJob[],
  { newPeople, waiting }: Circumstances,
): Promise<void> {
  await resolveLookups(org, jobs[0]!.step.objectType, jobs);
  const known = jobs.filter((job) => isOpen(job) && job.remote !== null);
  const lost = await updateKnown(org, known);
  for (const job of lost) job.remote = null;
  const unknown = jobs.filter((job) => isOpen(job) && job.remote === null);
  if (unknown.length === 0) return;
  // One lane at a time: two lanes that search for the same new person together would find nobody and create two records.
  await newPeople.run(org.budget.signal, async () => {
    const found = await findPeople(org, unknown);
    for (const job of unknown) settleUnfound(job, found.get(job)!, waiting);
    const open = unknown.filter(isOpen);
    for (const job of await writePeople(org, groupPeople(open, found))) {
      job.result = { kind: 'retry', detail: 'the record that was found has been deleted or converted in the meantime' };
    }
  });
}

/** @returns the jobs to search again, because their record no longer exists and has no contact of a converted lead */
async function updateKnown(org: Org, jobs: readonly PersonJob[]): Promise<PersonJob[]> {
  const lost: PersonJob[] = [];
  const found = new Map<PersonJob, Found>();
  for (const type of ['Lead', 'Contact'] as const) {
    const toRead = jobs.filter(
      ({ remote, step }) => remote!.type === type && (step.isOneWord || step.writes.some(needsPresent)),
    );
    if (toRead.length === 0) continue;
    const rows = await findByIds(org, { type, jobs: toRead, ids: toRead.map(({ remote }) => remote!.id) });
    for (const job of toRead) {
      const row = rows.get(job.remote!.id);
      if (row === undefined || row.isConverted) lost.push(job);
      else found.set(job, { kind: 'record', row });
    }
  }
  const remaining = jobs.filter((job) => !lost.includes(job));
  lost.push(...(await writePeople(org, groupPeople(remaining, found))));
  return await followConverted(org, lost);
}

/**
 * Continues with the contacts of converted leads.
 * @returns the jobs to search again
 */
async function followConverted(org: Org, lost: readonly PersonJob[]): Promise<PersonJob[]> {
  const leads = lost.filter(({ remote }) => remote?.type === 'Lead');
  if (leads.length === 0) return [...lost];
  const rows = await findByIds(org, { type: 'Lead', jobs: leads, ids: leads.map(({ remote }) => remote!.id) });
  const contactIds = [...rows.values()].flatMap(({ contactId }) => (contactId === null ? [] : [contactId]));
  const contacts = await findByIds(org, { type: 'Contact', jobs: leads, ids: contactIds });
  const found = new Map<PersonJob, Found>();
  for (const job of leads) {
    const contact = contacts.get(rows.get(job.remote!.id)?.contactId ?? '');
    if (contact === undefined) continue;
    found.set(job, { kind: 'record', row: contact });
    // Salesforce moved the lead's membership to the contact.
    job.remote = { ...job.remote!, type: 'Contact', id: contact.id };
  }
  const lostAgain = await writePeople(org, groupPeople([...found.keys()], found));
  return lost.filter((job) => !found.has(job) || lostAgain.includes(job));
}

function settleUnfound(job: PersonJob, found: Found, waiting: ReadonlySet<string>): void {
  if (found.kind === 'ambiguous') {
    const shown = found.ids.slice(0, 3).join(', ');
    job.result = {
      kind: 'rejected',
      cause: `salesforce:ambiguous-match:${found.by}`,
      about: 'record',
      detail: `${found.ids.length} records match by ${found.by} (${shown}${found.ids.length > 3 ? ', …' : ''}): merge them, or choose one with "onSeveral", then redrive`,
    };
  } else if (found.kind === 'none' && !job.step.create) {
    job.result = waiting.has(job.step.email ?? '')
      ? { kind: 'retry', detail: 'waits for the record of the same person, which could not be written yet' }
      : { kind: 'delivered', detail: 'nobody was found, and "create" is false' };
  }
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

/** Runs tasks one at a time, in the order of the calls. */
export class Exclusive {
  #last: Promise<unknown> = Promise.resolve();

  /** @throws {CallsEnded} if the signal is aborted before `work` starts; rethrows errors of `work` */
  async run<Value>(signal: AbortSignal, work: () => Promise<Value>): Promise<Value> {
    const turn = this.#last.then(async () => {
      if (signal.aborted) throw new CallsEnded();
      return await work();
    });
    this.#last = turn.catch(() => undefined);
    return await turn;
  }
}
