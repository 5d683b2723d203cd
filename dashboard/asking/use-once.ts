import { useEffect, useState } from 'preact/hooks';
import { Problem } from './ask.js';
import type { Asked } from './use-asked.js';

/**
 * Asks a question once, not again and again like `useAsking`, because each answer is recorded in the audit log.
 * @param key identifies the question; a new key asks again, null asks nothing
 */
export function useOnce<Answer>(key: string | null, question: () => Promise<Answer>): Asked<Answer> {
  const [found, setFound] = useState<{ key: string | null } & Asked<Answer>>({
    key: null,
    data: undefined,
    problem: undefined,
  });
  useEffect(() => {
    if (key === null) return undefined;
    let isOver = false;
    const ask = async (): Promise<void> => {
      try {
        const data = await question();
        if (!isOver) setFound({ key, data, problem: undefined });
      } catch (error) {
        const problem = error instanceof Problem ? error : new Problem(0, 'pigeonpost cannot be reached', null);
        if (!isOver) setFound({ key, data: undefined, problem });
      }
    };
    ask().catch(() => undefined);
    return () => {
      isOver = true;
    };
    // `question` is not a dependency, because it is a new function on every render. The key identifies it.
  }, [key]);
  return found.key === key ? found : { data: undefined, problem: undefined };
}
