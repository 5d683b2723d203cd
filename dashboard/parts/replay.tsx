import { useState } from 'preact/hooks';
import type { ReplayCount } from '../../operations/start-replay.js';
import type { SinkDetails } from '../../api/sinks.js';
import { carryOut, askPerson } from '../asking/act.js';
import { post } from '../asking/ask.js';
import { useMay } from '../asking/page-state.js';
import { ListChoice, Button, Field } from './controls.js';
import { replayWords } from '../../base/delivery-words.js';
import { plannedWords } from '../../sinks/reason-words.js';
import type { ListName } from '../../base/lists.js';
import { counted } from '../../base/words.js';
import { Panel } from './panel.js';
import { Ago } from './time.js';

interface Props {
  readonly sink: string;
  /** Replays in progress. */
  readonly open: SinkDetails['replays'];
}

/** Sends stored items again, for example after a changed mapping: counts them, asks for confirmation, then sends. */
export function Replay({ sink, open }: Props) {
  const [list, setList] = useState<ListName | ''>('');
  const [place, setPlace] = useState('');
  const [from, setFrom] = useState('');
  if (!useMay('operate')) return null;
  const wanted = (id: string, dryRun: boolean) => ({
    id,
    sink,
    lists: list === '' ? null : [list],
    pigeonhole: place.trim() === '' ? null : place.trim(),
    from: from === '' ? null : new Date(from).toISOString(),
    dryRun,
  });
  const replay = async (): Promise<void> => {
    const id = crypto.randomUUID();
    const found = await carryOut(
      () => post('/api/replays', { json: wanted(id, true) }, { patienceMs: 120_000 }),
      () => 'items counted; nothing has been sent yet',
    );
    if (found === undefined) return;
    const items = found.counts.reduce((sum, each) => sum + each.items, 0);
    const given = await askPerson({
      title: `Send ${counted(items, 'item')} to ${sink} again?`,
      body: <Counts counts={found.counts} />,
      confirm: 'Replay',
      field: { label: 'Reason', hint: 'Recorded in the audit log' },
    });
    if (given === null) return;
    await carryOut(
      () => post('/api/replays', { json: { ...wanted(id, false), ...(given === '' ? {} : { reason: given }) } }),
      () => `${counted(items, 'item')} queued for ${sink}`,
    );
  };
  return (
    <Panel title="Replay" id="replay" aside="sends stored items again, marked as a replay">
      <div class="inside">
        <div class="form">
          <label>
            List
            <ListChoice label="List to replay" value={list} onChoose={setList} />
          </label>
          <Field label="Pigeonhole" value={place} placeholder="all, or acme/101" onText={setPlace} />
          <label>
            Changed since
            <input type="datetime-local" value={from} onInput={(event) => setFrom(event.currentTarget.value)} />
          </label>
          <Button onPress={replay}>Count and replay…</Button>
        </div>
        {open.map(({ id, requestedBy, reason, since, ...progress }) => (
          <p key={id} role="status">
            Replay started <Ago at={since} />
            {requestedBy === null ? '' : ` by ${requestedBy}`}
            {reason === null ? '' : ` (${reason})`}: {replayWords(progress)}.
          </p>
        ))}
      </div>
    </Panel>
  );
}

function Counts({ counts }: { readonly counts: readonly ReplayCount[] }) {
  if (counts.length === 0) return <p>No stored item matches.</p>;
  return (
    <ul class="counts">
      {counts.map(({ list, ...count }) => (
        <li key={list}>
          <b>{list}</b>: {plannedWords(count)}
        </li>
      ))}
    </ul>
  );
}
