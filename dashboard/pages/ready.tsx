import { useAsked, askAgain } from '../asking/use-asked.js';
import { AwaitAnswer } from '../parts/await-answer.js';
import { Button } from '../parts/button.js';
import { type Check, CheckList } from '../parts/check-list.js';
import { PageHead } from '../parts/page-head.js';
import { Panel } from '../parts/panel.js';
import { StateWord } from '../parts/state-word.js';
import { address } from '../route.js';
import { useState } from 'preact/hooks';
import { carryOut } from '../asking/act.js';
import { ask } from '../asking/ask.js';
import { useMay } from '../asking/caller.js';
import { askPerson } from '../asking/questions.js';

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

interface Props {
  readonly readiness: {
    readonly pigeonhole: { readonly workspace: string; readonly id: number };
    readonly checks: readonly Check[];
  };
}

/** Two steps of a minute at each sink, side by side. */
const patienceMs = 5 * 60_000;

/** Tries each sink with an invented item that is taken back, once a person has agreed. */
export function Canaries({ readiness: { pigeonhole, checks } }: Props) {
  const [flown, setFlown] = useState<readonly Check[] | null>(null);
  const mayOperate = useMay('operate');
  const sinks = checks.flatMap(({ id }) => (id.startsWith('sink:') ? [id.slice('sink:'.length)] : []));
  if (!mayOperate || sinks.length === 0) return null;
  const { workspace, id } = pigeonhole;
  const send = async (): Promise<void> => {
    const given = await askPerson({
      title: `Send a canary through ${sinks.join(', ')}?`,
      body: 'Each gets one invented item, named "pigeonpost canary", which is taken back at once. What stays there is said.',
      confirm: 'Send them',
    });
    if (given === null) return;
    const answer = await carryOut(
      () =>
        ask<{ readonly canaries: readonly Check[] }>(`/api/pigeonholes/${id}/canaries`, {
          json: { workspace, sinks },
          patienceMs,
        }),
      ({ canaries }) => (canaries.every(({ state }) => state === 'ok') ? 'all came through' : 'look at what they say'),
    );
    if (answer !== undefined) setFlown(answer.canaries);
  };
  return (
    <Panel title="Canaries" id="canaries" aside={<Button onPress={send}>Send a canary through each sink…</Button>}>
      {flown === null ? (
        <p class="empty">What no check can tell: an invented item goes through each sink and is taken back.</p>
      ) : (
        <CheckList checks={flown} />
      )}
    </Panel>
  );
}
