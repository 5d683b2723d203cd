import type { Fields } from '../sink.js';

/**
 * A job of Canvas that this lane has begun and whose end it has not seen: remembered before it is asked for, so that
 * after a crash what it did is told apart from what a teacher did. One for each assignment.
 */
export interface BegunJob {
  /** Canvas' id of it; null: its answer was never seen. */
  readonly progress: number | null;
  /** By the student's id in Canvas: when their submission was last graded before, as Canvas told it. */
  readonly users: Readonly<Record<string, string | null>>;
}

export function jobKey({ course, assignment }: { readonly course: string; readonly assignment: string }): string {
  return `job ${JSON.stringify([course, assignment])}`;
}

export function begunJob(memory: Fields, key: string): BegunJob | undefined {
  const found = memory[key];
  return typeof found === 'object' && found !== null ? (found as BegunJob) : undefined;
}

/** The same job without some of its students; null: nothing is left to remember. */
export function withoutUsers(job: BegunJob | undefined, settled: readonly number[]): BegunJob | null {
  if (job === undefined) return null;
  const gone = new Set(settled.map(String));
  const users = Object.entries(job.users).filter(([userId]) => !gone.has(userId));
  return users.length === 0 ? null : { progress: job.progress, users: Object.fromEntries(users) };
}
