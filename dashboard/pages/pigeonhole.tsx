import type { PigeonholeDetails, StreamView } from '../../api/pigeonholes.js';
import type { SyncView } from '../../api/syncs.js';
import { allParts } from '../asking/all-parts.js';
import { useAsked, useAsking } from '../asking/use-asked.js';
import { AwaitAnswer } from '../parts/await-answer.js';
import { MinutesChart, perMinute } from '../parts/minutes-chart.js';
import { PageHead } from '../parts/page-head.js';
import { Fact, Facts, Panel } from '../parts/panel.js';
import { PauseButton, ReadButtons } from '../parts/pause-button.js';
import { QuotaPanel } from '../parts/quota-panel.js';
import { ReadingState } from '../parts/state-word.js';
import { StreamTable } from '../parts/stream-table.js';
import { Ago } from '../parts/time.js';
import { Troubles } from '../parts/troubles.js';
import { address } from '../route.js';
import { grouped, intervalInWords } from '../words.js';

interface Place {
  readonly workspace: string;
  readonly id: string;
}

/** How one pigeonhole is read. */
export function Pigeonhole({ workspace, id }: Place) {
  const path = `/api/pigeonholes/${encodeURIComponent(workspace)}/${encodeURIComponent(id)}`;
  const asked = useAsked<PigeonholeDetails>(path);
  const streams = useAsking(`${path}/streams`, (signal) => allParts<StreamView>(`${path}/streams`, signal));
  const name = `${workspace}/${id}`;
  const data = asked.data;
  return (
    <>
      <PageHead
        kind={id === '0' ? `The workspace's own lists` : `Pigeonhole ${name}`}
        title={id === '0' ? `Lists of ${workspace}` : (data?.name ?? name)}
        note={data === undefined ? ' ' : <Note pigeonhole={data} />}
      >
        {id === '0' ? null : (
          <a class="button" href={address.ready(workspace, id)}>
            Is it ready?
          </a>
        )}
        <ReadButtons kind="pigeonhole" name={name} />
        <PauseButton kind="pigeonhole" name={name} paused={data?.pause != null} />
      </PageHead>
      <Troubles troubles={data?.troubles ?? []} />
      <Panel title="Reading" id="reading">
        <AwaitAnswer asked={asked} lines={3}>
          {(pigeonhole) => <Reading pigeonhole={pigeonhole} />}
        </AwaitAnswer>
      </Panel>
      <Panel title="Streams" id="streams" aside={streams.data === undefined ? undefined : grouped(streams.data.length)}>
        <AwaitAnswer asked={streams} lines={8}>
          {(rows) => <StreamTable streams={rows} name={name} />}
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
      <ReadingState state={state} gone={goneAt !== null} troubles={pigeonhole.troubles} />
      {status === null ? null : ` · ${status} at the service`} · workspace{' '}
      <a href={address.workspace(workspace)}>{workspace}</a>
      {id === 0 ? null : ` · read by ${syncs.join(', ') || 'no sync any more'}`}
      {pause === null ? null : (
        <>
          {' '}
          · paused <Ago at={pause.since} />
          {pause.actor === null ? '' : ` by ${pause.actor}`}: {pause.reason}
        </>
      )}
    </>
  );
}

function Reading({ pigeonhole }: { readonly pigeonhole: PigeonholeDetails }) {
  const { freshAsOf, changes, setAside, heldDeletions, foundByMinute, syncs } = pigeonhole;
  return (
    <>
      <div class="inside">
        <MinutesChart minutes={foundByMinute} of="changes found" large />
      </div>
      <Facts>
        <Fact label="Fresh as of" note="the oldest of its streams">
          <Ago at={freshAsOf} never="not read yet" />
        </Fact>
        <Fact label="Found" note={`${grouped(perMinute(foundByMinute))} in the last minute`}>
          {grouped(changes)}
        </Fact>
        {pigeonhole.id === 0 ? null : <Cadence sync={syncs[0]} status={pigeonhole.status} />}
        <Fact label="Set aside" note="rows without an identity">
          {grouped(setAside)}
        </Fact>
        <Fact
          label="Deletions held"
          note={heldDeletions === 0 ? 'none waits for a person' : <a href={address.deletions}>decide about them</a>}
        >
          {grouped(heldDeletions)}
        </Fact>
      </Facts>
    </>
  );
}

const intervals = ['live', 'new', 'upcoming', 'ended'] as const;

function Cadence({ sync, status }: { readonly sync: string | undefined; readonly status: string | null }) {
  const { data } = useAsked<SyncView>(sync === undefined ? null : `/api/syncs/${encodeURIComponent(sync)}`, 30_000);
  const own = intervals.find((each) => each === status);
  if (data === undefined) return <Fact label="Cadence">–</Fact>;
  return (
    <Fact label="Cadence" note={`a sweep every ${intervalInWords(data.every.sweep)}`}>
      {own === undefined ? 'as it comes' : `every ${intervalInWords(data.every[own])}`}
    </Fact>
  );
}
