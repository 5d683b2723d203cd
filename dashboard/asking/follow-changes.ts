import type { LiveChanges } from '../../api/live-changes.js';
import { askFor, Problem } from './ask.js';
import { serverEvents } from '../../base/server-events.js';

interface Following {
  /** Query of the address, such as `list=questions`. */
  readonly query: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly onChanges: (changes: LiveChanges) => void;
  /** Called when the state changes. @param problem the API's sentence if it refuses the request; null otherwise */
  readonly onState: (state: 'following' | 'lost', problem: string | null) => void;
}

const atFirst = 50;
const minWaitMs = 2000;
const maxWaitMs = 20_000;

/**
 * Follows the changes until the signal aborts. If the connection is lost, continues after the last event, so that no
 * change is missing or repeated.
 */
export async function followChanges({ query, signal, onChanges, onState }: Following): Promise<void> {
  let after: string | null = null;
  let waitMs = minWaitMs;
  while (!signal.aborted) {
    const asked = new URLSearchParams({ ...query, ...(after === null ? { recent: String(atFirst) } : { after }) });
    try {
      const answer = await askFor(`/api/changes/live?${asked.toString()}`, { signal });
      onState('following', null);
      waitMs = minWaitMs;
      for await (const event of serverEvents(answer.body!)) {
        if (event.id !== null) after = event.id;
        if (event.event === 'changes') onChanges(JSON.parse(event.data) as LiveChanges);
      }
      onState('lost', null);
    } catch (error) {
      if (signal.aborted) return;
      onState('lost', error instanceof Problem && error.status !== 0 ? error.message : null);
    }
    await wait(waitMs, signal);
    waitMs = Math.min(maxWaitMs, waitMs * 2);
  }
}

async function wait(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
