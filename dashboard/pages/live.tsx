import { useEffect, useRef, useState } from 'preact/hooks';
import type { LiveChanges, LiveDeliveries } from '../../api/live-changes.js';
import { serverEvents } from '../../base/api-client.js';
import { changeWords } from '../../base/change-words.js';
import { type LiveLine, sinksOf, type SinkNews, withChanges, withDeliveries } from '../../base/live-lines.js';
import { counted } from '../../base/words.js';
import { authorOf } from '../author.js';
import { askFor, Problem } from '../asking/ask.js';
import { CommittedInput, PersonalCheck, ListChoice, Button } from '../parts/controls.js';
import { PageHead, Refusal } from '../parts/panel.js';
import { StateWord } from '../parts/states.js';
import { Clock } from '../parts/time.js';
import { address } from '../route.js';
import { capitalized, type Tone, type ToneAndWord } from '../words.js';

/** Maximum number of lines. A person does not read more, and the browser can draw them in one frame. */
const maxKept = 300;

type Change = LiveChanges['changes'][number];
type Line = LiveLine<Change>;

interface Filters {
  /** Null: all. */
  readonly list: string | null;
  /** `<workspace>/<id>`; null: all. */
  readonly pigeonhole: string | null;
}

/** Changes as they are found, as people tell them, and beside each what the sinks have of it. The address has the filters. */
export function Live({ list, pigeonhole }: Filters) {
  const [personal, setPersonal] = useState(false);
  const [held, setHeld] = useState(false);
  const filters = { list: list ?? '', place: pigeonhole ?? '' };
  const { lines, skipped, state, problem } = useLines({ ...filters, personal }, held);
  const go = (to: Filters): void => location.replace(address.live(to));
  return (
    <>
      <PageHead kind="Live" title="As it happens" note={[<StateWord of={following(state, held)} />]}>
        <Button pressed={held} onPress={() => setHeld(!held)}>
          {held ? 'Continue' : 'Hold'}
        </Button>
      </PageHead>
      <section class="panel" aria-label="Changes">
        <form class="filters top-padded" onSubmit={(event) => event.preventDefault()}>
          <ListChoice value={filters.list} onChoose={(chosen) => go({ list: chosen || null, pigeonhole })} />
          <CommittedInput
            label="Pigeonhole"
            hint="Pigeonhole: acme/101"
            finds
            value={filters.place}
            onCommit={(place) => go({ list, pigeonhole: place || null })}
          />
          <PersonalCheck checked={personal} onCheck={setPersonal} />
        </form>
        {problem === null ? null : <Refusal text={problem} />}
        {skipped > 0 ? (
          <p class="dim">Skipped {counted(skipped, 'change')}: too many arrived at the same time.</p>
        ) : null}
        {lines.length === 0 ? (
          <p class="empty">
            {state === 'lost'
              ? 'The latest changes appear here once the page is connected.'
              : 'Nothing yet. What the audience does appears here as soon as pigeonpost finds it.'}
          </p>
        ) : (
          <ol class="live">
            {lines.map((line) => (
              <LineView key={line.names[0]} line={line} />
            ))}
          </ol>
        )}
      </section>
    </>
  );
}

function LineView({ line }: { readonly line: Line }) {
  const { change } = line;
  const { workspace, pigeonholeId, list, key, name, revision, foundAt } = change;
  const { who, did, where, says } = changeWords(change);
  const author = name.person === null ? null : authorOf(change.data);
  const to = address.item(list, key, `${workspace}/${pigeonholeId}`);
  const sentence = `${capitalized(who)} ${did}${where === null ? '' : ` in “${where}”`}`;
  return (
    <li>
      <Clock at={foundAt} />
      <div class="said">
        {says === null ? (
          <a class="item-name" href={to}>
            {sentence}
          </a>
        ) : (
          <>
            <span class="who">
              {author === null ? sentence : <a href={address.person(workspace, pigeonholeId, author)}>{sentence}</a>}:
            </span>{' '}
            <a class="item-name" href={to}>
              {says}
            </a>
          </>
        )}
        <small>
          <a href={address.pigeonhole(workspace, pigeonholeId)}>{name.event ?? `${workspace}/${pigeonholeId}`}</a>
          {` · ${list}:${short(key)}${revision > 1 ? ` · revision ${revision}` : ''}`}
        </small>
      </div>
      <ul class="at-sinks" aria-label="Destinations">
        {sinksOf(line).map((news) => (
          <li key={news.sink} title={news.words ?? undefined}>
            <StateWord of={[tones[news.state], news.sink]} />
            <span class={news.state === 'has' ? 'unseen' : 'dim'}> {newsInWords(news)}</span>
          </li>
        ))}
      </ul>
    </li>
  );
}

const tones: Readonly<Record<SinkNews['state'], Tone>> = { has: 'good', waits: 'busy', not: 'quiet', refused: 'bad' };

function newsInWords({ state, words }: SinkNews): string {
  if (state === 'has') return 'has it';
  if (state === 'waits') return words ?? 'waits';
  return words ?? (state === 'refused' ? 'refused it' : 'does not receive it');
}

interface Choices {
  readonly list: string;
  readonly place: string;
  readonly personal: boolean;
}

interface Followed {
  /** Newest first. */
  readonly lines: readonly Line[];
  readonly skipped: number;
  readonly state: 'following' | 'lost';
  readonly problem: string | null;
}

const nothing: Followed = { lines: [], skipped: 0, state: 'lost', problem: null };

function useLines({ list, place, personal }: Choices, held: boolean): Followed {
  const [followed, setFollowed] = useState<Followed>(nothing);
  const waiting = useRef<Followed>(nothing);
  const isHeld = useRef(held);
  isHeld.current = held;
  useEffect(() => {
    if (!held && waiting.current !== nothing) setFollowed(waiting.current);
  }, [held]);
  useEffect(() => {
    const ended = new AbortController();
    const change = (to: (before: Followed) => Followed): void => {
      waiting.current = to(waiting.current);
      if (!isHeld.current) setFollowed(waiting.current);
    };
    change(() => nothing);
    followChanges({
      query: {
        ...(list === '' ? {} : { list }),
        ...(place === '' ? {} : { pigeonhole: place }),
        ...(personal ? { personal: '1' } : {}),
      },
      signal: ended.signal,
      onChanges: (found) =>
        change((before) => ({
          ...before,
          lines: withChanges(before.lines, found.changes, maxKept),
          skipped: before.skipped + found.skipped,
        })),
      onDeliveries: ({ deliveries }) =>
        change((before) => ({ ...before, lines: withDeliveries(before.lines, deliveries) })),
      onState: (state, problem) => change((before) => ({ ...before, state, problem })),
    }).catch(() => undefined);
    return () => ended.abort();
  }, [list, place, personal]);
  return followed;
}

function following(state: Followed['state'], held: boolean): ToneAndWord {
  if (state === 'lost') return ['warning', 'connecting…'];
  return held ? ['warning', 'paused; new changes are kept'] : ['good', 'following'];
}

/** Shortens a key. Items without an id have long hashes as keys. */
function short(key: string): string {
  return key.length > 16 ? `${key.slice(0, 12)}…` : key;
}

interface Following {
  /** Query of the address, such as `list=questions`. */
  readonly query: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly onChanges: (changes: LiveChanges) => void;
  readonly onDeliveries: (deliveries: LiveDeliveries) => void;
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
export async function followChanges({ query, signal, onChanges, onDeliveries, onState }: Following): Promise<void> {
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
        if (event.event === 'deliveries') onDeliveries(JSON.parse(event.data) as LiveDeliveries);
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
