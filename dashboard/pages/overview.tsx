import type { Overview as OverviewAnswer, SyncView } from '../../api/syncs.js';
import type { SinkDetails } from '../../api/sinks.js';
import { useAsked } from '../asking/use-asked.js';
import { AwaitAnswer, Panel, Table } from '../parts/panel.js';
import { ReadAge } from '../parts/freshness.js';
import { MinutesChart, perMinute } from '../parts/minutes-chart.js';
import { PigeonholeTable } from '../parts/pigeonhole-table.js';
import { ReadingState, ReplayProgress, SinkState } from '../parts/state-word.js';
import { Ago } from '../parts/time.js';
import { Troubles } from '../parts/troubles.js';
import { address } from '../route.js';
import { troubleHeading } from '../words.js';
import { counted, grouped, sumOf } from '../../base/words.js';

/** Shows whether data flows, and the problems if it does not. */
export function Overview() {
  const overview = useAsked('/api/overview', {}, 1500);
  const sinks = useAsked('/api/sinks', {});
  return (
    <>
      <AwaitAnswer asked={overview} lines={5}>
        {(data) => <Headline overview={data} />}
      </AwaitAnswer>
      <Panel title="Syncs" id="syncs">
        <AwaitAnswer asked={overview} lines={2}>
          {({ syncs }) => <Syncs syncs={syncs} />}
        </AwaitAnswer>
      </Panel>
      <Panel title="Sinks" id="sinks">
        <AwaitAnswer asked={sinks} lines={4}>
          {(data) => <Sinks sinks={data.sinks} />}
        </AwaitAnswer>
      </Panel>
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

function Flow({
  label,
  of,
  minutes,
}: {
  readonly label: string;
  readonly of: string;
  readonly minutes: readonly number[];
}) {
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

function Syncs({ syncs }: { readonly syncs: readonly SyncView[] }) {
  return (
    <Table
      look="syncs"
      columns={{
        Sync: '',
        State: '',
        Read: 'number',
        Pigeonholes: 'number wide',
        'Sends to': 'wide',
        'Per minute': 'number mid',
        'Last hour': 'chart wide',
      }}
    >
      {syncs.map((sync) => (
        <tr key={sync.name}>
          <th scope="row">
            {sync.name}
            <small>
              <a href={address.workspace(sync.workspace)}>{sync.workspace}</a>
            </small>
          </th>
          <td>
            <ReadingState state={sync.state} troubles={sync.troubles} isCatchingUp={sync.freshness.catchingUp} />
          </td>
          <td class="number">
            <ReadAge freshness={sync.freshness} />
          </td>
          <td class="number wide">
            {grouped(sync.pigeonholes)} <small>{grouped(sync.live)} live</small>
          </td>
          <td class="wide">
            {sync.sinks.map((sink, position) => (
              <>
                {position > 0 ? ', ' : ''}
                <a href={address.sink(sink)}>{sink}</a>
              </>
            ))}
          </td>
          <td class="number mid">{grouped(perMinute(sync.foundByMinute))}</td>
          <td class="chart wide">
            <MinutesChart minutes={sync.foundByMinute} of={`changes found by ${sync.name}`} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Sinks({ sinks }: { readonly sinks: readonly SinkDetails[] }) {
  return (
    <Table
      look="sinks"
      columns={{
        Sink: '',
        State: '',
        Backlog: 'number',
        Delivered: 'number wide',
        Withheld: 'number wide',
        'Dead letters': 'number',
        Last: 'number wide',
        'Last hour': 'chart wide',
      }}
    >
      {sinks.map((sink) => (
        <tr key={sink.name}>
          <th scope="row">
            <a href={address.sink(sink.name)}>{sink.name}</a>
            <small>{sink.type}</small>
          </th>
          <td>
            <SinkState sink={sink} />
            <ReplayProgress replays={sink.replays} />
          </td>
          <td class="number">{grouped(sink.backlog)}</td>
          <td class="number wide">{grouped(sink.delivered)}</td>
          <td class="number wide">{grouped(sumOf(sink.withheld))}</td>
          <td class="number">
            {sumOf(sink.dead) === 0 ? (
              '0'
            ) : (
              <a class="bad" href={address.sink(sink.name, 'dead-letters')}>
                {grouped(sumOf(sink.dead))}
              </a>
            )}
          </td>
          <td class="number wide">
            <Ago at={sink.deliveredAt} />
          </td>
          <td class="chart wide">
            <MinutesChart minutes={sink.deliveredByMinute} of={`changes delivered to ${sink.name}`} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
