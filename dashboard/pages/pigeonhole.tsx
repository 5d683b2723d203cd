import type { PigeonholeDetails } from '../../api/pigeonholes.js';
import { useAllParts, useAsked } from '../asking/use-asked.js';
import { AwaitAnswer, PageHead, Fact, Facts, Panel } from '../parts/panel.js';
import { Cadences } from '../parts/freshness.js';
import { MinutesChart, perMinute } from '../parts/minutes-chart.js';
import { PauseButton, ReadButtons, Button } from '../parts/button.js';
import { QuotaPanel } from '../parts/quota-panel.js';
import { Paused, ReadingState } from '../parts/state-word.js';
import { StreamTable } from '../parts/stream-table.js';
import { Ago, Until } from '../parts/time.js';
import { Troubles } from '../parts/troubles.js';
import { address } from '../route.js';
import { counted, grouped } from '../../base/words.js';
import { post } from '../asking/ask.js';
import { carryOut, askPerson, tell } from '../asking/act.js';
import { useMay } from '../asking/connection.js';

interface PigeonholeName {
  readonly workspace: string;
  readonly id: string;
}

/** The state of one pigeonhole: freshness, streams and quota. */
export function Pigeonhole({ workspace, id }: PigeonholeName) {
  const params = { workspace, id };
  const asked = useAsked('/api/pigeonholes/{workspace}/{id}', { params });
  const streams = useAllParts('/api/pigeonholes/{workspace}/{id}/streams', { params });
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
            Readiness
          </a>
        )}
        <ReadButtons kind="pigeonhole" name={name} />
        {id === '0' || data === undefined ? null : <RehearsalButton name={name} rehearsal={data.rehearsal} />}
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
  const next =
    nextAt === null ? (
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
    <Button look="main" onPress={() => poll(name, 0, `the rehearsal of ${name} is over`)}>
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
    tell('failed', `"${given}" is not a number of hours; enter a number above 0, up to 24`);
    return;
  }
  await poll(name, Math.ceil(hours * 3600), `every list of ${name} is read at the live interval`);
}

async function poll(name: string, forSeconds: number, done: string): Promise<void> {
  const json = { do: 'poll-now', kind: 'pigeonhole', name, forSeconds } as const;
  await carryOut(
    () => post('/api/actions', { json }),
    () => done,
  );
}
