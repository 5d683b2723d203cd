import type { SinkDetails } from '../../api/sinks.js';
import type { WorkState } from '../../operations/status-view.js';
import type { Trouble } from '../../operations/find-problems.js';
import { readingState, sinkState, type Tone } from '../words.js';

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
}

/** State of a sync, a workspace or a pigeonhole. */
export function ReadingState({ state, gone = false, troubles = [] }: ReadingProps) {
  if (gone) return <StateWord tone="quiet">deleted in the service</StateWord>;
  const [tone, word] = readingState(state, troubles);
  return <StateWord tone={tone}>{word}</StateWord>;
}

export function SinkState({ sink }: { readonly sink: SinkDetails }) {
  const [tone, word] = sinkState(sink);
  return <StateWord tone={tone}>{word}</StateWord>;
}
