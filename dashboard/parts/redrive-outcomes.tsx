import type { DeadLetterView } from '../../api/dead-letters.js';
import { ask } from '../asking/ask.js';
import { useAsking } from '../asking/use-asked.js';
import { judgeRedrive, type RedriveOutcome } from '../judge-redrive.js';
import { counted, grouped } from '../../base/words.js';
import type { OutcomesAnswer } from './outcomes.js';
import { StateWord } from './state-word.js';

/** Dead letters that were redriven from this page. */
export interface Redriven {
  readonly at: number;
  readonly sink: string;
  readonly list: string;
  readonly cause: string;
  readonly changes: number;
  /** The redriven dead letters, as far as the API lists them. */
  readonly shown: readonly DeadLetterView[];
}

/** Outcomes of a redrive so far. */
export function RedriveOutcomes({ redriven }: { readonly redriven: Redriven }) {
  const { at, sink, list, cause, changes } = redriven;
  const { data } = useAsking(`redriven ${at}`, (signal) => readOutcome(redriven, signal), 2000);
  return (
    <p class="redriven" role="status">
      Sent {counted(changes, 'change')} of {list} to {sink} again (<code>{cause}</code>):{' '}
      {data === undefined ? '…' : <Words outcome={data} />}
    </p>
  );
}

function Words({ outcome: { done, refusedAgain, onTheWay } }: { readonly outcome: RedriveOutcome }) {
  return (
    <>
      {onTheWay > 0 ? <StateWord tone="busy">{`${grouped(onTheWay)} in progress`}</StateWord> : null}{' '}
      {done > 0 ? <StateWord tone="good">{`${grouped(done)} settled`}</StateWord> : null}{' '}
      {refusedAgain > 0 ? <StateWord tone="bad">{`${grouped(refusedAgain)} refused again`}</StateWord> : null}
    </>
  );
}

async function readOutcome(redriven: Redriven, signal: AbortSignal): Promise<RedriveOutcome> {
  const { sink, list } = redriven;
  const query = new URLSearchParams({ sink, list, limit: '1000' }).toString();
  const { outcomes } = await ask<OutcomesAnswer>(`/api/sinks/${encodeURIComponent(sink)}/outcomes`, { signal });
  const { items } = await ask<{ readonly items: readonly DeadLetterView[] }>(`/api/dead-letters/items?${query}`, {
    signal,
  });
  const open = outcomes
    .filter((each) => each.list === list && ['waiting', 'sending', 'retry'].includes(each.state))
    .reduce((sum, each) => sum + each.changes, 0);
  return judgeRedrive(redriven, items, open);
}
