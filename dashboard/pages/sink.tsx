import { useEffect } from 'preact/hooks';
import type { SinkDetails, LaneView } from '../../api/sinks.js';
import { useAsked, useAllParts } from '../asking/use-asked.js';
import { AwaitAnswer, PageHead, Fact, Facts, Panel, Table } from '../parts/panel.js';
import { PauseButton } from '../parts/button.js';
import { DeadLetters } from '../parts/dead-letters.js';
import { MinutesChart, perMinute } from '../parts/minutes-chart.js';
import { Preview } from '../parts/preview.js';
import { Replay } from '../parts/replay.js';
import { SinkState, StateWord } from '../parts/state-word.js';
import { Ago, For } from '../parts/time.js';
import { Troubles } from '../parts/troubles.js';
import { isObserving } from '../../base/delivery-words.js';
import { grouped, counted } from '../../base/words.js';
import type { AnswerAt } from '../../api/routes.js';
import { laneState, observedNote, type Tone, wouldHaveSent, wouldHaveWithheld } from '../words.js';
import { address } from '../route.js';

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
    return <PageHead kind="Sink" title={name} note="No sink with this name is configured." />;
  }
  return (
    <>
      <PageHead kind={data === undefined ? 'Sink' : `Sink, ${data.type}`} title={name} note={<Note sink={data} />}>
        {data === undefined ? null : <PauseButton kind="sink" name={name} paused={data.pause !== null} />}
      </PageHead>
      <Troubles troubles={data?.troubles ?? []} />
      <Panel title="Delivering" id="delivering">
        <AwaitAnswer asked={asked} lines={3}>
          {(sink) => <Delivering sink={sink} />}
        </AwaitAnswer>
      </Panel>
      <DeadLetters sink={name} />
      <Outcomes sink={name} />
      <Lanes sink={name} state={data} />
      <Preview sink={name} />
      <Replay sink={name} open={data?.replays ?? []} />
    </>
  );
}

function Note({ sink }: { readonly sink: SinkDetails | undefined }) {
  if (sink === undefined) return <> </>;
  const { pause, reason } = sink;
  return (
    <>
      <SinkState sink={sink} /> · receives changes from{' '}
      {sink.syncs.length === 0 ? 'no sync' : `${sink.syncs.length === 1 ? 'sync' : 'syncs'} ${sink.syncs.join(', ')}`}
      {pause !== null || reason === null ? null : ` · ${reason}`}
    </>
  );
}

function Delivering({ sink }: { readonly sink: SinkDetails }) {
  const { delivered, backlog, undeliveredSince, deliveredAt, deliveredByMinute, withheld, dead, observation } = sink;
  const observes = isObserving(sink);
  return (
    <>
      <div class="inside">
        <MinutesChart minutes={deliveredByMinute} of="changes delivered" large />
      </div>
      <Facts>
        <Fact
          label="Delivered"
          note={
            <>
              last <Ago at={deliveredAt} never="never" />
            </>
          }
        >
          {grouped(delivered)}
        </Fact>
        <Fact label="Rate" note={`${grouped(sum(deliveredByMinute))} in the last hour`}>
          {grouped(perMinute(deliveredByMinute))} per minute
        </Fact>
        <Fact
          label="Backlog"
          note={
            observes ? (
              observedNote(backlog)
            ) : undeliveredSince === null ? (
              'nothing is waiting'
            ) : (
              <>
                oldest waiting for <For since={undeliveredSince} />
              </>
            )
          }
        >
          {grouped(backlog)}
        </Fact>
        <Fact label="Withheld" note={sink.withholding.length > 0 ? 'unusually many' : 'by rule, such as consent'}>
          {grouped(sum(Object.values(withheld)))}
        </Fact>
        <Fact label="Dead letters" note="refused, or their mapping failed">
          {grouped(sum(Object.values(dead)))}
        </Fact>
        {observation === null || !observes ? null : (
          <>
            <Fact label="Would have sent" note={wouldHaveSent(observation).note}>
              {grouped(wouldHaveSent(observation).changes)}
            </Fact>
            <Fact label="Would have withheld" note={wouldHaveWithheld(observation).note}>
              {grouped(wouldHaveWithheld(observation).changes)}
            </Fact>
          </>
        )}
      </Facts>
    </>
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0);
}

type Outcome = AnswerAt<'get', '/api/sinks/{name}/outcomes'>['outcomes'][number];

