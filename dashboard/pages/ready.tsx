import type { Readiness, ReadyCheck } from '../../operations/ready/readiness.js';
import { useAsked, askAgain } from '../asking/use-asked.js';
import { PageHead, AskedPanel } from '../parts/panel.js';
import { Button } from '../parts/controls.js';
import { StateWord } from '../parts/states.js';
import { address } from '../route.js';
import { counted } from '../../base/words.js';
import { capitalized, type ToneAndWord } from '../words.js';
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
        note={data === undefined ? [] : [<StateWord of={verdict(data)} />]}
      >
        <a class="button" href={address.pigeonhole(workspace, id)}>
          Pigeonhole
        </a>
        <Button onPress={askAgain}>Check again</Button>
      </PageHead>
      <AskedPanel title="Checks" id="checks" asked={asked} lines={8}>
        {({ checks }) => <CheckList checks={checks} />}
      </AskedPanel>
    </>
  );
}

function verdict({ ready, checks }: Readiness): ToneAndWord {
  const open = checks.filter(({ state }) => state !== 'ok').length;
  if (!ready) return ['bad', 'Not ready'];
  return open === 0 ? ['good', 'Ready'] : ['warning', `Ready, with ${counted(open, 'check')} to review`];
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

const shown: Readonly<Record<ReadyCheck['state'], ToneAndWord>> = {
  ok: ['good', 'OK'],
  warning: ['warning', 'warning'],
  failed: ['bad', 'not ready'],
  unknown: ['quiet', 'unknown'],
};

function OneCheck({ check: { label, state, says, todo } }: { readonly check: ReadyCheck }) {
  return (
    <li>
      <StateWord of={shown[state]} />
      <div>
        <b>{capitalized(label)}</b>
        <p>
          <Sentence text={capitalized(says)} />
        </p>
        {todo == null ? null : (
          <p class="dim">
            <Sentence text={capitalized(todo)} />
          </p>
        )}
      </div>
    </li>
  );
}
