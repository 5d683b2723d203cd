import type { ComponentChildren } from 'preact';
import type { Asked } from '../asking/use-asked.js';
import { capitalized } from '../words.js';
import { useAfter } from './time.js';

interface Props<Answer> {
  readonly asked: Asked<Answer>;
  readonly children: (data: Answer) => ComponentChildren;
  /** Expected height in lines, so that nothing moves when the response arrives. */
  readonly lines?: number;
}

/** Shows the answer, or the API's refusal. Reserves the expected height until one of them arrives. */
export function AwaitAnswer<Answer>({ asked: { data, problem }, children, lines = 6 }: Props<Answer>) {
  if (problem !== undefined) return <p class="refused">{capitalized(problem.message)}.</p>;
  if (data !== undefined) return <>{children(data)}</>;
  return <Waiting lines={lines} />;
}

function Waiting({ lines }: { readonly lines: number }) {
  const takesLong = useAfter(400);
  return (
    <div class="waiting" data-lines={lines} aria-busy="true">
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} class={takesLong ? 'line' : 'line hidden'} />
      ))}
    </div>
  );
}
