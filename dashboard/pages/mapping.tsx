import { useEffect, useRef, useState } from 'preact/hooks';
import type { FileMappingView } from '../../operations/drafts/draft-views.js';
import type { PreviewedOperation } from '../../operations/preview-sink.js';
import type { TriedCount, TriedItem, TriedMapping } from '../../operations/drafts/try-mapping.js';
import { counted, grouped } from '../../base/words.js';
import { reasonText, reasonWords } from '../../sinks/reason-words.js';
import { carryOut } from '../asking/act.js';
import { post, refusalOf } from '../asking/ask.js';
import { useMay, useRemembered } from '../asking/page-state.js';
import { useAsked } from '../asking/use-asked.js';
import { Button, Choice, PersonalCheck } from '../parts/controls.js';
import { DraftPanel } from '../parts/drafts.js';
import { AwaitAnswer, PageHead, Panel, Refusal } from '../parts/panel.js';
import { StateWord } from '../parts/states.js';
import { YamlEditor } from '../parts/yaml-editor.js';
import { address, type ItemOfMapping } from '../route.js';
import type { ToneAndWord } from '../words.js';

/** Time without a key press after which the mapping is tried. */
const pauseMs = 350;

interface MappingProps {
  readonly sink: string;
  /** The item that the address names. */
  readonly item: ItemOfMapping | null;
}

/** Edits the mapping of a sink, and shows what it does with stored items. The file changes only when a draft is applied. */
export function Mapping({ sink, item }: MappingProps) {
  const asked = useAsked('/api/configuration/mappings/{sink}', { params: { sink } }, 10_000);
  return (
    <>
      <PageHead
        kind={`Sink ${sink}`}
        title={`Mapping of ${sink}`}
        note={['pigeonpost tries it with stored items as you type, and sends nothing']}
      >
        <a class="button" href={address.sink(sink)}>
          Back to the sink
        </a>
      </PageHead>
      <AwaitAnswer asked={asked} lines={12}>
        {(mapping) => <Workbench key={mapping.sink} mapping={mapping} first={item} />}
      </AwaitAnswer>
    </>
  );
}

type Filter = 'all' | 'send' | 'differs' | `reason ${string}`;

function Workbench({ mapping, first }: { readonly mapping: FileMappingView; readonly first: ItemOfMapping | null }) {
  const { sink, draft } = mapping;
  const [written, setWritten] = useRemembered<string | null>(`mapping ${sink}`, null);
  const [item, setItem] = useState<ItemOfMapping | null>(first);
  const [filter, setFilter] = useState<Filter>('all');
  const [personal, setPersonal] = useState(false);
  const mayWrite = useMay('personal');
  const text = written ?? draft?.body ?? mapping.text;
  const isOfFile = text.trimEnd() === mapping.text.trimEnd();
  const { tried, refused, trying } = useTried(sink, { text: isOfFile ? null : text, item }, personal);
  const save = async (): Promise<void> => {
    const json = { text, base: mapping.text, replaces: draft?.version ?? null };
    const saved = await carryOut(
      () => post('/api/configuration/mappings/{sink}/draft', { params: { sink }, json }),
      () => `the draft of ${sink} is saved; an administrator can apply it`,
    );
    if (saved !== undefined) setWritten(null);
  };
  const choose = (next: TriedItem): void => {
    const { workspace, pigeonholeId, list, key } = next;
    setItem({ workspace, pigeonholeId, list, key });
    history.replaceState(null, '', address.mapping(sink, next));
  };
  const problems = tried?.problems ?? [];
  const isSaved = draft !== null && text.trimEnd() === draft.body.trimEnd();
  return (
    <>
      {refused === null ? null : <Refusal text={refused} />}
      <Counts tried={tried} trying={trying} filter={filter} onFilter={setFilter} />
      <div class="workbench">
        <Panel title="Item" id="item">
          <div class="inside">
            <PersonalCheck checked={personal} onCheck={setPersonal} />
            <ItemChoice tried={tried} filter={filter} onFilter={setFilter} onChoose={choose} />
            <Seen tried={tried} isShown={personal} />
          </div>
        </Panel>
        <Panel title="Mapping" id="mapping" aside={isSaved ? 'the draft' : isOfFile ? 'as in the file' : 'not saved'}>
          <div class="inside">
            <YamlEditor
              label={`Mapping of ${sink}`}
              text={text}
              onText={setWritten}
              problems={problems}
              readOnly={!mayWrite}
            />
            {mayWrite ? (
              <div class="actions">
                <Button look="main" onPress={save} disabled={isOfFile || isSaved || trying || problems.length > 0}>
                  Save as a draft
                </Button>
                {isOfFile ? null : (
                  <Button look="link" onPress={() => setWritten(mapping.text)}>
                    Back to the mapping in the file
                  </Button>
                )}
              </div>
            ) : (
              <p class="dim">Writing a mapping requires the roles operator and privacy, or admin.</p>
            )}
          </div>
        </Panel>
        <Panel title="What the sink would send" id="payload">
          <div class="inside">
            <Payload tried={tried} />
          </div>
        </Panel>
      </div>
      {draft === null ? null : <DraftPanel draft={draft} file={mapping} isOpen onGone={() => setWritten(null)} />}
    </>
  );
}

