import type { PigeonholeDetails, StreamView } from '../../api/pigeonholes.js';
import { useAllParts, useAsked } from '../asking/use-asked.js';
import { AwaitAnswer, PageHead, Fact, Facts, Panel } from '../parts/panel.js';
import { Cadences } from '../parts/freshness.js';
import { MinutesChart, perMinute } from '../parts/minutes-chart.js';
import { PauseButton, ReadButtons, Button } from '../parts/button.js';
import { QuotaPanel } from '../parts/quota-panel.js';
import { Paused, ReadingState, StateWord } from '../parts/state-word.js';
import { Ago, Sentence, Until } from '../parts/time.js';
import { Troubles } from '../parts/troubles.js';
import { address } from '../route.js';
import { readableAt, readNotes, waitWords } from '../../base/reading-words.js';
import { counted, grouped } from '../../base/words.js';
import { post } from '../asking/ask.js';
import { carryOut, askPerson, tell, act } from '../asking/act.js';
import { useMay } from '../asking/connection.js';
import { useState } from 'preact/hooks';

interface PigeonholeName {
  readonly workspace: string;
  readonly id: string;
}

/** The state of one pigeonhole: freshness, streams and quota. */
export function Pigeonhole({ workspace, id }: PigeonholeName) {
  const params = { workspace, id };
  const asked = useAsked('/api/pigeonholes/{workspace}/{id}', { params });
  const streams = useAllParts('/api/pigeonholes/{workspace}/{id}/streams', { params });
  const overview = useAsked('/api/overview', {});
  const name = `${workspace}/${id}`;
  const data = asked.data;
  // A problem that stops the whole workspace is the reason why this pigeonhole waits.
  const above =
    overview.data?.troubles.filter((each) => each.kind === 'workspace' && each.name === workspace && each.stops) ?? [];
  return (
    <>
      <PageHead
        kind={id === '0' ? 'Workspace lists' : `Pigeonhole ${name}`}
        title={id === '0' ? `Lists of ${workspace}` : (data?.name ?? name)}
        note={data === undefined ? ' ' : <Note pigeonhole={data} />}
      >
        {id === '0' ? null : (
          <a class="button" href={address.ready(workspace, id)}>
            Readiness
          </a>
        )}
        <ReadButtons kind="pigeonhole" name={name} />
        {id === '0' || data === undefined ? null : <RehearsalButton name={name} rehearsal={data.rehearsal} />}
        <PauseButton kind="pigeonhole" name={name} paused={data?.pause != null} />
      </PageHead>
      <Troubles troubles={[...above, ...(data?.troubles ?? [])]} />
      <Panel title="Reading" id="reading">
        <AwaitAnswer asked={asked} lines={3}>
          {(pigeonhole) => <Reading pigeonhole={pigeonhole} />}
        </AwaitAnswer>
      </Panel>
      <Panel title="Streams" id="streams" aside={streams.data === undefined ? undefined : grouped(streams.data.length)}>
        <AwaitAnswer asked={streams} lines={8}>
          {(rows) => <StreamTable streams={rows} name={name} freshness={data?.freshness} />}
        </AwaitAnswer>
      </Panel>
      <QuotaPanel workspace={workspace} />
    </>
  );
}

function Note({ pigeonhole }: { readonly pigeonhole: PigeonholeDetails }) {
  const { id, state, goneAt, status, workspace, syncs, pause } = pigeonhole;
  return (
    <>
      <ReadingState
        state={state}
        gone={goneAt !== null}
        troubles={pigeonhole.troubles}
        isCatchingUp={pigeonhole.freshness.catchingUp}
      />
      {status === null ? null : ` · ${status} in the service`} · workspace{' '}
      <a href={address.workspace(workspace)}>{workspace}</a>
      {id === 0 ? null : ` · read by ${syncs.join(', ') || 'no sync'}`}
      {pause === null ? null : <Paused pause={pause} />}
    </>
  );
}

