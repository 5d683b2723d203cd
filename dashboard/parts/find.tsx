import { useEffect, useRef, useState } from 'preact/hooks';
import type { FoundView, HitView } from '../../api/find.js';
import { counted } from '../../base/words.js';
import { post, refusalOf } from '../asking/ask.js';
import { Store, useMay, useStore } from '../asking/page-state.js';
import { address } from '../route.js';
import { useModal } from './dialogs.js';

const isOpen = new Store(false);

/** Opens the search from every page with Ctrl+K, or ⌘K on a Mac. */
export function useFindKey(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || event.altKey || event.shiftKey || event.ctrlKey === event.metaKey) return;
      event.preventDefault(); // the browser's own search
      isOpen.set(!isOpen.value);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

const isMac = /^Mac|^iP/.test(navigator.platform);

export function FindButton() {
  return (
    <button type="button" class="find-button" aria-keyshortcuts="Control+K Meta+K" onClick={() => isOpen.set(true)}>
      Search <kbd>{isMac ? '⌘K' : 'Ctrl K'}</kbd>
    </button>
  );
}

/** Time without a key press after which a search starts. */
const pauseMs = 200;

interface Search {
  readonly text: string;
  readonly personal: boolean;
  readonly found: FoundView | null;
  readonly problem: string | null;
}

/**
 * Finds anything by a text. What needs no personal data appears while the operator types. People and what they wrote are
 * searched only on request, because the audit log records it.
 */
export function FindDialog() {
  const open = useStore(isOpen);
  const dialog = useModal(open);
  const [text, setText] = useState('');
  useEffect(() => setText(''), [open]);
  return (
    <dialog
      ref={dialog}
      class="find"
      aria-label="Search"
      onClose={() => isOpen.set(false)}
      onClick={(event) => {
        if (event.target === dialog.current) isOpen.set(false);
      }}
    >
      {open ? <Finder text={text} onText={setText} /> : null}
    </dialog>
  );
}

function Finder({ text, onText }: { readonly text: string; readonly onText: (text: string) => void }) {
  const maySeePeople = useMay('personal');
  const [personal, setPersonal] = useState(false);
  const search = useSearch(text.trim(), personal);
  const [chosen, setChosen] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const hits = search.found?.hits ?? [];
  const offersPeople = maySeePeople && !personal && text.trim() !== '';
  const options = hits.length + (offersPeople ? 1 : 0);
  useEffect(() => list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' }), [chosen]);
  const write = (value: string): void => {
    setPersonal(false);
    setChosen(0);
    onText(value);
  };
  const searchPeople = (): void => {
    setPersonal(true);
    setChosen(0);
  };
  const choose = (at: number): void => {
    const hit = hits[at];
    if (hit === undefined) {
      if (offersPeople) searchPeople();
      return;
    }
    isOpen.set(false);
    location.hash = addressOf(hit, maySeePeople);
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && options > 0) setChosen((chosen + step + options) % options);
    else if (event.key === 'Enter') choose(chosen);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        type="search"
        role="combobox"
        list={undefined}
        aria-label="Search events, sessions, sinks, imports, people and questions"
        aria-expanded={options > 0}
        aria-controls="find-hits"
        aria-activedescendant={options > 0 ? `find-hit-${chosen}` : undefined}
        autocomplete="off"
        spellcheck={false}
        maxLength={400}
        placeholder={
          maySeePeople
            ? 'A name, an e-mail address, a question, an event, a sink, …'
            : 'An event, a session, a sink, an import, an id, …'
        }
        value={text}
        onInput={(event) => write(event.currentTarget.value)}
        onKeyDown={onKey}
      />
      <ul id="find-hits" role="listbox" aria-label="Hits" ref={list}>
        {hits.map((hit, at) => (
          <li
            key={`${hit.kind} ${hit.name ?? ''} ${JSON.stringify(hit.item)}`}
            id={`find-hit-${at}`}
            role="option"
            aria-selected={at === chosen}
            onPointerMove={() => setChosen(at)}
            onClick={() => choose(at)}
          >
            <span class="title">{hit.title}</span>
            <small>{hit.about}</small>
          </li>
        ))}
        {offersPeople ? (
          <li
            id={`find-hit-${hits.length}`}
            role="option"
            aria-selected={chosen === hits.length}
            onPointerMove={() => setChosen(hits.length)}
            onClick={searchPeople}
          >
            <span class="title">Search people and questions for “{text.trim()}”</span>
            <small>Names, e-mail addresses, codes and texts. Recorded in the audit log.</small>
          </li>
        ) : null}
      </ul>
      <p class="hint" role="status">
        {statusOf(search, { text: text.trim(), maySeePeople })}
      </p>
    </>
  );
}

/** Keeps the answer to a text. The previous answer stays until the next one arrives, so that the list does not jump. */
function useSearch(text: string, personal: boolean): Search {
  const [search, setSearch] = useState<Search>({ text: '', personal: false, found: null, problem: null });
  useEffect(() => {
    if (text === '') {
      setSearch({ text, personal, found: null, problem: null });
      return undefined;
    }
    const ended = new AbortController();
    const start = async (): Promise<void> => {
      try {
        const asked = { text, limit: 20, ...(personal ? { personal } : {}) } as const;
        const found = await post('/api/find', { json: asked }, { signal: ended.signal });
        if (!ended.signal.aborted) setSearch({ text, personal, found, problem: null });
      } catch (error) {
        if (ended.signal.aborted) return;
        setSearch({ text, personal, found: null, problem: refusalOf(error, 'pigeonpost cannot be reached') });
      }
    };
    const timer = setTimeout(() => void start(), personal ? 0 : pauseMs);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
  }, [text, personal]);
  return search;
}

function statusOf(
  { text: asked, found, problem }: Search,
  { text, maySeePeople }: { readonly text: string; readonly maySeePeople: boolean },
): string {
  if (text === '') return 'The beginnings of words are enough. ↑ and ↓ choose, Enter opens, Esc closes.';
  if (problem !== null) return problem;
  if (found === null || asked !== text) return 'Searching …';
  const { hits, more, unread } = found;
  const count =
    hits.length === 0
      ? 'Nothing found'
      : `${counted(hits.length, 'hit')}${more ? '; a longer text finds the others' : ''}`;
  const missing = unread === 0 ? '' : ` ${counted(unread, 'stored change')} cannot be found yet.`;
  const hidden = maySeePeople ? '' : ' Your token does not search people and what they wrote.';
  return `${count}.${missing}${hidden}`;
}

/** Returns the page of a hit. Pure. @param maySeePeople whether an attendee has a page of their own for the caller */
export function addressOf(
  { kind, name, item }: Pick<HitView, 'kind' | 'name' | 'item'>,
  maySeePeople: boolean,
): string {
  if (maySeePeople && item?.list === 'attendees') return address.person(item.workspace, item.pigeonholeId, item.key);
  if (item !== null && item.list === 'pigeonholes') return address.pigeonhole(item.workspace, item.key);
  if (item !== null) return address.item(item.list, item.key, `${item.workspace}/${item.pigeonholeId}`);
  switch (kind) {
    case 'sink':
      return address.sink(name!);
    case 'import':
      return address.import(name!);
    default:
      return address.workspace(name!);
  }
}
