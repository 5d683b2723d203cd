import type { Overview as OverviewAnswer, SyncView } from '../../api/syncs.js';
import type { SinkDetails } from '../../api/sinks.js';
import { useAsked } from '../asking/use-asked.js';
import { AwaitAnswer, Table, MinutesChart, perMinute, AskedPanel, type Column, named } from '../parts/panel.js';
import { listLink } from '../parts/list-link.js';
import { ReadAge } from '../parts/reading.js';
import { PigeonholeTable } from '../parts/pigeonhole-table.js';
import { Troubles, StateWord } from '../parts/states.js';
import { Ago } from '../parts/time.js';
import { address } from '../route.js';
import { troubleHeading, sinkState, readingState } from '../words.js';
import { counted, grouped, sumOf } from '../../base/words.js';
import { replayWords } from '../../base/delivery-words.js';

/** Shows whether data flows, and the problems if it does not. */
export function Overview() {
  const overview = useAsked('/api/overview', {}, 1500);
  const sinks = useAsked('/api/sinks', {});
  return (
    <>
      <AwaitAnswer asked={overview} lines={5}>
        {(data) => <Headline overview={data} />}
      </AwaitAnswer>
      <AskedPanel title="Syncs" id="syncs" asked={overview} lines={2}>
        {({ syncs }) => <Table columns={syncColumns} rows={syncs} keyOf={({ name }) => name} />}
      </AskedPanel>
      <AskedPanel title="Sinks" id="sinks" asked={sinks} lines={4}>
        {(data) => <Table columns={sinkColumns} rows={data.sinks} keyOf={({ name }) => name} />}
      </AskedPanel>
      <PigeonholeTable />
    </>
  );
}

function Headline({ overview }: { readonly overview: OverviewAnswer }) {
  const { troubles, foundByMinute, deliveredByMinute } = overview;
  return (
    <>
      <div class="headline">
        <div>
          <h1 tabIndex={-1}>{verdict(overview)}</h1>
          <p class="dim">{explained(overview)}</p>
        </div>
        <Flow label="Found" of="changes found" minutes={foundByMinute} />
        <Flow label="Delivered" of="changes delivered" minutes={deliveredByMinute} />
      </div>
      <Troubles troubles={troubles} />
    </>
  );
}

interface FlowProps {
  readonly label: string;
  readonly of: string;
  readonly minutes: readonly number[];
}

function Flow({ label, of, minutes }: FlowProps) {
  return (
    <figure class="flow">
      <figcaption>
        {label} <b>{grouped(perMinute(minutes))}</b>/min
      </figcaption>
      <MinutesChart minutes={minutes} of={of} large />
    </figure>
  );
}

/** The state in one sentence. */
function verdict({ troubles, settled, syncs }: OverviewAnswer): string {
  const heading = troubleHeading(troubles);
  if (heading !== null) return heading;
  if (syncs.some(({ backfilling }) => backfilling > 0)) return 'First read in progress';
  return settled ? 'Everything is delivered' : 'Data is flowing';
}

function explained({ syncs, configuration }: OverviewAnswer): string {
  const pigeonholes = syncs.reduce((sum, sync) => sum + sync.pigeonholes, 0);
  const live = syncs.reduce((sum, sync) => sum + sync.live, 0);
  return `${counted(pigeonholes, 'pigeonhole')} in ${counted(syncs.length, 'sync')}, ${grouped(live)} live · configuration ${configuration}`;
}

const syncColumns: readonly Column<SyncView>[] = [
  ['Sync', 'name', ({ name, workspace }) => named(name, <a href={address.workspace(workspace)}>{workspace}</a>)],
  [
    'State',
    '',
    ({ state, troubles, freshness }) => <StateWord of={readingState(state, troubles, freshness.catchingUp)} />,
  ],
  ['Read', 'number', ({ freshness }) => <ReadAge freshness={freshness} />],
  [
    'Pigeonholes',
    'number wide',
    ({ pigeonholes, live }) => (
      <>
        {grouped(pigeonholes)} <small>{grouped(live)} live</small>
      </>
    ),
  ],
  [
    'Sends to',
    'wide',
    ({ sinks }) =>
      sinks.map((sink, position) => (
        <>
          {position > 0 ? ', ' : ''}
          <a href={address.sink(sink)}>{sink}</a>
        </>
      )),
  ],
  ['Per minute', 'number mid', ({ foundByMinute }) => grouped(perMinute(foundByMinute))],
  [
    'Last hour',
    'chart wide',
    ({ name, foundByMinute }) => <MinutesChart minutes={foundByMinute} of={`changes found by ${name}`} />,
  ],
];

const sinkColumns: readonly Column<SinkDetails>[] = [
  ['Sink', 'name', ({ name, type }) => named(<a href={address.sink(name)}>{name}</a>, type)],
  [
    'State',
    '',
    (sink) => (
      <>
        <StateWord of={sinkState(sink)} />
        {sink.replays.map((replay) => (
          <small key={replay.id} class="below">
            {replayWords(replay)}
          </small>
        ))}
      </>
    ),
  ],
  ['Backlog', 'number', ({ name, backlog }) => listLink(backlog, address.deliveries({ sink: name, show: 'open' }))],
  [
    'Delivered',
    'number wide',
    ({ name, delivered }) => listLink(delivered, address.deliveries({ sink: name, show: 'delivered' })),
  ],
  [
    'Withheld',
    'number wide',
    ({ name, withheld }) => listLink(sumOf(withheld), address.deliveries({ sink: name, show: 'withheld' })),
  ],
  [
    'Dead letters',
    'number',
    ({ name, dead }) =>
      sumOf(dead) === 0 ? (
        '0'
      ) : (
        <a class="bad" href={address.deliveries({ sink: name, show: 'dead' })}>
          {grouped(sumOf(dead))}
        </a>
      ),
  ],
  ['Last', 'number wide', ({ deliveredAt }) => <Ago at={deliveredAt} />],
  [
    'Last hour',
    'chart wide',
    ({ name, deliveredByMinute }) => <MinutesChart minutes={deliveredByMinute} of={`changes delivered to ${name}`} />,
  ],
];
