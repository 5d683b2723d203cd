import { useEffect, useState } from 'preact/hooks';
import { ask, Problem } from './ask.js';

export interface Asked<Answer> {
  /** The last answer, also while the server does not answer; undefined before the first. */
  readonly data: Answer | undefined;
  /** What the API refused the last time; undefined where it answered, or cannot be reached, which the page says once. */
  readonly problem: Problem | undefined;
}

const again = new EventTarget();

/** Reloads everything that is shown, after an action. */
export function askAgain(): void {
  again.dispatchEvent(new Event('again'));
}

/**
 * Asks, and goes on asking while the page is looked at. Each question waits for the answer before, so a slow server is
 * not asked more and more.
 * @param path null: nothing is asked
 */
export function useAsked<Answer>(path: string | null, everyMs = 3000): Asked<Answer> {
  return useAsking(path, (signal) => ask<Answer>(path!, { signal }), everyMs);
}

/** As `useAsked`, for an answer that takes several questions. @param key what is asked for; another one begins anew */
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
    const turn = async (): Promise<void> => {
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
      turn().catch(() => undefined);
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
    // The question is made anew with each look at the page; what it asks for is the key.
  }, [key, everyMs]);
  return found.key === key ? found : { data: undefined, problem: undefined };
}

function isRefusal({ status }: Problem): boolean {
  return status !== 0 && status !== 401 && status < 500;
}