interface Tried {
  /** The last result; null before the first. */
  readonly tried: TriedMapping | null;
  readonly refused: string | null;
  readonly trying: boolean;
}

/** Tries the mapping after each pause in typing. An older request is cancelled. */
function useTried(
  sink: string,
  asked: { readonly text: string | null; readonly item: ItemOfMapping | null },
  personal: boolean,
): Tried {
  const [found, setFound] = useState<Tried>({ tried: null, refused: null, trying: true });
  const isFirst = useRef(true);
  const key = JSON.stringify([sink, asked, personal]);
  useEffect(() => {
    const ended = new AbortController();
    setFound((before) => ({ ...before, trying: true }));
    const run = async (): Promise<void> => {
      try {
        const tried = await post(
          '/api/configuration/mappings/{sink}/try',
          { params: { sink }, query: { personal: personal ? '1' : undefined }, json: asked },
          { signal: ended.signal },
        );
        if (!ended.signal.aborted)
          setFound((before) => ({ tried: afterMistake(tried, before.tried), refused: null, trying: false }));
      } catch (error) {
        if (ended.signal.aborted) return;
        setFound((before) => ({
          ...before,
          refused: refusalOf(error, 'the mapping could not be tried'),
          trying: false,
        }));
      }
    };
    const timer = setTimeout(() => void run(), isFirst.current ? 0 : pauseMs);
    isFirst.current = false;
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
    // The key contains all of them.
  }, [key]);
  return found;
}

/** While the mapping has a mistake, the results of the last one without stay in view. */
function afterMistake(tried: TriedMapping, before: TriedMapping | null): TriedMapping {
  return tried.problems.length > 0 && before !== null ? { ...before, problems: tried.problems } : tried;
}

interface FilterProps {
  readonly tried: TriedMapping | null;
  readonly filter: Filter;
  readonly onFilter: (filter: Filter) => void;
}

function Counts({ tried, trying, filter, onFilter }: FilterProps & { readonly trying: boolean }) {
  const items = tried?.counts.reduce((sum, count) => sum + count.items, 0) ?? 0;
  return (
    <section class="panel" aria-label="Counts">
      <div class="inside tried" aria-busy={trying} aria-live="polite">
        {tried === null ? (
          <p class="dim">Trying the mapping…</p>
        ) : items === 0 ? (
          <p class="empty">No item that this sink receives is stored yet.</p>
        ) : (
          <>
            <p>
              Tried with {tried.complete ? 'all ' : 'the newest '}
              <b>{counted(items, 'stored item')}</b>
              {tried.problems.length > 0 ? ' (before the mistake)' : ''}:
            </p>
            <ul>
              {tried.counts.map((count) => (
                <li key={count.list}>
                  <CountOf count={count} filter={filter} onFilter={onFilter} />
                </li>
              ))}
            </ul>
            {tried.warnings.map((warning) => (
              <p key={warning} class="refused">
                {warning}.
              </p>
            ))}
          </>
        )}
      </div>
    </section>
  );
}

interface CountProps extends Omit<FilterProps, 'tried'> {
  readonly count: TriedCount;
}

function CountOf({ count, filter, onFilter }: CountProps) {
  const { list, items, matching, sent, withheld, failed, differing } = count;
  const link = (to: Filter, words: string) => (
    <Button look="link" pressed={filter === to} onPress={() => onFilter(filter === to ? 'all' : to)}>
      {words}
    </Button>
  );
  return (
    <>
      <b>{list}</b> {grouped(items)}: {grouped(matching)} match, {link('send', `${grouped(sent)} would be sent`)}
      {Object.entries(withheld).map(([reason, n]) => (
        <span key={reason}>, {link(`reason ${reason}`, `${grouped(n)} withheld: ${reasonWords(reason)}`)}</span>
      ))}
      {failed === 0 ? '' : `, ${grouped(failed)} for which the mapping fails`}
      {differing === 0 ? '' : <>, {link('differs', `${grouped(differing)} differ from what was sent`)}</>}
    </>
  );
}

function isWithin(filter: Filter, { result, reason, differs }: TriedItem): boolean {
  if (filter === 'all') return true;
  if (filter === 'send') return result === 'send';
  return filter === 'differs' ? differs : filter === `reason ${reason}`;
}

interface ItemChoiceProps extends FilterProps {
  readonly onChoose: (item: TriedItem) => void;
}

