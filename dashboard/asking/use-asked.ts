import type { AnswerAt, AskedAt, PathOf } from '../../api/routes.js';
import { filledAddress } from '../../base/api-client.js';
import { useEffect, useState, useRef } from 'preact/hooks';
import { ask, get, Problem } from './ask.js';
import { onReturn, pauseAfter, sinceInputMs } from './attention.js';

export interface Asked<Answer> {
  /** The last answer, kept while the server does not answer; undefined before the first. */
  readonly data: Answer | undefined;
  /**
   * The API's refusal of the last request. Undefined if the API answered, or cannot be reached (`ConnectionNote` shows
   * that).
   */
  readonly problem: Problem | undefined;
}

const again = new EventTarget();

/** Reloads all data on the page, after an action. */
export function askAgain(): void {
  recent.clear();
  again.dispatchEvent(new Event('again'));
}

/**
 * Requests a path, and repeats the request while the tab is visible. The next request starts `everyMs` after the
 * previous answer, so that requests to a slow server never pile up.
 * @param path null: no request is made
 */
export function useAsked<Path extends PathOf<'get'>>(
  path: Path | null,
  asked: AskedAt<'get', Path>,
  everyMs = 3000,
): Asked<AnswerAt<'get', Path>> {
  const key = path === null ? null : filledAddress(path, asked);
  return useAsking(key, () => shared(key!, everyMs, () => get(path!, asked)), everyMs);
}

/** The latest requests by their addresses, so that parts of a page which ask for the same share an answer. */
const recent = new Map<string, { readonly at: number; readonly answer: Promise<unknown> }>();

/** Returns the answer that another part requested a moment ago, in less than half the interval; else requests it. */
async function shared<Answer>(key: string, everyMs: number, question: () => Promise<Answer>): Promise<Answer> {
  const now = performance.now();
  const freshMs = pauseAfter(everyMs, sinceInputMs()) / 2;
  const known = recent.get(key);
  if (known !== undefined && now - known.at < freshMs) return (await known.answer) as Answer;
  for (const [other, { at }] of recent) if (now - at > maxSharedMs) recent.delete(other);
  const answer = question();
  recent.set(key, { at: now, answer });
  try {
    return await answer;
  } catch (error) {
    recent.delete(key);
    throw error;
  }
}

/** Answers are not kept for longer, because some contain names. */
const maxSharedMs = 30_000;

/**
 * Works like `useAsked`, for an answer that needs several requests.
 * @param key identifies the question; a new key discards the answer
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
      if (!signal.aborted && !document.hidden) timer = setTimeout(begin, pauseAfter(everyMs, sinceInputMs()));
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
    const forgetReturn = onReturn(begin);
    return () => {
      forgetReturn();
      ended.abort();
      clearTimeout(timer);
      again.removeEventListener('again', begin);
      document.removeEventListener('visibilitychange', onShown);
    };
    // `question` is not a dependency, because it is a new function on every render. The key identifies it.
  }, [key, everyMs]);
  return found.key === key ? found : { data: undefined, problem: undefined };
}

function isRefusal({ status }: Problem): boolean {
  return status !== 0 && status !== 401 && status < 500;
}

interface Part<Item> {
  readonly items: readonly Item[];
  /** Null after the last page. */
  readonly next: string | null;
}

type ItemAt<Path> = AnswerAt<'get', Path> extends { readonly items: readonly (infer Item)[] } ? Item : never;

/** Maximum page size of the API. */
const maxPageSize = 500;
/** Maximum number of items shown; a search narrows the list. */
const maxItems = 4000;

/** Reads the first `wanted` items of a list, page by page. */
async function firstOf<Path extends PathOf<'get'>>(
  path: Path,
  asked: AskedAt<'get', Path>,
  { wanted, signal }: { readonly wanted: number; readonly signal: AbortSignal },
): Promise<Part<ItemAt<Path>>> {
  const items: ItemAt<Path>[] = [];
  const { query = {} } = asked as { readonly query?: object };
  let next: string | null = null;
  do {
    const page = { ...query, limit: Math.min(maxPageSize, wanted - items.length), after: next ?? undefined };
    const found: Part<ItemAt<Path>> = await ask(filledAddress(path, { ...asked, query: page }), { signal });
    items.push(...found.items);
    ({ next } = found);
  } while (next !== null && items.length < wanted);
  return { items, next };
}

/** Keeps a list current, up to `maxItems`. */
export function useAllParts<Path extends PathOf<'get'>>(
  path: Path,
  asked: AskedAt<'get', Path>,
  everyMs = 3000,
): Asked<readonly ItemAt<Path>[]> {
  const read = async (signal: AbortSignal) => (await firstOf(path, asked, { wanted: maxItems, signal })).items;
  return useAsking(filledAddress(path, asked), read, everyMs);
}

/**
 * Keeps the first items of a list current; `showMore` extends it. The shorter list stays visible while the longer one
 * loads.
 * @param step number of items at first, and number added each time
 */
export function useParts<Path extends PathOf<'get'>>(
  path: Path,
  asked: AskedAt<'get', Path>,
  step: number,
): { asked: Asked<Part<ItemAt<Path>>>; showMore: () => void } {
  const [wanted, setWanted] = useState(step);
  const list = filledAddress(path, asked);
  const found = useAsking(`${list} ${wanted}`, (signal) => firstOf(path, asked, { wanted, signal }));
  const last = useRef<Part<ItemAt<Path>> | undefined>(undefined);
  last.current = found.data ?? last.current;
  return { asked: { ...found, data: last.current }, showMore: () => setWanted(wanted + step) };
}