/** Shows the changes that were not sent, or not yet, by reason. */
function Outcomes({ sink }: { readonly sink: string }) {
  const asked = useAsked('/api/sinks/{name}/outcomes', { params: { name: sink } }, 4000);
  const withheld = asked.data?.outcomes.filter(({ state }) => state === 'withheld') ?? [];
  const all = withheld.reduce((sum, { changes }) => sum + changes, 0);
  return (
    <Panel
      title="Not sent, or not yet"
      id="outcomes"
      aside={asked.data === undefined ? undefined : `${counted(all, 'change')} withheld`}
    >
      <AwaitAnswer asked={asked} lines={3}>
        {({ outcomes }) => <Rows outcomes={outcomes} />}
      </AwaitAnswer>
    </Panel>
  );
}

const states: Readonly<Record<Outcome['state'], readonly [Tone, string]>> = {
  waiting: ['busy', 'queued'],
  sending: ['busy', 'being sent'],
  retry: ['warning', 'will be retried'],
  withheld: ['quiet', 'withheld'],
  dead: ['bad', 'dead letter'],
};

function Rows({ outcomes }: { readonly outcomes: readonly Outcome[] }) {
  if (outcomes.length === 0) return <p class="empty">No changes are queued, withheld or refused.</p>;
  return (
    <Table columns={{ List: '', State: '', Changes: 'number' }}>
      {outcomes.map(({ list, state, reason, words, changes }) => (
        <tr key={`${list} ${state} ${reason}`}>
          <th scope="row">{list}</th>
          <td>
            <StateWord tone={states[state][0]}>{states[state][1]}</StateWord>
            {reason === null ? null : <small class="why">{words ?? reason}</small>}
          </td>
          <td class="number">{grouped(changes)}</td>
        </tr>
      ))}
    </Table>
  );
}

/** The progress of a sink in each pigeonhole. */
function Lanes({ sink, state }: { readonly sink: string; readonly state: SinkDetails | undefined }) {
  const asked = useAllParts('/api/sinks/{name}/lanes', { params: { name: sink } }, 4000);
  return (
    <Panel
      title="Progress by pigeonhole"
      id="lanes"
      aside={
        asked.data === undefined
          ? undefined
          : counted(asked.data.filter(({ pigeonholeId }) => pigeonholeId !== 0).length, 'pigeonhole')
      }
    >
      <AwaitAnswer asked={asked} lines={4}>
        {(lanes) => <LaneRows lanes={lanes} sink={state} />}
      </AwaitAnswer>
    </Panel>
  );
}

function LaneRows({ lanes, sink }: { readonly lanes: readonly LaneView[]; readonly sink: SinkDetails | undefined }) {
  if (lanes.length === 0) return <p class="empty">The sink has not processed any pigeonhole yet.</p>;
  const worstFirst = lanes.toSorted((a, b) => rank(a) - rank(b));
  return (
    <Table
      columns={{
        Pigeonhole: '',
        State: '',
        Watermark: 'number',
        Behind: 'number mid',
        'In flight': 'number mid',
        Delivered: 'number wide',
        Last: 'number wide',
        'Oldest waiting': 'number wide',
      }}
    >
      {worstFirst.map((lane) => (
        <tr key={`${lane.workspace}/${lane.pigeonholeId}`}>
          <th scope="row">
            <a href={address.pigeonhole(lane.workspace, lane.pigeonholeId)}>
              {lane.pigeonholeId === 0 ? `Lists of ${lane.workspace}` : `${lane.workspace}/${lane.pigeonholeId}`}
            </a>
          </th>
          <td>
            <LaneState lane={lane} sink={sink} />
            {lane.failure === null ? (
              lane.undeliveredSince === null || lane.waitsFor === null ? null : (
                <small class="below">{lane.waitsFor}</small>
              )
            ) : (
              <small class="below">
                {lane.failure}
                {lane.retryAt === null ? null : (
                  <>
                    ; next attempt <Ago at={lane.retryAt} />
                  </>
                )}
              </small>
            )}
          </td>
          <td class="number">
            {grouped(lane.watermark)} <small>of {grouped(lane.newest)}</small>
          </td>
          <td class="number mid">{grouped(Math.max(0, lane.newest - lane.watermark))}</td>
          <td class="number mid">{grouped(lane.open)}</td>
          <td class="number wide">{grouped(lane.delivered)}</td>
          <td class="number wide">
            <Ago at={lane.deliveredAt} />
          </td>
          <td class="number wide">
            <Ago at={sink !== undefined && isObserving(sink) ? null : lane.undeliveredSince} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function LaneState({ lane, sink }: { readonly lane: LaneView; readonly sink: SinkDetails | undefined }) {
  const [tone, word] = laneState(lane, sink ?? { pause: null, observation: null, approval: null });
  return <StateWord tone={tone}>{word}</StateWord>;
}

function rank({ failure, undeliveredSince }: LaneView): number {
  if (failure !== null) return 0;
  return undeliveredSince === null ? 2 : 1;
}
