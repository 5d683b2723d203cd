import { useState } from 'preact/hooks';
import type { StreamView } from '../../api/pigeonholes.js';
import { act } from '../asking/act.js';
import { useMay } from '../asking/connection.js';
import { counted, grouped } from '../../base/words.js';
import { Button } from './button.js';
import { StateWord } from './state-word.js';
import { Ago, Until } from './time.js';

/** Lists that pigeonpost derives from others and sweeps together with them. */
const derived: ReadonlySet<string> = new Set(['registrants', 'engagement']);

/**
 * The streams of a pigeonhole: order, checkpoint and next reads.
 * @param name the pigeonhole in the form that actions use
 */
export function StreamTable({ streams, name }: { readonly streams: readonly StreamView[]; readonly name: string }) {
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
              <td class="number mid">{stream.wanted ? <Until at={stream.dueAt} /> : '–'}</td>
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
  if (failures > 0) return <StateWord tone="bad">{`failing, ${failures} times`}</StateWord>;
  if (lateSeconds > 0) return <StateWord tone="warning">late</StateWord>;
  if (polledAt === null && sweptAt === null) return <StateWord tone="busy">first read</StateWord>;
  if (foreignRows > 0) return <StateWord tone="warning">{`${grouped(foreignRows)} of other sessions`}</StateWord>;
  if (setAside > 0) return <StateWord tone="warning">{`${grouped(setAside)} set aside`}</StateWord>;
  return <StateWord tone="good">{quietReads > 10 ? 'quiet' : 'up to date'}</StateWord>;
}
