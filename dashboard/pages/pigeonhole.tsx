import type { EventStoryView } from '../../api/event-story.js';
import type { PigeonholeDetails, StreamView } from '../../api/pigeonholes.js';
import { useAllParts, useAsked } from '../asking/use-asked.js';
import { PageHead, Facts, MinutesChart, perMinute, AskedPanel, Table, type Column, named } from '../parts/panel.js';
import { ActivityChart } from '../parts/chart.js';
import { EventPanels } from '../parts/event-story.js';
import { ExportPanel } from '../parts/export.js';
import { Cadences, QuotaPanel } from '../parts/reading.js';
import { PauseButton, ReadButtons, Button } from '../parts/controls.js';
import { Paused, StateWord, Troubles } from '../parts/states.js';
import { Ago, Sentence, Until } from '../parts/time.js';
import { address } from '../route.js';
import { readableAt, readNotes, waitWords } from '../../base/reading-words.js';
import { derivedLists } from '../../base/lists.js';
import { counted, grouped } from '../../base/words.js';
import { post } from '../asking/ask.js';
import { carryOut, askPerson, tell, act } from '../asking/act.js';
import { useMay } from '../asking/page-state.js';
import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { type ToneAndWord, goneState, pigeonholeState } from '../words.js';

interface PigeonholeName {
  readonly workspace: string;
  readonly id: string;
}

/** The state of one pigeonhole: freshness, streams and quota. */
export function Pigeonhole({ workspace, id }: PigeonholeName) {
  const params = { workspace, id };
  const asked = useAsked('/api/pigeonholes/{workspace}/{id}', { params });
  const streams = useAllParts('/api/pigeonholes/{workspace}/{id}/streams', { params });
  const story = useAsked(id === '0' ? null : '/api/pigeonholes/{workspace}/{id}/story', { params }, 10_000);
  const overview = useAsked('/api/overview', {});
  const name = `${workspace}/${id}`;
  const data = asked.data;
  // A problem that stops the whole workspace is the reason why this pigeonhole waits.
  const above =
    overview.data?.troubles.filter((each) => each.kind === 'workspace' && each.name === workspace && each.stops) ?? [];
  if (data === undefined && asked.problem?.status === 404) {
    return <PageHead kind="Pigeonhole" title={name} note={['No sync reads a pigeonhole with this ID.']} />;
  }
  return (
    <>
      <PageHead
        kind={id === '0' ? 'Workspace lists' : `Event ${name}`}
        title={id === '0' ? `Lists of ${workspace}` : (data?.name ?? name)}
        note={data === undefined ? [] : notesOf(data)}
      >
        {id === '0' ? null : (
          <a class="button" href={address.ready(workspace, id)}>
            Readiness
          </a>
        )}
        {id === '0' ? null : (
          <a class="button" href={address.statements(workspace, id)}>
            Statement
          </a>
        )}
        <ReadButtons kind="pigeonhole" name={name} />
        {id === '0' || data === undefined ? null : <RehearsalButton name={name} rehearsal={data.rehearsal} />}
        <PauseButton kind="pigeonhole" name={name} paused={data?.pause != null} />
      </PageHead>
      <Troubles troubles={[...above, ...(data?.troubles ?? [])]} />
      {id === '0' ? null : <EventPanels place={params} asked={story} />}
      <AskedPanel title="Reading" id="reading" asked={asked} lines={3}>
        {(pigeonhole) => <Reading pigeonhole={pigeonhole} />}
      </AskedPanel>
      <ActivityChart of={{ workspace, id }} />
      <AskedPanel title="Streams" id="streams" asked={streams} lines={8} aside={(rows) => grouped(rows.length)}>
        {(rows) => (
          <StreamTable streams={rows} name={name} freshness={data?.freshness} titles={titlesOf(story.data?.sessions)} />
        )}
      </AskedPanel>
      <ExportPanel workspace={workspace} pigeonholeId={Number(id)} />
      <QuotaPanel workspace={workspace} />
    </>
  );
}

function notesOf(pigeonhole: PigeonholeDetails): readonly ComponentChildren[] {
  const { id, status, workspace, syncs, pause } = pigeonhole;
  return [
    <StateWord of={pigeonholeState(pigeonhole)} />,
    status === null ? null : `${status} in the service`,
    ['workspace ', <a href={address.workspace(workspace)}>{workspace}</a>],
    id === 0 ? null : `read by ${syncs.join(', ') || 'no sync'}`,
    pause === null ? null : <Paused pause={pause} />,
  ];
}

function Reading({ pigeonhole }: { readonly pigeonhole: PigeonholeDetails }) {
  const { freshness, changes, setAside, heldDeletions, foundByMinute, rehearsal } = pigeonhole;
  const { liveLists, readAt } = freshness;
  return (
    <>
      <div class="inside">
        <figure class="hour">
          <MinutesChart minutes={foundByMinute} of="changes found" large />
          <figcaption>
            <span>an hour ago</span>
            <span>at most {grouped(Math.max(0, ...foundByMinute))} changes a minute</span>
            <span>now</span>
          </figcaption>
        </figure>
      </div>
      <Facts
        facts={[
          [
            liveLists === 0 ? 'Read' : `${counted(liveLists, 'live list')} read`,
            <Ago at={readAt} never="not read yet" />,
            nextNote(freshness),
          ],
          rehearsal === null
            ? null
            : ['Rehearsal', ['ends ', <Until at={rehearsal.until} />], 'every list at the live interval'],
          ['Found', grouped(changes), `${grouped(perMinute(foundByMinute))} in the last minute`],
          ['Set aside', grouped(setAside), 'rows without an ID, or nested too deeply'],
          [
            'Deletions held',
            grouped(heldDeletions),
            heldDeletions === 0 ? 'none to decide' : <a href={address.deletions}>decide</a>,
          ],
        ]}
      />
      <Cadences freshness={freshness} />
    </>
  );
}

