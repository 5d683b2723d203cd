import type { Clock } from '../network/clock.js';
import type { Result } from '../sink.js';
import { type Asking, type CanvasClient } from './client.js';

export type JobState =
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