function Reading({ pigeonhole }: { readonly pigeonhole: PigeonholeDetails }) {
  const { freshness, changes, setAside, heldDeletions, foundByMinute } = pigeonhole;
  const { liveLists, readAt, nextAt } = freshness;
  const { waits } = readNotes(freshness);
  const next =
    waits !== null ? (
      <Sentence text={waitWords(waits)} />
    ) : nextAt === null ? (
      'reading is paused'
    ) : (
      <>
        next <Until at={nextAt} />
      </>
    );
  return (
    <>
      <div class="inside">
        <MinutesChart minutes={foundByMinute} of="changes found" large />
      </div>
      <Facts>
        <Fact label={liveLists === 0 ? 'Read' : `${counted(liveLists, 'live list')} read`} note={next}>
          <Ago at={readAt} never="not read yet" />
        </Fact>
        {pigeonhole.rehearsal === null ? null : (
          <Fact label="Rehearsal" note="every list at the live interval">
            ends <Until at={pigeonhole.rehearsal.until} />
          </Fact>
        )}
        <Fact label="Found" note={`${grouped(perMinute(foundByMinute))} in the last minute`}>
          {grouped(changes)}
        </Fact>
        <Fact label="Set aside" note="rows without an ID, or nested too deeply">
          {grouped(setAside)}
        </Fact>
        <Fact
          label="Deletions held"
          note={heldDeletions === 0 ? 'none to decide' : <a href={address.deletions}>decide</a>}
        >
          {grouped(heldDeletions)}
        </Fact>
      </Facts>
      <Cadences freshness={freshness} />
    </>
  );
}

interface Props {
  readonly name: string;
  readonly rehearsal: PigeonholeDetails['rehearsal'];
}

/** Starts a rehearsal, in which every list is read at the live interval, or ends the current one. */
function RehearsalButton({ name, rehearsal }: Props) {
  if (!useMay('operate')) return null;
  return rehearsal === null ? (
    <Button onPress={() => start(name)}>Rehearse…</Button>
  ) : (
    <Button look="main" onPress={() => poll(name, 0, `the rehearsal of ${name} has ended`)}>
      End rehearsal
    </Button>
  );
}

async function start(name: string): Promise<void> {
  const given = await askPerson({
    title: `Rehearse ${name}?`,
    body: 'Until the rehearsal ends, pigeonpost reads every list at the live interval, even before the event and outside session times. This uses more of the request quota.',
    confirm: 'Start',
    field: { label: 'Hours', hint: 'Up to 24; 2 if left empty' },
  });
  if (given === null) return;
  const hours = given.trim() === '' ? 2 : Number(given.replace(',', '.'));
  if (!(hours > 0 && hours <= 24)) {
    tell('failed', `"${given}" is not a number of hours: enter a number greater than 0 and at most 24`);
    return;
  }
  await poll(name, Math.ceil(hours * 3600), `every list of ${name} is read at the live interval`);
}

async function poll(name: string, forSeconds: number, done: string): Promise<void> {
  const json = { do: 'poll-now', kind: 'pigeonhole', name, forSeconds } as const;
  await carryOut(
    () => post('/api/actions', { json }),
    ({ note }) => note ?? done,
  );
}

/** Lists that pigeonpost derives from others and sweeps together with them. */
const derived: ReadonlySet<string> = new Set(['registrants', 'engagement']);

type Freshness = PigeonholeDetails['freshness'];

/** Returns when a list that is due at this instant is read; null: reading is paused, or the service does not answer. */
function nextRead(dueAt: string, freshness: Freshness | undefined): string | null {
  return freshness?.state === 'paused' ? null : readableAt(dueAt, freshness?.waits ?? null);
}

interface StreamTableProps {
  readonly streams: readonly StreamView[];
  /** The pigeonhole in the form that actions use. */
  readonly name: string;
  /** Undefined until the pigeonhole is loaded. */
  readonly freshness: Freshness | undefined;
}