function nextNote(freshness: Freshness): ComponentChildren {
  const { waits } = readNotes(freshness);
  if (waits !== null) return <Sentence text={waitWords(waits)} />;
  return freshness.nextAt === null ? 'reading is paused' : ['next ', <Until at={freshness.nextAt} />];
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
const derived: ReadonlySet<string> = new Set(derivedLists);

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
  /** Titles of the sessions. */
  readonly titles: ReadonlyMap<number, string>;
}

function titlesOf(sessions: EventStoryView['sessions'] = []): ReadonlyMap<number, string> {
  return new Map(sessions.flatMap(({ sessionId, title }) => (title === null ? [] : [[sessionId, title] as const])));
}

/** The streams of a pigeonhole: order, checkpoint and next reads. */
function StreamTable({ streams, name, freshness, titles }: StreamTableProps) {
  const mayOperate = useMay('operate');
  const [all, setAll] = useState(false);
  const ordered = streams.toSorted((a, b) => rank(a) - rank(b));
  const relevant = ordered.filter((stream) => rank(stream) < 2);
  const shown = all ? ordered : relevant;
  if (streams.length === 0)
    return <p class="empty">The pigeonhole has no streams yet. The first read is about to start.</p>;
  const sweepColumn: Column<StreamView> = [
    <span class="unseen">Actions</span>,
    'wide number',
    ({ list, wanted }) =>
      derived.has(list) || !wanted ? null : (
        <Button
          look="link"
          label={`Sweep ${list}`}
          onPress={() => act({ do: 'sweep', kind: 'pigeonhole', name, list } as Parameters<typeof act>[0])}
        >
          Sweep
        </Button>
      ),
  ];
  return (
    <>
      <Table
        columns={[...streamColumns(freshness, titles), ...(mayOperate ? [sweepColumn] : [])]}
        rows={shown}
        keyOf={({ list, sessionId }) => `${list} ${sessionId}`}
        isDim={({ wanted }) => !wanted}
      />
      {relevant.length === streams.length ? null : (
        <p class="empty more">
          <Button look="link" onPress={() => setAll(!all)}>
            {all ? 'Hide empty streams' : `Show ${counted(streams.length - relevant.length, 'empty stream')}`}
          </Button>
        </p>
      )}
    </>
  );
}

function streamColumns(
  freshness: Freshness | undefined,
  titles: ReadonlyMap<number, string>,
): readonly Column<StreamView>[] {
  return [
    [
      'List',
      'name',
      ({ list, sessionId }) =>
        named(list, sessionId === null ? null : (titles.get(sessionId) ?? `session ${sessionId}`)),
    ],
    [
      'State',
      '',
      (stream) => (
        <>
          <StateWord of={streamState(stream)} />
          {stream.failure === null ? null : <small class="below">{stream.failure}</small>}
        </>
      ),
    ],
    ['Read', 'number', ({ polledAt }) => <Ago at={polledAt} never="not yet" />],
    ['Next', 'number mid', ({ wanted, dueAt }) => (wanted ? <Until at={nextRead(dueAt, freshness)} /> : '–')],
    ['Polling interval', 'wide', ({ wanted, cadence }) => (wanted ? cadence : '–')],
    [
      'Last sweep',
      'number mid',
      ({ sweepPages, sweptAt }) =>
        sweepPages === null ? <Ago at={sweptAt} never="not yet" /> : `in progress, page ${grouped(sweepPages)}`,
    ],
    ['Items', 'number wide', ({ items }) => (items === null ? '–' : grouped(items))],
    ['Order', 'wide', ({ order }) => order],
    [
      'Checkpoint',
      'wide',
      ({ checkpoint }) =>
        checkpoint === null ? (
          <span class="dim">start of the list</span>
        ) : (
          <code class="cursor" title={checkpoint}>
            {checkpoint}
          </code>
        ),
    ],
  ];
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

function streamState(stream: StreamView): ToneAndWord {
  const { goneAt, wanted, failures, lateSeconds, polledAt, sweptAt, setAside, foreignRows, quietReads } = stream;
  if (goneAt !== null) return goneState;
  if (!wanted) return ['quiet', 'not needed'];
  if (failures > 0) return ['bad', failures === 1 ? 'failing' : `failed ${grouped(failures)} times`];
  if (lateSeconds > 0) return ['warning', 'late'];
  if (polledAt === null && sweptAt === null) return ['busy', 'first read'];
  if (foreignRows > 0) return ['warning', `${counted(foreignRows, 'row')} of other sessions`];
  if (setAside > 0) return ['warning', `${grouped(setAside)} set aside`];
  return ['good', quietReads > 10 ? 'quiet' : 'up to date'];
}
