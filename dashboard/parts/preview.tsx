import { useEffect, useState } from 'preact/hooks';
import type { Preview as PreviewAnswer, PreviewedItem } from '../../operations/preview-sink.js';
import { post, refusalOf } from '../asking/ask.js';
import { PersonalCheck, ListChoice, Button, Field } from './controls.js';
import { plannedWords, reasonWords } from '../../sinks/reason-words.js';
import { counted } from '../../base/words.js';
import { Panel, Refusal, itemLink } from './panel.js';
import { StateWord } from './states.js';
import { address } from '../route.js';
import type { ToneAndWord } from '../words.js';

const shownAtOnce = 20;

type Found = { readonly preview: PreviewAnswer } | { readonly refused: string };

/**
 * Shows what the sink would receive for stored items under the current configuration file. Values are hidden unless the
 * user requests them. That request is audited.
 * @param isOpen whether the address of the page asks for the preview, so that it needs no press of the button
 */
export function Preview({ sink, isOpen }: { readonly sink: string; readonly isOpen: boolean }) {
  const [list, setList] = useState('');
  const [key, setKey] = useState('');
  const [personal, setPersonal] = useState(false);
  const [found, setFound] = useState<Found | null>(null);
  const preview = async (): Promise<void> => {
    try {
      const answer = await post(
        '/api/preview',
        {
          query: { personal: personal ? '1' : undefined },
          json: {
            sink,
            list: list === '' ? null : list,
            pigeonhole: null,
            key: key.trim() === '' ? null : key.trim(),
            limit: shownAtOnce,
            configuration: {},
            changedFrom: null,
          },
        },
        { patienceMs: 300_000 },
      );
      setFound({ preview: answer });
    } catch (error) {
      setFound({ refused: refusalOf(error, 'the preview failed') });
    }
  };
  useEffect(() => {
    if (isOpen) preview().catch(() => undefined); // it shows its own failures
  }, [isOpen]);
  return (
    <Panel
      title="Preview"
      id="preview"
      aside={
        <>
          what the current configuration file would send; <a href={address.mapping(sink)}>try another mapping</a>
        </>
      }
    >
      <div class="inside">
        <div class="form">
          <label>
            List
            <ListChoice value={list} onChoose={setList} />
          </label>
          <Field label="Key of one item" value={key} placeholder="any" onText={setKey} />
          <PersonalCheck checked={personal} onCheck={setPersonal} />
          <Button onPress={preview}>Preview</Button>
        </div>
        <div aria-live="polite">
          {found === null ? null : 'refused' in found ? (
            <Refusal text={found.refused} />
          ) : (
            <Shown preview={found.preview} />
          )}
        </div>
      </div>
    </Panel>
  );
}

function Shown({ preview: { items, counts, more, problems } }: { readonly preview: PreviewAnswer }) {
  return (
    <div class="previewed">
      {counts.length === 0 && items.length === 0 ? <p class="empty">No stored item matches.</p> : null}
      {problems.map((problem) => (
        <Refusal key={problem} text={problem} />
      ))}
      <ul class="counts">
        {counts.map((count) => (
          <li key={count.list}>
            <b>{count.list}</b>: {plannedWords(count)}
          </li>
        ))}
      </ul>
      {items.map((item) => (
        <One key={`${item.workspace}/${item.pigeonholeId} ${item.list} ${item.key}`} item={item} />
      ))}
      {more ? <p class="empty">{`The first ${counted(items.length, 'item')}; there are more.`}</p> : null}
    </div>
  );
}

function plannedState(now: PreviewedItem['now']): ToneAndWord {
  if (now.kind === 'send') return ['good', 'would be sent'];
  return now.kind === 'withhold' ? ['quiet', `withheld: ${reasonWords(now.reason)}`] : ['bad', `fails: ${now.cause}`];
}

function One({ item }: { readonly item: PreviewedItem }) {
  const { revision, now } = item;
  return (
    <details>
      <summary>
        <StateWord of={plannedState(now)} /> {itemLink(item)} <small>revision {revision}</small>
      </summary>
      {now.kind === 'send' ? (
        now.calls.map(({ method, address, body }, at) => (
          <div key={at}>
            <p>
              <b>{method}</b> <code>{address}</code>
            </p>
            {body === null ? null : (
              <pre class="code">{typeof body === 'string' ? body : JSON.stringify(body, null, 2)}</pre>
            )}
          </div>
        ))
      ) : now.kind === 'fail' ? (
        <p class="dim">{now.detail}</p>
      ) : null}
    </details>
  );
}
