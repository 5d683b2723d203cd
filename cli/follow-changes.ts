import { setTimeout as sleep } from 'node:timers/promises';
import type { LiveChanges } from '../api/live-changes.js';
import type { ApiClient } from './api-client.js';
import { CommandError, ExitCode } from './exit-code.js';

const againAfterMs = 2000;

interface Following {
  readonly query: Readonly<Record<string, string>>;
  /** Of the past, to begin with. */
  readonly recent: number;
  /** Told once for each time that nobody answers any more. */
  readonly onLost: () => void;
  readonly wait?: (ms: number) => Promise<unknown>;
}

/**
 * The changes as they are found, without an end. After a break they go on where they were, without a gap or a repetition.
 * @throws {CommandError} when the API refuses, and when nobody answers from the beginning
 */
export async function* followChanges(
  api: Pick<ApiClient, 'liveChanges'>,
  { query, recent, onLost, wait = sleep }: Following,
): AsyncGenerator<LiveChanges> {
  let after: string | undefined;
  let isLost = false;
  for (let isFirst = true; ; isFirst = false) {
    const position: Readonly<Record<string, string>> = after === undefined ? { recent: String(recent) } : { after };
    try {
      // oxlint-disable-next-line no-await-in-loop -- one connection after another
      const stream = await api.liveChanges({ ...query, ...position });
      isLost = false;
      for await (const event of eventsOf(stream)) {
        after = fieldOf(event, 'id') ?? after;
        if (fieldOf(event, 'event') === 'changes') yield JSON.parse(fieldOf(event, 'data')!) as LiveChanges;
      }
    } catch (error) {
      // A stream that breaks off throws what is no CommandError.
      if (error instanceof CommandError && (isFirst || error.exitCode !== ExitCode.Unreachable)) throw error;
    }
    if (!isLost) onLost();
    isLost = true;
    // oxlint-disable-next-line no-await-in-loop
    await wait(againAfterMs);
  }
}

/** Whole server-sent events, as their text comes: one may arrive in pieces, and several at once. */
async function* eventsOf(stream: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const text of stream) {
    const whole = (rest + text).split('\n\n');
    rest = whole.pop()!;
    yield* whole;
  }
}

/** The API writes each field of an event on one line. */
function fieldOf(event: string, name: string): string | undefined {
  const line = event.split('\n').find((each) => each.startsWith(`${name}: `));
  return line?.slice(name.length + 2);
}
