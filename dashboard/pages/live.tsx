import { useEffect, useRef, useState } from 'preact/hooks';
import type { LiveChanges } from '../../api/live-changes.js';
import { useRemembered } from '../asking/page-state.js';
import { CommittedInput, PersonalCheck, ListChoice, Button } from '../parts/controls.js';
import { PageHead, Written, Table, type Column, Refusal, namedItemLink } from '../parts/panel.js';
import { StateWord } from '../parts/states.js';
import { Clock } from '../parts/time.js';
import { address } from '../route.js';
import { counted } from '../../base/words.js';
import { askFor, Problem } from '../asking/ask.js';
import { serverEvents } from '../../base/api-client.js';
import type { Tone, ToneAndWord } from '../words.js';

/** Maximum number of rows. A person does not read more, and the browser can draw them in one frame. */
const maxKept = 300;

type Change = LiveChanges['changes'][number];

/** Changes as they are found. */
export function Live() {
  const [list, setList] = useRemembered('live list', '');
  const [place, setPlace] = useRemembered('live place', '');
  const [personal, setPersonal] = useState(false);
  const [held, setHeld] = useState(false);
  const { changes, skipped, state, problem } = useChanges({ list, place, personal }, held);
  return (
    <>
      <PageHead kind="Live" title="Live changes" note={[<StateWord of={following(state, held)} />]}>
        <Button pressed={held} onPress={() => setHeld(!held)}>
          {held ? 'Continue' : 'Hold'}
        </Button>
      </PageHead>
      <section class="panel" aria-label="Changes">
        <form class="filters top-padded" onSubmit={(event) => event.preventDefault()}>
          <ListChoice value={list} onChoose={setList} />
          <CommittedInput label="Pigeonhole" hint="Pigeonhole: acme/101" finds value={place} onCommit={setPlace} />
          <PersonalCheck checked={personal} onCheck={setPersonal} />
        </form>
        {problem === null ? null : <Refusal text={problem} />}
        {skipped > 0 ? (
          <p class="dim">Skipped {counted(skipped, 'change')}: too many arrived at the same time.</p>
        ) : null}
        <Table
          look="live"
          columns={columns}
          rows={changes}
          keyOf={({ workspace, pigeonholeId, sequence }) => `${workspace}/${pigeonholeId} ${sequence}`}
          belowRow={({ data }) => (personal && data != null ? <Written data={data} /> : null)}
          empty={
            state === 'lost'
              ? 'The latest changes appear here once the page is connected.'
              : 'No changes yet. New changes appear here.'
          }
        />
      </section>
    </>
  );
}

interface Choices {
  readonly list: string;
  readonly place: string;
  readonly personal: boolean;
}

interface Followed {
  readonly changes: readonly Change[];
  readonly skipped: number;
  readonly state: 'following' | 'lost';
  readonly problem: string | null;
}

const nothing: Followed = { changes: [], skipped: 0, state: 'lost', problem: null };

function useChanges({ list, place, personal }: Choices, held: boolean): Followed {
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
          changes: [...found.changes.toReversed(), ...before.changes].slice(0, maxKept),
          skipped: before.skipped + found.skipped,
        })),
      onState: (state, problem) => change((before) => ({ ...before, state, problem })),
    }).catch(() => undefined);
    return () => ended.abort();
  }, [list, place, personal]);
  return followed;
}

const tones: Readonly<Record<string, Tone>> = { created: 'good', updated: 'busy', deleted: 'bad' };

const columns: readonly Column<Change>[] = [
  ['Found', 'number left', ({ foundAt }) => <Clock at={foundAt} />],
  ['Item', 'name', (change) => namedItemLink(change, short(change.key))],
  ['Change', '', ({ kind }) => <StateWord of={[tones[kind] ?? 'quiet', kind]} />],
  ['Revision', 'number mid', ({ revision }) => revision],
  [
    'Pigeonhole',
    'wide',
    ({ workspace, pigeonholeId, name }) => (
      <>
        <a href={address.pigeonhole(workspace, pigeonholeId)}>{name.event ?? workspace}</a>
        <small class="below">{`${workspace}/${pigeonholeId}`}</small>
      </>
    ),
  ],
  ['Person', 'wide', ({ visibility }) => visibility ?? '–'],
];

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
