import type { PauseView } from '../../operations/status-view.js';
import type { Trouble } from '../../operations/problem.js';
import { Ago, Sentence } from './time.js';
import { labelOf, type Tone, type ToneAndWord } from '../words.js';
import type { ImportView } from '../../importing/desk/import-views.js';
import { counted, importStateWords, rowsToCheck, settledRows, grouped } from '../../base/words.js';
import { useState } from 'preact/hooks';
import { act } from '../asking/act.js';
import { useMay } from '../asking/page-state.js';
import { Button } from './controls.js';

export function StateWord({ of: [tone, word] }: { readonly of: ToneAndWord }) {
  return (
    <span class={`state ${tone}`}>
      <i aria-hidden="true" />
      {word}
    </span>
  );
}

const deliveryTones: Readonly<Record<string, Tone>> = {
  delivered: 'good',
  dead: 'bad',
  retry: 'warning',
  waiting: 'busy',
  sending: 'busy',
  behind: 'busy',
};

/** Returns the tone of the state of a change at a sink. An observing sink sent nothing. */
export function deliveryTone({ state, reason }: { readonly state: string; readonly reason: string | null }): Tone {
  return reason === 'observe' ? 'quiet' : (deliveryTones[state] ?? 'quiet');
}

/** Says who paused something, when and why. */
export function Paused({ pause: { since, actor, reason } }: { readonly pause: PauseView }) {
  return (
    <>
      paused <Ago at={since} />
      {actor === null ? '' : ` by ${actor}`}: {reason}
    </>
  );
}

const importTones: Readonly<Record<ImportView['state'], Tone>> = {
  staging: 'busy',
  running: 'busy',
  waiting: 'warning',
  paused: 'warning',
  done: 'good',
  cancelled: 'quiet',
};

export function ImportState({ view }: { readonly view: ImportView }) {
  const isUnusable = view.state === 'cancelled' && view.reason !== null;
  const toCheck = view.state === 'done' && rowsToCheck(view.counts) > 0;
  const tone = isUnusable || toCheck ? 'bad' : importTones[view.state];
  return <StateWord of={[tone, importStateWords(view)]} />;
}

export function ImportProgress({ view }: { readonly view: ImportView }) {
  const done = settledRows(view.counts);
  return (
    <progress
      max={Math.max(1, view.rows)}
      value={view.state === 'done' && view.canary === null ? Math.max(1, view.rows) : done}
      aria-label={`${grouped(done)} of ${counted(view.rows, 'row')}`}
    />
  );
}

const atFirst = 6;

/** The open problems, each with its remedy. */
export function Troubles({ troubles }: { readonly troubles: readonly Trouble[] }) {
  const [all, setAll] = useState(false);
  if (troubles.length === 0) return null;
  const shown = all ? troubles : troubles.slice(0, atFirst);
  return (
    <ul class="troubles">
      {shown.map((trouble) => (
        <li key={`${trouble.code} ${trouble.kind} ${trouble.name}`} class={trouble.severity}>
          <p>
            <strong>{labelOf(trouble)}</strong> <Sentence text={trouble.text} />
            {trouble.since === null || trouble.saysSince ? null : (
              <small>
                {' '}
                (started <Ago at={trouble.since} />)
              </small>
            )}
            {trouble.advice === null ? null : <small class="advice">{trouble.advice}</small>}
          </p>
          <Help trouble={trouble} />
        </li>
      ))}
      {troubles.length > atFirst ? (
        <li class="more">
          <Button look="link" onPress={() => setAll(!all)}>
            {all ? 'Show fewer' : `Show ${grouped(troubles.length - atFirst)} more`}
          </Button>
        </li>
      ) : null}
    </ul>
  );
}

function Help({ trouble }: { readonly trouble: Trouble }) {
  const mayOperate = useMay('operate');
  const { help, page: to } = trouble;
  const { action = null, label = '' } = help ?? {};
  return (
    <div class="actions">
      {to === null || to === location.hash ? null : (
        <a class="button" href={to}>
          {action === null && help !== null ? label : 'Details'}
        </a>
      )}
      {action === null || !mayOperate ? null : (
        <Button look="main" onPress={() => act(action)}>
          {label}
        </Button>
      )}
    </div>
  );
}
