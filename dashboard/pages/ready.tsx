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
import { counted } from '../../base/words.js';
import { useMay } from '../asking/caller.js';
import { askPerson } from '../asking/questions.js';

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
    <StateWord tone="warning">{`Ready, with ${counted(open, 'check')} to review`}</StateWord>
  );
}

interface Props {
  readonly readiness: {
    readonly pigeonhole: { readonly workspace: string; readonly id: number };
    readonly checks: readonly Check[];
  };
}

/** Each sink gets two steps of at most a minute; the sinks run in parallel. */
const patienceMs = 5 * 60_000;

/** Sends a test item through each sink and deletes it again, after a confirmation. */
export function Canaries({ readiness: { pigeonhole, checks } }: Props) {
  const [sent, setSent] = useState<readonly Check[] | null>(null);
  const mayOperate = useMay('operate');
  const sinks = checks.flatMap(({ id }) => (id.startsWith('sink:') ? [id.slice('sink:'.length)] : []));
  if (!mayOperate || sinks.length === 0) return null;
  const { workspace, id } = pigeonhole;
  const send = async (): Promise<void> => {
    const given = await askPerson({
      title: `Send a canary through ${sinks.join(', ')}?`,
      body: 'Each sink receives one test item named "pigeonpost canary", which is deleted again immediately. The result lists anything that cannot be deleted.',
      confirm: 'Send',
    });
    if (given === null) return;
    const answer = await carryOut(
      () =>
        ask<{ readonly canaries: readonly Check[] }>(`/api/pigeonholes/${id}/canaries`, {
          json: { workspace, sinks },
          patienceMs,
        }),
      ({ canaries }) =>
        canaries.every(({ state }) => state === 'ok') ? 'all canaries arrived' : 'some canaries failed: see the list',
    );
    if (answer !== undefined) setSent(answer.canaries);
  };
  return (
    <Panel title="Canaries" id="canaries" aside={<Button onPress={send}>Send a canary through each sink…</Button>}>
      {sent === null ? (
        <p class="empty">A canary is a test item that is sent through each sink and deleted again.</p>
      ) : (
        <CheckList checks={sent} />
      )}
    </Panel>
  );
}
