import { useState } from 'preact/hooks';
import type { Trouble } from '../../operations/find-problems.js';
import { act } from '../asking/act.js';
import { useMay } from '../asking/connection.js';
import { address } from '../route.js';
import { labelOf } from '../words.js';
import { grouped } from '../../base/words.js';
import { Button } from './button.js';
import { Ago, Sentence } from './time.js';

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
  const { help } = trouble;
  const to = addressOf(trouble);
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

/** Returns the address of the page that shows a problem; null: no page does. */
function addressOf({ code, kind, name }: Trouble): string | null {
  if (code === 'deletions-held') return address.deletions;
  if (code === 'dead-letters') return address.sink(name, 'dead-letters');
  if (kind === 'workspace') return address.workspace(name);
  if (kind === 'sink') return address.sink(name);
  if (kind !== 'pigeonhole') return null;
  const [workspace, id] = name.split('/');
  return address.pigeonhole(workspace!, id!);
}
