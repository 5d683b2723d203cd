import type { Clock } from '../network/rolling-limiter.js';
import type { Result, Fields } from '../sink.js';
import type { Asking, CanvasClient } from './client.js';

type JobState =
  | { readonly kind: 'running' }
  | { readonly kind: 'completed' }
  /** `names`: ids of students that it could not find. */
  | { readonly kind: 'failed'; readonly names: ReadonlySet<string> }
  /** Canvas did not say. */
  | { readonly kind: 'not-told'; readonly result: Result };

/** How long to wait before each look at a job; the last one goes on. Small ones take a second. */
const LOOK_AFTER_MS = [500, 1_000, 2_000, 4_000];

/** How a job of Canvas stands. Source: Canvas LMS, "Progress". */
export async function lookAtJob(client: CanvasClient, progress: number, asking: Asking): Promise<JobState> {
  const reply = await client.get(`/progress/${progress}`, asking);
  if (reply.kind === 'failed') return { kind: 'not-told', result: reply.result };
  // Canvas forgets jobs in the end; whether it was carried out shows in the submissions.
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

/** Looks until a job has ended, Canvas does not say, or the time is up. */
export async function followJob(
  client: CanvasClient,
  progress: number,
  asking: Asking,
  clock: Clock,
): Promise<JobState> {
  for (let look = 0; ; look += 1) {
    const waitMs = LOOK_AFTER_MS[Math.min(look, LOOK_AFTER_MS.length - 1)]!;
    if (asking.signal.aborted || asking.patienceMs() < waitMs) return { kind: 'running' };
    await wait(waitMs, asking.signal, clock);
    const state = await lookAtJob(client, progress, asking);
    if (state.kind !== 'running') return state;
  }
}

/** Ends early when stopped. */
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

/** Canvas names the students it could not find in its message, in quotation marks, by the ids that it was given. */
function idsNamed(message: unknown): Set<string> {
  const text = typeof message === 'string' ? message : '';
  return new Set([...text.matchAll(/'(\d{1,20})'/g)].map(([, id]) => id!));
}

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
