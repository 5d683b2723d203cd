import { useState } from 'preact/hooks';
import { carryOut } from '../asking/act.js';
import { ask } from '../asking/ask.js';
import { useMay } from '../asking/caller.js';
import { askPerson } from '../asking/questions.js';
import { Button } from './button.js';
import { type Check, CheckList } from './check-list.js';
import { Panel } from './panel.js';

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
