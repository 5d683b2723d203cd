import type { WorkState } from '../../api/status-view.js';
import type { Trouble } from '../../api/what-is-wrong.js';

/** How a state is shown: by a word, and by a mark of another shape and colour, since not everybody tells colours apart. */
export type Tone = 'good' | 'busy' | 'warning' | 'bad' | 'quiet';

interface StateWordProps {
  readonly tone: Tone;
  /** Of several words, which a phone breaks. */
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

const words: Readonly<Record<WorkState, readonly [Tone, string]>> = {
  working: ['good', 'up to date'],
  backfilling: ['busy', 'first read'],
  waiting: ['warning', 'waiting'],
  paused: ['bad', 'paused'],
  failing: ['bad', 'failing'],
};

interface ReadingProps {
  readonly state: WorkState;
  readonly gone?: boolean;
  /** What is wrong with it: who works and is late is not up to date. */
  readonly troubles?: readonly Trouble[];
}

/** Of a sync, a workspace or a pigeonhole. */
export function ReadingState({ state, gone = false, troubles = [] }: ReadingProps) {
  if (gone) return <StateWord tone="quiet">gone there</StateWord>;
  const late = state === 'working' && troubles.some(({ code }) => code === 'reading-late');
  if (late) return <StateWord tone="warning">late</StateWord>;
  const [tone, word] = words[state];
  return <StateWord tone={tone}>{word}</StateWord>;
}

export interface SinkStanding {
  readonly state: WorkState;
  readonly backlog: number;
  readonly withholding: readonly object[];
  readonly observation: object | null;
  readonly approval: object | null;
}

export function SinkState({ sink }: { readonly sink: SinkStanding }) {
  if (sink.state !== 'working') return <ReadingState state={sink.state} />;
  if (sink.observation !== null && sink.approval === null) return <StateWord tone="quiet">observing</StateWord>;
  if (sink.withholding.length > 0) return <StateWord tone="bad">withholds too much</StateWord>;
  return sink.backlog > 0 ? <StateWord tone="busy">sending</StateWord> : <StateWord tone="good">up to date</StateWord>;
}
