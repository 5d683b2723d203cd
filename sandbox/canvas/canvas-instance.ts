import { GradingJobs, type JobOptions } from './grading-jobs.js';
import { exampleSchool, School, type SchoolPlan } from './school.js';

export interface CanvasOptions extends JobOptions, ThrottleOptions {
  /** Tokens with the rights of their user. Creating assignments is allowed by default if grading is. */
  readonly tokens?: Readonly<Record<string, Rights>>;
  readonly school?: SchoolPlan;
  /** Status for a missing permission: 403 as in current Canvas, or 401 as in older versions. */
  readonly unauthorizedStatus?: 401 | 403;
  readonly now?: () => number;
}

interface Rights {
  readonly manageGrades: boolean;
  readonly manageAssignments?: boolean;
  /** Reading submissions of other users; allowed by default. */
  readonly viewAllGrades?: boolean;
}

/** A Canvas instance: a school, its grading jobs, its tokens and their throttling buckets. */
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

interface ThrottleOptions {
  /** Units that a request adds to the bucket; 1 by default. Canvas measures processor and database seconds instead. */
  readonly requestCost?: number;
  /** Level above which requests are refused; 600 by default. */
  readonly highWaterMark?: number;
  /** Units that leave the bucket each second; 10 by default. */
  readonly outflowPerSecond?: number;
}

/** Units by which Canvas lets a bucket exceed its mark. */
const MAXIMUM_ABOVE_MARK = 200;

/**
 * Throttling bucket of a token. Each request adds its cost, and the bucket drains over time. Documented: "Throttling".
 */
class LeakyBucket {
  readonly requestCost: number;
  private readonly highWaterMark: number;
  private readonly outflowPerSecond: number;
  private level = 0;
  private touchedAtMs = 0;

  constructor(options: ThrottleOptions) {
    this.requestCost = options.requestCost ?? 1;
    this.highWaterMark = options.highWaterMark ?? 600;
    this.outflowPerSecond = options.outflowPerSecond ?? 10;
  }

  isFull(nowMs: number): boolean {
    this.leak(nowMs);
    return this.level >= this.highWaterMark;
  }

  add(cost: number, nowMs: number): void {
    this.leak(nowMs);
    this.level = Math.min(this.level + cost, this.highWaterMark + MAXIMUM_ABOVE_MARK);
  }

  remaining(nowMs: number): number {
    this.leak(nowMs);
    return this.highWaterMark - this.level;
  }

  private leak(nowMs: number): void {
    this.level = Math.max(0, this.level - ((nowMs - this.touchedAtMs) / 1000) * this.outflowPerSecond);
    this.touchedAtMs = nowMs;
  }
}
