import { useState } from 'preact/hooks';
import type { StreamView } from '../../api/pigeonholes.js';
import { act } from '../asking/act.js';
import { useMay } from '../asking/caller.js';
import { counted, grouped } from '../words.js';
import { Button } from './button.js';
import { StateWord } from './state-word.js';
import { Ago, Until } from './time.js';

/** Lists that the service offers by themselves; the derived ones are swept with those that they come from. */
const derived: ReadonlySet<string> = new Set(['registrants', 'engagement']);

/** The streams of a pigeonhole: order, checkpoint and next reads. @param name of the pigeonhole, as an action names it */
export function StreamTable({ streams, name }: { readonly streams: readonly StreamView[]; readonly name: string }) {
  const mayOperate = useMay('operate');
  const [all, setAll] = useState(false);
  const ordered = streams.toSorted((a, b) => rank(a) - rank(b));
  const telling = ordered.filter((stream) => rank(stream) < 2);
  const shown = all ? ordered : telling;
  if (streams.length === 0) return <p class="empty">It has no stream yet: it is about to be read.</p>;
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
                <span class="unseen">What can be done</span>
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
              <td class="number mid">{stream.wanted ? <Until at={stream.dueAt} /> : '–'}</td>
              <td class="wide">{stream.wanted ? stream.cadence : '–'}</td>
              <td class="number mid">
                {stream.sweepPages === null ? (
                  <Ago at={stream.sweptAt} never="not yet" />
                ) : (
                  `under way, page ${grouped(stream.sweepPages)}`
                )}
              </td>
              <td class="number wide">{stream.items === null ? '–' : grouped(stream.items)}</td>
              <td class="wide">{stream.order}</td>
              <td class="wide">
                {stream.checkpoint === null ? (
                  <span class="dim">at the beginning</span>
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
      {telling.length === streams.length ? null : (
        <p class="empty more">
          <Button look="link" onPress={() => setAll(!all)}>
            {all
              ? 'Hide those that hold nothing'
              : `Show ${counted(streams.length - telling.length, 'stream')} that hold nothing`}
          </Button>
        </p>
      )}
    </div>
  );
}

/** First what fails, then what holds something; a conference has dozens that hold nothing. */
function rank({ failures, lateSeconds, items, goneAt, setAside, foreignRows, polledAt, sweptAt }: StreamView): number {
  if (failures > 0 || lateSeconds > 0) return 0;
  const untold = polledAt === null && sweptAt === null;
  return goneAt === null && (untold || (items ?? 0) > 0 || setAside + foreignRows > 0) ? 1 : 2;
}

function StreamState({ stream }: { readonly stream: StreamView }) {
  const { goneAt, wanted, failures, lateSeconds, polledAt, sweptAt, setAside, foreignRows, quietReads } = stream;
  if (goneAt !== null) return <StateWord tone="quiet">gone there</StateWord>;
  if (!wanted) return <StateWord tone="quiet">not needed</StateWord>;
  if (failures > 0) return <StateWord tone="bad">{`failing, ${failures} times`}</StateWord>;
  if (lateSeconds > 0) return <StateWord tone="warning">late</StateWord>;
  if (polledAt === null && sweptAt === null) return <StateWord tone="busy">first read</StateWord>;
  if (foreignRows > 0) return <StateWord tone="warning">{`${grouped(foreignRows)} of other sessions`}</StateWord>;
  if (setAside > 0) return <StateWord tone="warning">{`${grouped(setAside)} set aside`}</StateWord>;
  return <StateWord tone="good">{quietReads > 10 ? 'quiet' : 'up to date'}</StateWord>;
}
