import { type Parameters, text } from './read-parameters.js';
import type { Assignment, Course, School } from './school.js';

/** A Progress object with Canvas's field names. */
export interface Progress {
  readonly id: number;
  readonly courseId: number;
  readonly createdAtMs: number;
  updatedAtMs: number;
  workflowState: 'queued' | 'running' | 'completed' | 'failed';
  completion: number;
  message: string | null;
}

/** The failure of a job: it `fails` after a number of students, or is `stuck` and never finishes. */
type JobFault = { readonly kind: 'fails'; readonly afterStudents: number } | { readonly kind: 'stuck' };

interface Job {
  readonly progress: Progress;
  readonly work: { readonly assignment: Assignment; readonly grades: Parameters };
  readonly course: Course;
  fault: JobFault | undefined;
}

export interface JobOptions {
  /** Delay before a job runs; 0 by default. If `runningMs` is 0 as well, the first poll finds the job finished. */
  readonly queuedMs?: number;
  /** Duration of a run; 0 by default. */
  readonly runningMs?: number;
}

const GRADER_ID = 1;

/**
 * Jobs that grade many students. The clock moves a job from queued to running to completed or failed. A job writes its
 * grades at the end of its run: it grades every student that it finds, and fails with the references of the others.
 */
export class GradingJobs {
  private readonly jobs: Job[] = [];
  private readonly faults: JobFault[] = [];
  /** Ids of students at whom every job fails, for example because their grade is locked. */
  readonly failsAt = new Set<number>();
  /** Ids of students whom the token's user may read and not grade, so that a job does not find them. */
  readonly doesNotFind = new Set<number>();

  constructor(
    private readonly school: School,
    private readonly options: JobOptions,
    private readonly now: () => number,
  ) {}

  /** Applies one fault to each of the next jobs. */
  addFaults(...faults: readonly JobFault[]): void {
    this.faults.push(...faults);
  }

  releaseStuck(): void {
    for (const job of this.jobs) if (job.fault?.kind === 'stuck') job.fault = undefined;
  }

  start(course: Course, work: Job['work']): Progress {
    const nowMs = this.now();
    const progress: Progress = {
      id: 500 + this.jobs.length + 1,
      courseId: course.id,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
      workflowState: 'queued',
      completion: 0,
      message: null,
    };
    this.jobs.push({ progress, work, course, fault: this.faults.shift() });
    return progress;
  }

  find(id: string): Progress | undefined {
    return this.jobs.find(({ progress }) => String(progress.id) === id)?.progress;
  }

  all(): readonly Progress[] {
    return this.jobs.map(({ progress }) => progress);
  }

  /** Advances all jobs to the current time, in the order in which they were started. */
  advance(): void {
    for (const job of this.jobs) {
      const { progress } = job;
      if (progress.workflowState === 'completed' || progress.workflowState === 'failed') continue;
      const ageMs = this.now() - progress.createdAtMs;
      const runsAtMs = this.options.queuedMs ?? 0;
      if (ageMs < runsAtMs) continue;
      progress.workflowState = 'running';
      progress.completion = 50;
      progress.updatedAtMs = this.now();
      if (job.fault?.kind === 'stuck' || ageMs < runsAtMs + (this.options.runningMs ?? 0)) continue;
      this.finish(job);
    }
  }

  private finish({ progress, work, course, fault }: Job): void {
    const missing: string[] = [];
    let graded = 0;
    for (const [reference, given] of Object.entries(work.grades)) {
      if (fault?.kind === 'fails' && graded === fault.afterStudents) return this.end(progress, 'failed', null);
      const user = this.school.user(reference);
      if (user === undefined || !course.students.includes(user.id) || this.doesNotFind.has(user.id)) {
        missing.push(reference);
        continue;
      }
      if (this.failsAt.has(user.id)) return this.end(progress, 'failed', null);
      const posted =
        typeof given === 'object' && !Array.isArray(given) ? text(given as Parameters, 'posted_grade') : undefined;
      if (posted !== undefined) this.school.grade(work.assignment, user.id, posted, GRADER_ID);
      graded += 1;
    }
    if (fault?.kind === 'fails') return this.end(progress, 'failed', null);
    if (missing.length === 0) return this.end(progress, 'completed', null);
    const names = missing.map((each) => `'${each}'`).join(', ');
    this.end(progress, 'failed', `Couldn't find User(s) with API ids ${names}`);
  }

  private end(progress: Progress, state: 'completed' | 'failed', message: string | null): void {
    progress.workflowState = state;
    progress.completion = state === 'completed' ? 100 : progress.completion;
    progress.message = message;
    progress.updatedAtMs = this.now();
  }
}
