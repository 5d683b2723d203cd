import { useState } from 'preact/hooks';
import type { Why, WhySink } from '../../api/why.js';
import { authorOf } from '../author.js';
import { get, refusalOf } from '../asking/ask.js';
import { useRemembered, useMay } from '../asking/page-state.js';
import { useAsked } from '../asking/use-asked.js';
import { ListChoice, Button, Field } from '../parts/controls.js';
import { AwaitAnswer, PageHead, Facts, itemLink, Panel, Written, Refusal } from '../parts/panel.js';
import { deliveryTone, StateWord } from '../parts/states.js';
import { capitalized } from '../words.js';
import { Ago, Clock, Sentence, Until } from '../parts/time.js';
import { address } from '../route.js';
import { nameInWords } from '../../base/item-titles.js';
import { findingWords, parityWord } from '../../base/parity-words.js';
import { counted } from '../../base/words.js';

interface Named {
  readonly list: string | null;
  /** The item's key. It is not named `key`, because Preact reserves that property. */
  readonly named: string | null;
  readonly pigeonhole: string | null;
}

/** Shows an item's timeline: where it was read, what each sink received and answered, or why nothing was sent. */
export function Item({ list, named, pigeonhole }: Named) {
  const query = { list: list ?? '', key: named ?? '', pigeonhole: pigeonhole ?? undefined };
  const isAsked = list !== null && named !== null;
  const asked = useAsked(isAsked ? '/api/why' : null, { query }, 4000);
  return (
    <>
      <PageHead
        kind="Item"
        title={isAsked ? titleOf(asked.data?.items, `${list}:${named}`) : 'Find an item'}
        note={
          isAsked
            ? [`${list}:${named}${pigeonhole === null ? '' : ` in ${pigeonhole}`}`]
            : ['Shows where an item was read, what each sink received and answered, or why nothing was sent.']
        }
      />
      <Search list={list} named={named} />
      {isAsked ? (
        <AwaitAnswer asked={asked} lines={8}>
          {({ items }) =>
            items.length === 0 ? (
              <p class="refused">The ledger has no such item. The overview shows what has been read.</p>
            ) : (
              items.map((item) => <Timeline key={`${item.workspace}/${item.pigeonholeId}`} item={item} />)
            )
          }
        </AwaitAnswer>
      ) : null}
    </>
  );
}

/** Returns what the item is called; its list and key while that is not known. */
function titleOf(items: readonly Why[] | undefined, otherwise: string): string {
  const [first] = items ?? [];
  return first === undefined ? otherwise : capitalized(nameInWords(first.name));
}

function Search({ list, named }: Pick<Named, 'list' | 'named'>) {
  const [chosen, setChosen] = useRemembered('item list', list ?? 'qna-questions');
  const [text, setText] = useState(named ?? '');
  const go = (event: Event): void => {
    event.preventDefault();
    if (text.trim() !== '')
      location.hash = `${address.items}/${encodeURIComponent(chosen)}/${encodeURIComponent(text.trim())}`;
  };
  return (
    <form class="form" role="search" onSubmit={go}>
      <label>
        List
        <ListChoice value={chosen} onChoose={setChosen} hasAll={false} />
      </label>
      <Field label="Key" required data-finds value={text} placeholder="9001" onText={setText} />
      <button type="submit" class="main">
        Show
      </button>
    </form>
  );
}

