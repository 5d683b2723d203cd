import { useAsked, askAgain } from '../asking/use-asked.js';
import { AwaitAnswer } from '../parts/await-answer.js';
import { Button } from '../parts/button.js';
import { type Check, CheckList } from '../parts/check-list.js';
import { PageHead } from '../parts/page-head.js';
import { Panel } from '../parts/panel.js';
import { StateWord } from '../parts/state-word.js';
import { address } from '../route.js';
import { counted } from '../../base/words.js';

/** Response of `GET /api/pigeonholes/{id}/ready`. */
export interface Readiness {
  readonly pigeonhole: { readonly workspace: string; readonly id: number; readonly name: string | null };
  readonly ready: boolean;
  readonly checks: readonly Check[];
}

interface PigeonholeName {
  readonly workspace: string;
  readonly id: string;
}

/** Checks whether pigeonpost is ready for an event. */
export function Ready({ workspace, id }: PigeonholeName) {
  const path = `/api/pigeonholes/${encodeURIComponent(id)}/ready?workspace=${encodeURIComponent(workspace)}`;
  const asked = useAsked<Readiness>(path, 60_000);
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
