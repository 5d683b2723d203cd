import type { Readiness, ReadyCheck } from '../../operations/ready/readiness.js';
import { useAsked, askAgain } from '../asking/use-asked.js';
import { AwaitAnswer, PageHead, Panel } from '../parts/panel.js';
import { Button } from '../parts/button.js';
import { StateWord } from '../parts/state-word.js';
import { address } from '../route.js';
import { counted } from '../../base/words.js';
import { capitalized, type Tone } from '../words.js';
import { Sentence } from '../parts/time.js';

interface PigeonholeName {
  readonly workspace: string;
  readonly id: string;
}

/** Checks whether pigeonpost is ready for an event. */
export function Ready({ workspace, id }: PigeonholeName) {
  const asked = useAsked('/api/pigeonholes/{id}/ready', { params: { id }, query: { workspace } }, 60_000);
  const { data } = asked;
  return (
    <>
      <PageHead
        kind={`Readiness of ${workspace}/${id}`}
        title={data?.pigeonhole.name ?? `${workspace}/${id}`}
        note={data === undefined ? ' ' : <Verdict readiness={data} />}
      >
        <a class="button" href={address.pigeonhole(workspace, id)}>
          Pigeonhole
        </a>
        <Button onPress={askAgain}>Check again</Button>
      </PageHead>
      <Panel title="Checks" id="checks">
        <AwaitAnswer asked={asked} lines={8}>
          {({ checks }) => <CheckList checks={checks} />}
        </AwaitAnswer>
      </Panel>
    </>
  );
}

function Verdict({ readiness: { ready, checks } }: { readonly readiness: Readiness }) {
  const open = checks.filter(({ state }) => state !== 'ok').length;
  if (!ready) return <StateWord tone="bad">Not ready</StateWord>;
  return open === 0 ? (
    <StateWord tone="good">Ready</StateWord>
  ) : (
    <StateWord tone="warning">{`Ready, with ${counted(open, 'check')} to review`}</StateWord>
  );
}

const order: readonly ReadyCheck['state'][] = ['failed', 'warning', 'unknown', 'ok'];

/** A list of checks, failed ones first. */
function CheckList({ checks }: { readonly checks: readonly ReadyCheck[] }) {
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

const shown: Readonly<Record<ReadyCheck['state'], readonly [Tone, string]>> = {
  ok: ['good', 'OK'],
  warning: ['warning', 'warning'],
  failed: ['bad', 'not ready'],
  unknown: ['quiet', 'unknown'],
};

function OneCheck({ check: { label, state, says, todo } }: { readonly check: ReadyCheck }) {
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
