import { useEffect } from 'preact/hooks';
import type { SinkDetails, LaneView } from '../../api/sinks.js';
import { useAsked, useAllParts } from '../asking/use-asked.js';
import { PageHead, Facts, Table, MinutesChart, perMinute, AskedPanel, type Column } from '../parts/panel.js';
import { useFirst } from '../parts/first-rows.js';
import { PauseButton } from '../parts/controls.js';
import { DeadLetters } from '../parts/dead-letters.js';
import { ActivityChart } from '../parts/chart.js';
import { Parity } from '../parts/parity.js';
import { Preview } from '../parts/preview.js';
import { Replay } from '../parts/replay.js';
import { StateWord, Troubles } from '../parts/states.js';
import { Ago, For, Until } from '../parts/time.js';
import { isObserving } from '../../base/delivery-words.js';
import { grouped, counted, sumOf } from '../../base/words.js';
import type { AnswerAt } from '../../api/routes.js';
import {
  isUnusual,
  laneState,
  observedNote,
  wouldHaveSent,
  wouldHaveWithheld,
  type ToneAndWord,
  sinkState,
} from '../words.js';
import type { DeliveryList } from '../delivery-choice.js';
import { listLink } from '../parts/list-link.js';
import { address } from '../route.js';
import type { ComponentChildren } from 'preact';

/** The state of one sink. @param part section to scroll to */
export function Sink({ name, part }: { readonly name: string; readonly part: string | null }) {
  const asked = useAsked('/api/sinks/{name}', { params: { name } });
  const { data, problem } = asked;
  const isThere = data !== undefined;
  useEffect(() => {
    const section = part === null || !isThere ? null : document.getElementById(part);
    section?.scrollIntoView();
    section?.focus({ preventScroll: true });
  }, [part, isThere]);
  if (data === undefined && problem?.status === 404) {
    return <PageHead kind="Sink" title={name} note={['No sink with this name is configured.']} />;
  }
  return (
    <>
      <PageHead
        kind={data === undefined ? 'Sink' : `Sink, ${data.type}`}
        title={name}
        note={data === undefined ? [] : notesOf(data)}
      >
        <a class="button" href={address.deliveries({ sink: name })}>
          Delivery log
        </a>
        {data === undefined ? null : <PauseButton kind="sink" name={name} paused={data.pause !== null} />}
      </PageHead>
      <Troubles troubles={data?.troubles ?? []} />
      <AskedPanel title="Delivering" id="delivering" asked={asked} lines={3}>
        {(sink) => <Delivering sink={sink} />}
      </AskedPanel>
      <ActivityChart of={{ sink: name }} />
      <DeadLetters sink={name} />
      <Outcomes sink={name} />
      <Lanes sink={name} state={data} />
      <Parity sink={name} />
      <Preview sink={name} isOpen={part === 'preview'} />
      <Replay sink={name} open={data?.replays ?? []} />
    </>
  );
}

function notesOf(sink: SinkDetails): readonly ComponentChildren[] {
  const { pause, reason, syncs } = sink;
  return [
    <StateWord of={sinkState(sink)} />,
    `receives changes from ${syncs.length === 0 ? 'no sync' : `${syncs.length === 1 ? 'sync' : 'syncs'} ${syncs.join(', ')}`}`,
    pause === null ? reason : null,
  ];
}

function Delivering({ sink }: { readonly sink: SinkDetails }) {
  const { delivered, deliveredAt, deliveredByMinute, withheld, withholding, dead, observation } = sink;
  const listOf = (show: DeliveryList): string => address.deliveries({ sink: sink.name, show });
  const observed = isObserving(sink) ? observation : null;
  const [sent, kept] = observed === null ? [] : [wouldHaveSent(observed), wouldHaveWithheld(observed)];
  return (
    <>
      <div class="inside">
        <MinutesChart minutes={deliveredByMinute} of="changes delivered" large />
      </div>
      <Facts
        facts={[
          ['Delivered', listLink(delivered, listOf('delivered')), ['last ', <Ago at={deliveredAt} never="never" />]],
          [
            'Rate',
            `${grouped(perMinute(deliveredByMinute))} per minute`,
            `${grouped(sum(deliveredByMinute))} in the last hour`,
          ],
          [
            'Backlog',
            isObserving(sink) ? grouped(sink.backlog) : listLink(sink.backlog, listOf('open')),
            backlogNote(sink),
          ],
          [
            'Withheld',
            listLink(sumOf(withheld), listOf('withheld')),
            withholding.some(isUnusual) ? 'unusually many' : 'by rule, such as consent',
          ],
          ['Dead letters', listLink(sumOf(dead), listOf('dead')), 'refused, or their mapping failed'],
          sent === undefined ? null : ['Would have sent', grouped(sent.changes), sent.note],
          kept === undefined ? null : ['Would have withheld', grouped(kept.changes), kept.note],
        ]}
      />
    </>
  );
}

function backlogNote(sink: SinkDetails): ComponentChildren {
  const { backlog, undeliveredSince } = sink;
  if (isObserving(sink)) return observedNote(backlog);
  return undeliveredSince === null ? 'nothing is waiting' : ['oldest waiting for ', <For since={undeliveredSince} />];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0);
}

type Outcome = AnswerAt<'get', '/api/sinks/{name}/outcomes'>['outcomes'][number];

