import { capitalized } from '../words.js';
import { StateWord } from './state-word.js';
import type { Tone } from '../trouble-words.js';
import { Sentence } from './time.js';

/** Result of one check before an event. */
export interface Check {
  readonly id: string;
  readonly label: string;
  readonly state: 'ok' | 'warning' | 'failed' | 'unknown';
  readonly says: string;
  readonly todo?: string | null;
}

const order: readonly Check['state'][] = ['failed', 'warning', 'unknown', 'ok'];

/** A list of checks, failed ones first. */
export function CheckList({ checks }: { readonly checks: readonly Check[] }) {
  return (
    <ul class="checks">
      {checks
        .toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))
        .map((check) => (
          <OneCheck key={check.id} check={check} />
        ))}
    </ul>
  );
}

const shown: Readonly<Record<Check['state'], readonly [Tone, string]>> = {
  ok: ['good', 'OK'],
  warning: ['warning', 'warning'],
  failed: ['bad', 'not ready'],
  unknown: ['quiet', 'unknown'],
};

function OneCheck({ check: { label, state, says, todo } }: { readonly check: Check }) {
  const [tone, word] = shown[state];
  return (
    <li>
      <StateWord tone={tone}>{word}</StateWord>
      <div>
        <b>{capitalized(label)}</b>
        <p>
          <Sentence text={capitalized(says)} />
        </p>
        {todo == null ? null : (
          <p class="todo">
            <Sentence text={capitalized(todo)} />
          </p>
        )}
      </div>
    </li>
  );
}
