import { GradingJobs, type JobOptions } from './grading-jobs.js';
import { LeakyBucket, type ThrottleOptions } from './leaky-bucket.js';
import { exampleSchool, School, type SchoolPlan } from './school.js';

export interface CanvasOptions extends JobOptions, ThrottleOptions {
  /** Tokens, and whether their user may grade, and create assignments (by default if they may grade); `canvas-token` may. */
  readonly tokens?: Readonly<Record<string, Rights>>;
  readonly school?: SchoolPlan;
  /** With what a missing permission is answered: 403 of today's Canvas, or the 401 of older ones. */
  readonly unauthorizedStatus?: 401 | 403;
  readonly now?: () => number;
}

export interface Rights {
  readonly manageGrades: boolean;
  readonly manageAssignments?: boolean;
}

/** One Canvas: a school, its grading jobs, its tokens and their buckets. */
export class CanvasInstance {
  readonly now: () => number;
  readonly school: School;
  readonly jobs: GradingJobs;
  readonly tokens: Map<string, Rights>;
  readonly unauthorizedStatus: 401 | 403;
  private readonly buckets = new Map<string, LeakyBucket>();

  constructor(private readonly options: CanvasOptions) {
    this.now = options.now ?? Date.now;
    this.school = new School(options.school ?? exampleSchool(), this.now);
    this.jobs = new GradingJobs(this.school, options, this.now);
    this.tokens = new Map(Object.entries(options.tokens ?? { 'canvas-token': { manageGrades: true } }));
    this.unauthorizedStatus = options.unauthorizedStatus ?? 403;
  }

  bucket(token: string): LeakyBucket {
    const bucket = this.buckets.get(token) ?? new LeakyBucket(this.options);
    this.buckets.set(token, bucket);
    return bucket;
  }
}