/** Leads through the tried items, all or some of them. */
function ItemChoice({ tried, filter, onFilter, onChoose }: ItemChoiceProps) {
  const all = tried?.items ?? [];
  const items = all.filter((each) => isWithin(filter, each));
  const shown = tried?.item ?? null;
  const at = items.findIndex((each) => shown !== null && isSame(each, shown));
  const current = items[at];
  const reasons = [...new Set(all.flatMap(({ reason }) => reason ?? []))];
  const go = (to: number) => () => onChoose(items[to]!);
  // A filter leads to its first item.
  useEffect(() => {
    if (filter !== 'all' && at === -1 && items[0] !== undefined) onChoose(items[0]);
  }, [filter]);
  return (
    <>
      <div class="actions">
        <Choice label="Items" value={filter} onChoose={(value) => onFilter(value as Filter)}>
          {[
            ['all', 'all items'],
            ['send', 'would be sent'],
            ...reasons.map((reason) => [`reason ${reason}`, reasonWords(reason)]),
            ['differs', 'differ from what was sent'],
          ]}
        </Choice>
        <Button label="Previous item" disabled={at <= 0} onPress={go(at - 1)}>
          ‹
        </Button>
        <Button label="Next item" disabled={at >= items.length - 1} onPress={go(at + 1)}>
          ›
        </Button>
        <span class="dim">{items.length === 0 ? 'none' : `${Math.max(at, 0) + 1} of ${grouped(items.length)}`}</span>
      </div>
      {shown === null ? null : (
        <p>
          <b>{current?.title ?? current?.noun ?? shown.list}</b>
          {current?.session === null || current?.session === undefined ? '' : ` in “${current.session}”`}{' '}
          <a href={address.item(shown.list, shown.key, `${shown.workspace}/${shown.pigeonholeId}`)}>
            {shown.list}:{shown.key}
          </a>
        </p>
      )}
    </>
  );
}

function isSame(one: ItemOfMapping, other: ItemOfMapping): boolean {
  const { workspace, pigeonholeId, list, key } = other;
  return one.key === key && one.list === list && one.pigeonholeId === pigeonholeId && one.workspace === workspace;
}

/** The data that expressions see of the item. */
function Seen({ tried, isShown }: { readonly tried: TriedMapping | null; readonly isShown: boolean }) {
  const item = tried?.item ?? null;
  const mayShow = useMay('personal');
  if (item === null) return null;
  if (item.sees === null) {
    const hidden = mayShow
      ? isShown
        ? 'The sink may not receive this item, so its expressions see nothing of it.'
        : 'Check “Show names and texts” to see its fields as expressions see them.'
      : 'Its fields are shown to people with the role privacy or admin.';
    return <p class="dim">{hidden}</p>;
  }
  return (
    <>
      {Object.entries(item.sees)
        .filter(([, value]) => value !== null)
        .map(([part, value]) => (
          <details key={part} open={part === 'item'}>
            <summary>
              <code>{part}</code>
            </summary>
            <pre class="code" tabIndex={0}>
              {JSON.stringify(value, null, 2)}
            </pre>
          </details>
        ))}
    </>
  );
}

function stateOf(operation: PreviewedOperation): ToneAndWord {
  if (operation.kind === 'send') return ['good', 'would be sent'];
  return operation.kind === 'withhold' ? ['warning', 'withheld'] : ['bad', 'the mapping fails'];
}

function Payload({ tried }: { readonly tried: TriedMapping | null }) {
  const item = tried?.item ?? null;
  if (item === null) return <p class="empty">No item is chosen.</p>;
  const differs = item.before !== null && JSON.stringify(item.before) !== JSON.stringify(item.now);
  return (
    <>
      <Calls operation={item.now} />
      {differs ? (
        <details>
          <summary>With the running configuration</summary>
          <Calls operation={item.before!} />
        </details>
      ) : (
        <p class="dim">The running configuration gives the same.</p>
      )}
    </>
  );
}

/** The calls of an operation, or why there is none. */
export function Calls({ operation }: { readonly operation: PreviewedOperation }) {
  return (
    <>
      <p>
        <StateWord of={stateOf(operation)} />
      </p>
      {operation.kind === 'withhold' ? <p>Nothing, because {reasonText(operation.reason)}.</p> : null}
      {operation.kind === 'fail' ? <p>{operation.detail}</p> : null}
      {operation.kind === 'send'
        ? operation.calls.map(({ method, address: to, body }, at) => (
            <div key={at}>
              <p>
                <b>{method}</b> <code>{to}</code>
              </p>
              {body === null ? null : (
                <pre class="code" tabIndex={0}>
                  {typeof body === 'string' ? body : JSON.stringify(body, null, 2)}
                </pre>
              )}
            </div>
          ))
        : null}
    </>
  );
}
