import { useAsked, askAgain } from '../asking/use-asked.js';
import { AwaitAnswer } from '../parts/await-answer.js';
import { Button } from '../parts/button.js';
import { PageHead } from '../parts/page-head.js';
import { Panel } from '../parts/panel.js';
import { StateWord, type Tone } from '../parts/state-word.js';
import { Sentence } from '../parts/time.js';
import { address } from '../route.js';
import { capitalized } from '../words.js';

/** As `GET /api/pigeonholes/{id}/ready` answers. */
interface Readiness {
  readonly pigeonhole: { readonly workspace: string; readonly id: number; readonly name: string | null };
  readonly ready: boolean;
  readonly checks: readonly Check[];
}

interface Check {
  readonly id: string;
  readonly label: string;
  readonly state: 'ok' | 'warning' | 'failed' | 'unknown';
  readonly says: string;
  readonly todo?: string | null;
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
          {({ checks }) => (
            <ul class="checks">
              {checks
                .toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))
                .map((check) => (
                  <OneCheck key={check.id} check={check} />
                ))}
            </ul>
          )}
        </AwaitAnswer>
      </Panel>
    </>
  );
}

const order: readonly Check['state'][] = ['failed', 'warning', 'unknown', 'ok'];

function Verdict({ readiness: { ready, checks } }: { readonly readiness: Readiness }) {
  const open = checks.filter(({ state }) => state !== 'ok').length;
  if (!ready) return <StateWord tone="bad">Not ready</StateWord>;
  return open === 0 ? (
    <StateWord tone="good">Ready</StateWord>
  ) : (
    <StateWord tone="warning">{`Ready, with ${open} to look at`}</StateWord>
  );
}

const shown: Readonly<Record<Check['state'], readonly [Tone, string]>> = {
  ok: ['good', 'OK'],
  warning: ['warning', 'look at this'],
  failed: ['bad', 'not ready'],
  unknown: ['quiet', 'not known'],
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
