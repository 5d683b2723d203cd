import { useAsked, askAgain } from '../asking/use-asked.js';
import { AwaitAnswer } from '../parts/await-answer.js';
import { Button } from '../parts/button.js';
import { Canaries } from '../parts/canaries.js';
import { type Check, CheckList } from '../parts/check-list.js';
import { PageHead } from '../parts/page-head.js';
import { Panel } from '../parts/panel.js';
import { StateWord } from '../parts/state-word.js';
import { address } from '../route.js';

/** As `GET /api/pigeonholes/{id}/ready` answers. */
export interface Readiness {
  readonly pigeonhole: { readonly workspace: string; readonly id: number; readonly name: string | null };
  readonly ready: boolean;
  readonly checks: readonly Check[];
}

interface Place {
  readonly workspace: string;
  readonly id: string;
}

/** The evening before: one list per event, green or red. */
export function Ready({ workspace, id }: Place) {
  const path = `/api/pigeonholes/${encodeURIComponent(id)}/ready?workspace=${encodeURIComponent(workspace)}`;
  const asked = useAsked<Readiness>(path, 60_000);
  const { data } = asked;
  return (
    <>
      <PageHead
        kind={`Ready for the event? ${workspace}/${id}`}
        title={data?.pigeonhole.name ?? `${workspace}/${id}`}
        note={data === undefined ? ' ' : <Verdict readiness={data} />}
      >
        <a class="button" href={address.pigeonhole(workspace, id)}>
          Its pigeonhole
        </a>
        <Button onPress={askAgain}>Look again</Button>
      </PageHead>
      <Panel title="What was looked at" id="checks">
        <AwaitAnswer asked={asked} lines={8}>
          {({ checks }) => <CheckList checks={checks} />}
        </AwaitAnswer>
      </Panel>
      {data === undefined ? null : <Canaries readiness={data} />}
    </>
  );
}

function Verdict({ readiness: { ready, checks } }: { readonly readiness: Readiness }) {
  const open = checks.filter(({ state }) => state !== 'ok').length;
  if (!ready) return <StateWord tone="bad">Not ready</StateWord>;
  return open === 0 ? (
    <StateWord tone="good">Ready</StateWord>
  ) : (
    <StateWord tone="warning">{`Ready, with ${open} to look at`}</StateWord>
  );
}
