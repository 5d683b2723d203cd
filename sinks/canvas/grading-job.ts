import type { Clock } from '../network/rolling-limiter.js';
import type { Result, Fields } from '../sink.js';
import type { CanvasClient } from './client.js';
import type { CallBudget } from '../rest/rest-client.js';

type JobState =
  | { readonly kind: 'running' }
  | { readonly kind: 'completed' }
  /** `names` has the ids of the students that the job could not find. */
  | { readonly kind: 'failed'; readonly names: ReadonlySet<string> }
  | { readonly kind: 'no-answer'; readonly result: Result };

/** Waits between two reads of a job's state; the last wait repeats. Small jobs take about a second. */
const POLL_AFTER_MS = [500, 1_000, 2_000, 4_000];

/** Reads the state of a job. Source: Canvas LMS, "Progress". */
export async function readJob(client: CanvasClient, progress: number, budget: CallBudget): Promise<JobState> {
  const reply = await client.get(`/progress/${progress}`, budget);
  if (reply.kind === 'failed') return { kind: 'no-answer', result: reply.result };
  // Canvas deletes old jobs. The caller then sees from the submissions whether the job was carried out.
  if (reply.kind !== 'ok') return { kind: 'completed' };
  switch (reply.body['workflow_state']) {
    case 'completed':
      return { kind: 'completed' };
    case 'failed':
      return { kind: 'failed', names: idsNamed(reply.body['message']) };
    default:
      return { kind: 'running' };
  }
}

/** Polls the state of a job until the job has finished, Canvas does not answer, or the time is used up. */
export async function followJob(
  client: CanvasClient,
  progress: number,
  budget: CallBudget,
  clock: Clock,
): Promise<JobState> {
  for (let look = 0; ; look += 1) {
    const waitMs = POLL_AFTER_MS[Math.min(look, POLL_AFTER_MS.length - 1)]!;
    if (budget.signal.aborted || budget.remainingMs() < waitMs) return { kind: 'running' };
    await wait(waitMs, budget.signal, clock);
    const state = await readJob(client, progress, budget);
    if (state.kind !== 'running') return state;
  }
}

export async function wait(waitMs: number, signal: AbortSignal, clock: Clock): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(waitMs, end);
    signal.addEventListener('abort', end);
  });
}

/** Returns the ids of the students that Canvas did not find. Canvas writes them in quotation marks in its message. */
function idsNamed(message: unknown): Set<string> {
  const text = typeof message === 'string' ? message : '';
  return new Set([...text.matchAll(/'(\d{1,20})'/g)].map(([, id]) => id!));
}

/**
 * A job of this lane whose result is not known yet, one per assignment. It is committed to the lane's memory before the
 * request, so that after a crash the grades of the job can be distinguished from those of a teacher.
 */
export interface StartedJob {
  /** Canvas' id of the job; null before Canvas has returned it, and if its answer was lost. */
  readonly progress: number | null;
  /** For each student's id in Canvas, the time at which their submission was last graded before the job. */
  readonly users: Readonly<Record<string, string | null>>;
}

export function jobKey({ course, assignment }: { readonly course: string; readonly assignment: string }): string {
  return `job ${JSON.stringify([course, assignment])}`;
}

export function startedJob(memory: Fields, key: string): StartedJob | undefined {
  const found = memory[key];
  return typeof found === 'object' && found !== null ? (found as StartedJob) : undefined;
}

/** Returns the job without some of its students; null if none are left. */
export function withoutUsers(job: StartedJob | undefined, settled: readonly number[]): StartedJob | null {
  if (job === undefined) return null;
  const gone = new Set(settled.map(String));
  const users = Object.entries(job.users).filter(([userId]) => !gone.has(userId));
  return users.length === 0 ? null : { progress: job.progress, users: Object.fromEntries(users) };
}