function Timeline({ item }: { readonly item: Why }) {
  const { workspace, pigeonholeId, sessionId, key, revisions, deleted, consent, visibility, twin } = item;
  return (
    <>
      <Panel
        title={item.name.event ?? (pigeonholeId === 0 ? `Workspace ${workspace}` : `${workspace}/${pigeonholeId}`)}
        id={`item-${workspace}-${pigeonholeId}`}
        aside={
          <a href={address.pigeonhole(workspace, pigeonholeId)}>
            {sessionId === null ? 'Pigeonhole' : `Pigeonhole, ${item.name.session ?? `session ${sessionId}`}`}
          </a>
        }
      >
        <Facts
          facts={[
            ['State', deleted ? 'deleted' : 'exists', counted(item.revision, 'revision')],
            ['Last changed', <Ago at={item.lastChangedAt} />],
            [
              'Stream',
              ['read ', <Ago at={item.polledAt} never="not yet" />],
              item.failure ?? ['swept ', <Ago at={item.sweptAt} never="not yet" />],
            ],
            [
              'Person',
              visibility ?? (consent === null ? 'none' : 'their own record'),
              consent === null ? null : `consent ${consent}`,
            ],
            twin === null
              ? null
              : [
                  'Same question',
                  itemLink({ workspace, pigeonholeId, list: twin.list, key }),
                  twin.sinks.length === 0 ? 'no sink received it' : `received by ${twin.sinks.join(', ')}`,
                ],
            item.missingSince === null
              ? null
              : ['Missing', ['since ', <Clock at={item.missingSince} />], 'deleted once a second check confirms it'],
          ]}
        />
      </Panel>
      {item.audit.map((finding) => (
        <p key={`${finding.sink} ${finding.revision} ${finding.copy}`} class="refused">
          An audit <Ago at={finding.foundAt} /> found in {finding.sink}:{' '}
          {[parityWord(finding.class), ...findingWords(finding)].join('; ')}.
        </p>
      ))}
      <Content item={item} />
      <ol class="timeline" aria-label="Revisions, the newest first">
        {revisions.toReversed().map((revision) => (
          <li key={revision.revision}>
            <div class="when">
              <b>Revision {revision.revision}</b>
              <span>{revision.kind}</span>
              <small>
                <Clock at={revision.foundAt} />
              </small>
            </div>
            <div class="what">
              <p class="dim">
                {revision.readAs === null ? (
                  'Caused by another change, or by the item missing from its list.'
                ) : (
                  <>
                    Read as <code>{revision.readAs}</code>
                    {revision.requestId === null ? null : (
                      <>
                        , request ID <code>{revision.requestId}</code>
                      </>
                    )}
                    .
                  </>
                )}
                {revision.visibility === null ? null : ` Visibility: ${revision.visibility}.`}
              </p>
              <ul class="told">
                {revision.sinks.map((sink) => (
                  <SinkEntry key={`${sink.sink} ${sink.replay}`} entry={sink} />
                ))}
              </ul>
            </div>
          </li>
        ))}
      </ol>
    </>
  );
}

function SinkEntry({ entry }: { readonly entry: WhySink }) {
  const { sink, state, outcome, reason, words, detail, attempts, at, dueAt, identity, configuration, replay } = entry;
  return (
    <li>
      <a href={address.sink(sink)}>{sink}</a>
      <div>
        <StateWord of={[deliveryTone({ state, reason }), outcome]} />
        {words === null ? null : (
          <>
            {': '}
            {words}
            {words === reason ? null : (
              <>
                {' '}
                (<code>{reason}</code>)
              </>
            )}
          </>
        )}
        <small>
          {at === null ? null : <Clock at={at} />}
          {attempts > 1 ? `, ${attempts} attempts` : ''}
          {dueAt === null ? null : (
            <>
              , next attempt <Until at={dueAt} />
            </>
          )}
          {identity === null ? '' : identity ? ', with identity' : ', anonymous'}
          {configuration === null ? '' : `, configuration ${configuration}`}
          {replay === null ? '' : `, replay ${replay}`}
        </small>
        {detail === null ? null : (
          <p class="dim">
            <Sentence text={detail} />
          </p>
        )}
      </div>
    </li>
  );
}

/** Shows the content of the item if the user requests it. The request is audited. */
function Content({ item: { workspace, pigeonholeId, list, key } }: { readonly item: Why }) {
  const [data, setData] = useState<Readonly<Record<string, unknown>> | null | undefined>();
  const [name, setName] = useState<Why['name'] | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  if (!useMay('personal')) return null;
  const author = list === 'attendees' && data !== undefined ? Number(key) : authorOf(data);
  const show = async (): Promise<void> => {
    const params = { workspace, id: pigeonholeId, list, key };
    try {
      const answer = await get('/api/items/{workspace}/{id}/{list}/{key}', { params, query: { personal: '1' } });
      setData(answer.data ?? null);
      setName(answer.name);
      setRefused(null);
    } catch (error) {
      setRefused(refusalOf(error, 'the content cannot be shown'));
    }
  };
  return (
    <Panel
      title={data === undefined || name?.title == null ? 'Content' : name.title}
      id="says"
      aside={
        data === undefined ? (
          <Button onPress={show}>Show (audited)</Button>
        ) : (
          <Button onPress={() => setData(undefined)}>Hide</Button>
        )
      }
    >
      {refused === null ? null : <Refusal text={refused} />}
      {author === null ? null : (
        <p>
          {list === 'attendees' ? 'All about ' : 'By '}
          <a href={address.person(workspace, pigeonholeId, author)}>{name?.person ?? `attendee ${author}`}</a>
        </p>
      )}
      {data === undefined ? null : data === null ? <p class="empty">The item is deleted.</p> : <Written data={data} />}
    </Panel>
  );
}
