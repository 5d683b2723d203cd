import type { SinkDetails } from '../../api/sinks.js';
import type { PauseView, WorkState } from '../../operations/status-view.js';
import type { Trouble } from '../../operations/find-problems.js';
import { Ago } from './time.js';
import { readingState, sinkState, type Tone } from '../words.js';
import type { ImportView } from '../../importing/desk/import-views.js';
import { needsAPerson } from '../imports.js';
import { replayWords } from '../../base/delivery-words.js';
import { settledRows } from '../../base/import-words.js';
import { grouped } from '../../base/words.js';

interface StateWordProps {
  readonly tone: Tone;
  /** Long labels wrap on a phone. */
  readonly long?: boolean;
  readonly children: string;
}

export function StateWord({ tone, long = false, children }: StateWordProps) {
  return (
    <span class={long ? `state ${tone} long` : `state ${tone}`}>
      <i aria-hidden="true" />
      {children}
    </span>
  );
}

interface ReadingProps {
  readonly state: WorkState;
  readonly gone?: boolean;
  readonly troubles?: readonly Trouble[];
  readonly isCatchingUp: boolean;
}

/** State of a sync, a workspace or a pigeonhole. */
export function ReadingState({ state, gone = false, troubles = [], isCatchingUp }: ReadingProps) {
  if (gone) return <StateWord tone="quiet">deleted in the service</StateWord>;
  const [tone, word] = readingState(state, troubles, isCatchingUp);
  return <StateWord tone={tone}>{word}</StateWord>;
}

export function SinkState({ sink }: { readonly sink: SinkDetails }) {
  const [tone, word] = sinkState(sink);
  return <StateWord tone={tone}>{word}</StateWord>;
}

/** The progress of each replay, below the state of its sink. */
export function ReplayProgress({ replays }: Pick<SinkDetails, 'replays'>) {
  return (
    <>
      {replays.map((replay) => (
        <small key={replay.id} class="below">
          {replayWords(replay)}
        </small>
      ))}
    </>
  );
}

/** Shows who paused something, when and why; follows its state. */
export function Paused({ pause: { since, actor, reason } }: { readonly pause: PauseView }) {
  return (
    <>
      {' '}
      · paused <Ago at={since} />
      {actor === null ? '' : ` by ${actor}`}: {reason}
    </>
  );
}

const states: Readonly<Record<ImportView['state'], readonly [Tone, string]>> = {
  staging: ['busy', 'reading the file'],
  running: ['busy', 'running'],
  waiting: ['warning', 'waiting'],
  paused: ['warning', 'paused'],
  done: ['good', 'done'],
  cancelled: ['quiet', 'cancelled'],
};

export function ImportState({ view }: { readonly view: ImportView }) {
  const bad = needsAPerson(view.counts);
  if (view.state === 'done' && bad > 0)
    return <StateWord tone="bad" long>{`done, ${grouped(bad)} to check`}</StateWord>;
  const [tone, word] = states[view.state];
  return <StateWord tone={tone}>{view.canary === null ? word : `${word} (canary)`}</StateWord>;
}

export function ImportProgress({ view }: { readonly view: ImportView }) {
  const done = settledRows(view.counts);
  return (
    <progress
      max={Math.max(1, view.rows)}
      value={view.state === 'done' && view.canary === null ? Math.max(1, view.rows) : done}
      aria-label={`${grouped(done)} of ${grouped(view.rows)} rows`}
    />
  );
}
