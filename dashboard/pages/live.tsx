import { useEffect, useRef, useState } from 'preact/hooks';
import type { LiveChanges } from '../../api/live-changes.js';
import { followChanges } from '../asking/follow-changes.js';
import { useRemembered } from '../asking/store.js';
import { CommittedInput, PersonalCheck, ListChoice } from '../parts/inputs.js';
import { Button } from '../parts/button.js';
import { PageHead, Written, Table } from '../parts/panel.js';
import { StateWord } from '../parts/state-word.js';
import { Clock } from '../parts/time.js';
import { address } from '../route.js';
import { counted } from '../../base/words.js';
import { capitalized } from '../words.js';

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
      <PageHead
        kind="Live"
        title="Live changes"
        note={
          state === 'following' ? (
            <StateWord tone={held ? 'warning' : 'good'}>
              {held ? 'paused; new changes are kept' : 'following'}
            </StateWord>
          ) : (
            <StateWord tone="warning">connecting…</StateWord>
          )
        }
      >
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
        {problem === null ? null : <p class="refused">{capitalized(problem)}.</p>}
        {skipped > 0 ? (
          <p class="dim">Skipped {counted(skipped, 'change')}: too many arrived at the same time.</p>
        ) : null}
        {state === 'lost' && changes.length === 0 ? (
          <p class="empty">The latest changes appear here once the page is connected.</p>
        ) : (
          <Rows changes={changes} shows={personal} />
        )}
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

function Rows({ changes, shows }: { readonly changes: readonly Change[]; readonly shows: boolean }) {
  if (changes.length === 0) return <p class="empty">No changes yet. New changes appear here.</p>;
  return (
    <Table
      look="live"
      columns={{ Found: '', Item: '', Change: '', Revision: 'number mid', Pigeonhole: 'wide', Person: 'wide' }}
    >
      {changes.map((change) => (
        <Row key={`${change.workspace}/${change.pigeonholeId} ${change.sequence}`} change={change} shows={shows} />
      ))}
    </Table>
  );
}

const kinds: Readonly<Record<string, 'good' | 'busy' | 'bad'>> = { created: 'good', updated: 'busy', deleted: 'bad' };

function Row({ change, shows }: { readonly change: Change; readonly shows: boolean }) {
  const { workspace, pigeonholeId, list, key, kind, revision, sessionId, visibility, foundAt, data } = change;
  const place = `${workspace}/${pigeonholeId}`;
  return (
    <>
      <tr>
        <td class="number left">
          <Clock at={foundAt} />
        </td>
        <th scope="row">
          <a href={address.item(list, key, place)}>
            {list}:{short(key)}
          </a>
        </th>
        <td>
          <StateWord tone={kinds[kind] ?? 'quiet'}>{kind}</StateWord>
        </td>
        <td class="number mid">{revision}</td>
        <td class="wide">
          <a href={address.pigeonhole(workspace, pigeonholeId)}>{place}</a>
          {sessionId === null ? null : <small> session {sessionId}</small>}
        </td>
        <td class="wide">{visibility ?? '–'}</td>
      </tr>
      {shows && data != null ? (
        <tr class="written-row">
          <td colSpan={6}>
            <Written data={data} />
          </td>
        </tr>
      ) : null}
    </>
  );
}

/** Shortens a key. Items without an id have long hashes as keys. */
function short(key: string): string {
  return key.length > 16 ? `${key.slice(0, 12)}…` : key;
}
