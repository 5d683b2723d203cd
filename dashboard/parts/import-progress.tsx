import type { ImportView } from '../../importing/desk/import-views.js';
import { needsAPerson, rowsDone } from '../import-state.js';
import { grouped } from '../../base/words.js';
import { StateWord } from './state-word.js';
import type { Tone } from '../words.js';

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
  return <StateWord tone={tone}>{word}</StateWord>;
}

export function ImportProgress({ view }: { readonly view: ImportView }) {
  const done = rowsDone(view);
  return (
    <progress
      max={Math.max(1, view.rows)}
      value={view.state === 'done' ? Math.max(1, view.rows) : done}
      aria-label={`${grouped(done)} of ${grouped(view.rows)} rows`}
    />
  );
}
