import type { Result } from '../sink.js';
import type { CallFailure } from './call-failure.js';
import type { ForgetStep, LeaveStep, LinkedStep, PersonStep, Step, UnlinkStep } from './operation.js';

/** A step while it is carried out. */
export interface Job<S extends Step = Step> {
  readonly step: S;
  /** What stands at Salesforce by now; null: nothing, as far as is known. */
  remote: NonNullable<S['known']> | null;
  /** What became of it; undefined: not settled yet. */
  result: Result | undefined;
  /** For a person who reads what was done. */
  readonly done: string[];
}

export type PersonJob = Job<PersonStep>;

export function jobOf<S extends Step>(step: S): Job<S> {
  return { step, remote: step.known as NonNullable<S['known']> | null, result: undefined, done: [] };
}

export function isOpen(job: Job): boolean {
  return job.result === undefined;
}

export function fail(jobs: readonly Job[], failure: CallFailure): void {
  for (const job of jobs) job.result ??= failure.result;
}

export function isPersonJob(job: Job): job is PersonJob {
  return job.step.kind === 'person';
}

export function isLeaveJob(job: Job): job is Job<LeaveStep> {
  return job.step.kind === 'leave';
}

export function isForgetJob(job: Job): job is Job<ForgetStep> {
  return job.step.kind === 'forget';
}

export function isLinkedJob(job: Job): job is Job<LinkedStep> {
  return job.step.kind === 'linked';
}

export function isUnlinkJob(job: Job): job is Job<UnlinkStep> {
  return job.step.kind === 'unlink';
}