/** Shows the changes that were not sent, or not yet, by reason. */
function Outcomes({ sink }: { readonly sink: string }) {
  const asked = useAsked('/api/sinks/{name}/outcomes', { params: { name: sink } }, 4000);
  const withheld = (outcomes: readonly Outcome[]): number =>
    sum(outcomes.flatMap(({ state, changes }) => (state === 'withheld' ? changes : [])));
  return (
    <AskedPanel
      title="Not sent, or not yet"
      id="outcomes"
      asked={asked}
      lines={3}
      aside={({ outcomes }) => `${counted(withheld(outcomes), 'change')} withheld`}
    >
      {({ outcomes }) => (
        <Table
          columns={outcomeColumns(sink)}
          rows={outcomes}
          keyOf={({ list, state, reason }) => `${list} ${state} ${reason}`}
          empty="No changes are queued, withheld or refused."
        />
      )}
    </AskedPanel>
  );
}

const states: Readonly<Record<Outcome['state'], ToneAndWord>> = {
  waiting: ['busy', 'queued'],
  sending: ['busy', 'being sent'],
  retry: ['warning', 'will be retried'],
  withheld: ['quiet', 'withheld'],
  dead: ['bad', 'dead letter'],
};

const outcomeLists: Readonly<Record<Outcome['state'], DeliveryList>> = {
  waiting: 'open',
  sending: 'open',
  retry: 'open',
  withheld: 'withheld',
  dead: 'dead',
};

const outcomeColumns = (sink: string): readonly Column<Outcome>[] => [
  ['List', 'name', ({ list }) => (list === '' ? 'all lists' : list)],
  [
    'State',
    '',
    ({ state, reason, words }) => (
      <>
        <StateWord of={states[state]} />
        {reason === null ? null : <small class="why">{words ?? reason}</small>}
      </>
    ),
  ],
  [
    'Changes',
    'number',
    ({ changes, list, state, reason }) =>
      listLink(
        changes,
        address.deliveries({ sink, show: outcomeLists[state], reason, list: list === '' ? null : list }),
      ),
  ],
];

/** The progress of a sink in each pigeonhole. */
function Lanes({ sink, state }: { readonly sink: string; readonly state: SinkDetails | undefined }) {
  const asked = useAllParts('/api/sinks/{name}/lanes', { params: { name: sink } }, 4000);
  const { rows, more } = useFirst(
    (asked.data ?? []).toSorted((a, b) => rank(a) - rank(b)),
    sink,
  );
  return (
    <AskedPanel
      title="Progress by pigeonhole"
      id="lanes"
      asked={asked}
      lines={4}
      aside={(lanes) => counted(lanes.filter(({ pigeonholeId }) => pigeonholeId !== 0).length, 'pigeonhole')}
    >
      {() => (
        <>
          <Table
            columns={laneColumns(sink, state ?? { pause: null, observation: null, approval: null })}
            rows={rows}
            keyOf={({ workspace, pigeonholeId }) => `${workspace}/${pigeonholeId}`}
            empty="The sink has not processed any pigeonhole yet."
          />
          {more}
        </>
      )}
    </AskedPanel>
  );
}

function laneColumns(
  name: string,
  sink: Pick<SinkDetails, 'pause' | 'observation' | 'approval'>,
): readonly Column<LaneView>[] {
  const listOf = ({ workspace, pigeonholeId }: LaneView, show: DeliveryList): string =>
    address.deliveries({ sink: name, show, pigeonhole: `${workspace}/${pigeonholeId}` });
  return [
    [
      'Pigeonhole',
      'name',
      ({ workspace, pigeonholeId }) => (
        <a href={address.pigeonhole(workspace, pigeonholeId)}>
          {pigeonholeId === 0 ? `Lists of ${workspace}` : `${workspace}/${pigeonholeId}`}
        </a>
      ),
    ],
    ['State', '', (lane) => <LaneState lane={lane} sink={sink} />],
    [
      'Watermark',
      'number',
      ({ watermark, newest }) => (
        <>
          {grouped(watermark)} <small>of {grouped(newest)}</small>
        </>
      ),
    ],
    ['Behind', 'number mid', ({ behind }) => grouped(behind)],
    ['In progress', 'number mid', (lane) => listLink(lane.open, listOf(lane, 'open'))],
    ['Delivered', 'number wide', (lane) => listLink(lane.delivered, listOf(lane, 'delivered'))],
    ['Last', 'number wide', ({ deliveredAt }) => <Ago at={deliveredAt} />],
    [
      'Oldest waiting',
      'number wide',
      ({ undeliveredSince }) => <Ago at={isObserving(sink) ? null : undeliveredSince} />,
    ],
  ];
}

interface LaneStateProps {
  readonly lane: LaneView;
  readonly sink: Parameters<typeof laneState>[1];
}

function LaneState({ lane, sink }: LaneStateProps) {
  const { failure, undeliveredSince, waitsFor, retryAt } = lane;
  const note = failure ?? (undeliveredSince === null ? null : waitsFor);
  return (
    <>
      <StateWord of={laneState(lane, sink)} />
      {note === null ? null : (
        <small class="below">
          {note}
          {failure === null || retryAt === null ? null : (
            <>
              ; next attempt <Until at={retryAt} />
            </>
          )}
        </small>
      )}
    </>
  );
}

/** Failing lanes first, then those with a backlog. */
function rank({ failure, undeliveredSince }: LaneView): number {
  if (failure !== null) return 0;
  return undeliveredSince === null ? 2 : 1;
}
