import type { LaneView } from '../../api/sinks.js';
import { useAllParts } from '../asking/use-asked.js';
import { address } from '../route.js';
import { counted, grouped } from '../../base/words.js';
import { AwaitAnswer, Panel, Table } from './panel.js';
import { StateWord } from './state-word.js';
import { Ago } from './time.js';

/** The progress of a sink in each pigeonhole. */
export function Lanes({ sink }: { readonly sink: string }) {
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
        {(lanes) => <Rows lanes={lanes} />}
      </AwaitAnswer>
    </Panel>
  );
}

function Rows({ lanes }: { readonly lanes: readonly LaneView[] }) {
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
            {lane.failure === null ? (
              lane.undeliveredSince === null ? (
                <StateWord tone="good">up to date</StateWord>
              ) : (
                <>
                  <StateWord tone="busy">sending</StateWord>
                  {lane.waitsFor === null ? null : <small class="below">{lane.waitsFor}</small>}
                </>
              )
            ) : (
              <>
                <StateWord tone="bad">failing</StateWord>
                <small class="below">
                  {lane.failure}
                  {lane.retryAt === null ? null : (
                    <>
                      ; next attempt <Ago at={lane.retryAt} />
                    </>
                  )}
                </small>
              </>
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
            <Ago at={lane.undeliveredSince} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function rank({ failure, undeliveredSince }: LaneView): number {
  if (failure !== null) return 0;
  return undeliveredSince === null ? 2 : 1;
}
