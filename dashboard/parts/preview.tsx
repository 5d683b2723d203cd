import { useState } from 'preact/hooks';
import type { Preview as PreviewAnswer, PreviewedItem } from '../../operations/preview-sink.js';
import { post, Problem } from '../asking/ask.js';
import { PersonalCheck, ListChoice } from './inputs.js';
import { address } from '../route.js';
import { plannedWords, reasonWords } from '../../base/delivery-words.js';
import { counted } from '../../base/words.js';
import { capitalized } from '../words.js';
import { Button } from './button.js';
import { Panel } from './panel.js';
import { StateWord } from './state-word.js';

const shownAtOnce = 20;

type Found = { readonly preview: PreviewAnswer } | { readonly refused: string };

/**
 * Shows what the sink would receive for stored items under the current configuration file. Values are hidden unless the
 * user requests them. That request is audited.
 */
export function Preview({ sink }: { readonly sink: string }) {
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
      setFound({ refused: error instanceof Problem ? error.message : 'the preview failed' });
    }
  };
  return (
    <Panel title="Preview" id="preview" aside="what the current configuration file would send; sends nothing">
      <div class="inside">
        <div class="form">
          <label>
            List
            <ListChoice value={list} onChoose={setList} />
          </label>
          <label>
            Key of one item
            <input value={key} placeholder="any" onInput={(event) => setKey(event.currentTarget.value)} />
          </label>
          <PersonalCheck checked={personal} onCheck={setPersonal} />
          <Button onPress={preview}>Preview</Button>
        </div>
        <div aria-live="polite">
          {found === null ? null : 'refused' in found ? (
            <p class="refused">{capitalized(found.refused)}.</p>
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
        <p key={problem} class="refused">
          {capitalized(problem)}.
        </p>
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

function One({ item: { workspace, pigeonholeId, list, key, revision, now } }: { readonly item: PreviewedItem }) {
  return (
    <details>
      <summary>
        {now.kind === 'send' ? (
          <StateWord tone="good">would be sent</StateWord>
        ) : now.kind === 'withhold' ? (
          <StateWord tone="quiet">{`withheld: ${reasonWords(now.reason)}`}</StateWord>
        ) : (
          <StateWord tone="bad">{`fails: ${now.cause}`}</StateWord>
        )}{' '}
        <a href={address.item(list, key, `${workspace}/${pigeonholeId}`)}>
          {list}:{key}
        </a>{' '}
        <small>revision {revision}</small>
      </summary>
      {now.kind === 'send' ? (
        <pre class="code">{JSON.stringify(now.operation, null, 2)}</pre>
      ) : now.kind === 'fail' ? (
        <p class="detail">{now.detail}</p>
      ) : null}
    </details>
  );
}
