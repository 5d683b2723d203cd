import { useEffect, useState } from 'preact/hooks';
import { ask, Problem } from './ask.js';

export interface Asked<Answer> {
  /** The last answer, kept while the server does not answer; undefined before the first. */
  readonly data: Answer | undefined;
  /**
   * The API's refusal of the last request. Undefined if it answered or cannot be reached, which `ConnectionNote` shows.
   */
  readonly problem: Problem | undefined;
}

const again = new EventTarget();

/** Reloads all data on the page, after an action. */
export function askAgain(): void {
  again.dispatchEvent(new Event('again'));
}

/**
 * Requests a path, and repeats the request while the tab is visible. The next request starts `everyMs` after the
 * previous answer, so that requests to a slow server never pile up.
 * @param path null: no request is made
 */
export function useAsked<Answer>(path: string | null, everyMs = 3000): Asked<Answer> {
  return useAsking(path, (signal) => ask<Answer>(path!, { signal }), everyMs);
}

/**
 * Works like `useAsked`, for an answer that takes several requests.
 * @param key identity of the question; a new key discards the answer
 */
export function useAsking<Answer>(
  key: string | null,
  question: (signal: AbortSignal) => Promise<Answer>,
  everyMs = 3000,
): Asked<Answer> {
  const [found, setFound] = useState<{ key: string | null } & Asked<Answer>>({
    key,
    data: undefined,
    problem: undefined,
  });
  useEffect(() => {
    if (key === null) return undefined;
    let ended = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const cycle = async (): Promise<void> => {
      const { signal } = ended;
      try {
        const data = await question(signal);
        if (!signal.aborted) setFound({ key, data, problem: undefined });
      } catch (error) {
        if (signal.aborted) return;
        const problem = error instanceof Problem && isRefusal(error) ? error : undefined;
        setFound((before) => ({ key, data: before.key === key ? before.data : undefined, problem }));
      }
      if (!signal.aborted && !document.hidden) timer = setTimeout(begin, everyMs);
    };
    const begin = (): void => {
      clearTimeout(timer);
      ended.abort();
      ended = new AbortController();
      cycle().catch(() => undefined);
    };
    const onShown = (): void => {
      if (!document.hidden) begin();
    };
    begin();
    again.addEventListener('again', begin);
    document.addEventListener('visibilitychange', onShown);
    return () => {
      ended.abort();
      clearTimeout(timer);
      again.removeEventListener('again', begin);
      document.removeEventListener('visibilitychange', onShown);
    };
    // `question` is a new function on every render; the key identifies it.
  }, [key, everyMs]);
  return found.key === key ? found : { data: undefined, problem: undefined };
}

function isRefusal({ status }: Problem): boolean {
  return status !== 0 && status !== 401 && status < 500;
}