/** The streams of a pigeonhole: order, checkpoint and next reads. */
function StreamTable({ streams, name, freshness }: StreamTableProps) {
  const mayOperate = useMay('operate');
  const [all, setAll] = useState(false);
  const ordered = streams.toSorted((a, b) => rank(a) - rank(b));
  const relevant = ordered.filter((stream) => rank(stream) < 2);
  const shown = all ? ordered : relevant;
  if (streams.length === 0)
    return <p class="empty">The pigeonhole has no streams yet. The first read is about to start.</p>;
  return (
    <div class="scrolls">
      <table class="streams">
        <thead>
          <tr>
            <th>List</th>
            <th>State</th>
            <th class="number">Read</th>
            <th class="number mid">Next</th>
            <th class="wide">Polling interval</th>
            <th class="number mid">Last sweep</th>
            <th class="number wide">Items</th>
            <th class="wide">Order</th>
            <th class="wide">Checkpoint</th>
            {mayOperate ? (
              <th class="wide">
                <span class="unseen">Actions</span>
              </th>
            ) : null}
          </tr>
        </thead>
        <tbody>
          {shown.map((stream) => (
            <tr key={`${stream.list} ${stream.sessionId}`} class={stream.wanted ? undefined : 'dim'}>
              <th scope="row">
                {stream.list}
                {stream.sessionId === null ? null : <small>session {stream.sessionId}</small>}
              </th>
              <td>
                <StreamState stream={stream} />
                {stream.failure === null ? null : <small class="below">{stream.failure}</small>}
              </td>
              <td class="number">
                <Ago at={stream.polledAt} never="not yet" />
              </td>
              <td class="number mid">{stream.wanted ? <Until at={nextRead(stream.dueAt, freshness)} /> : '–'}</td>
              <td class="wide">{stream.wanted ? stream.cadence : '–'}</td>
              <td class="number mid">
                {stream.sweepPages === null ? (
                  <Ago at={stream.sweptAt} never="not yet" />
                ) : (
                  `in progress, page ${grouped(stream.sweepPages)}`
                )}
              </td>
              <td class="number wide">{stream.items === null ? '–' : grouped(stream.items)}</td>
              <td class="wide">{stream.order}</td>
              <td class="wide">
                {stream.checkpoint === null ? (
                  <span class="dim">start of the list</span>
                ) : (
                  <code class="cursor" title={stream.checkpoint}>
                    {stream.checkpoint}
                  </code>
                )}
              </td>
              {mayOperate ? (
                <td class="wide number">
                  {derived.has(stream.list) || !stream.wanted ? null : (
                    <Button
                      look="link"
                      label={`Sweep ${stream.list}`}
                      onPress={() =>
                        act({ do: 'sweep', kind: 'pigeonhole', name, list: stream.list } as Parameters<typeof act>[0])
                      }
                    >
                      Sweep
                    </Button>
                  )}
                </td>
              ) : null}
            </tr>
          ))}
        </tbody>
      </table>
      {relevant.length === streams.length ? null : (
        <p class="empty more">
          <Button look="link" onPress={() => setAll(!all)}>
            {all ? 'Hide empty streams' : `Show ${counted(streams.length - relevant.length, 'empty stream')}`}
          </Button>
        </p>
      )}
    </div>
  );
}

/**
 * Ranks a stream: 0 failing or late, 1 with items or not read yet, 2 empty or deleted. A conference has dozens of empty
 * streams.
 */
function rank({ failures, lateSeconds, items, goneAt, setAside, foreignRows, polledAt, sweptAt }: StreamView): number {
  if (failures > 0 || lateSeconds > 0) return 0;
  const isUnread = polledAt === null && sweptAt === null;
  return goneAt === null && (isUnread || (items ?? 0) > 0 || setAside + foreignRows > 0) ? 1 : 2;
}

function StreamState({ stream }: { readonly stream: StreamView }) {
  const { goneAt, wanted, failures, lateSeconds, polledAt, sweptAt, setAside, foreignRows, quietReads } = stream;
  if (goneAt !== null) return <StateWord tone="quiet">deleted in the service</StateWord>;
  if (!wanted) return <StateWord tone="quiet">not needed</StateWord>;
  if (failures > 0)
    return <StateWord tone="bad">{failures === 1 ? 'failing' : `failed ${grouped(failures)} times`}</StateWord>;
  if (lateSeconds > 0) return <StateWord tone="warning">late</StateWord>;
  if (polledAt === null && sweptAt === null) return <StateWord tone="busy">first read</StateWord>;
  if (foreignRows > 0)
    return <StateWord tone="warning">{`${counted(foreignRows, 'row')} of other sessions`}</StateWord>;
  if (setAside > 0) return <StateWord tone="warning">{`${grouped(setAside)} set aside`}</StateWord>;
  return <StateWord tone="good">{quietReads > 10 ? 'quiet' : 'up to date'}</StateWord>;
}
