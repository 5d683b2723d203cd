import { useEffect, useState } from 'preact/hooks';
import type { AnswerAt } from '../../api/routes.js';
import type { TriedSink } from '../../operations/drafts/connect-sink.js';
import type { TriedItem } from '../../operations/drafts/try-mapping.js';
import type { DraftView } from '../../operations/drafts/draft-views.js';
import { counted, grouped } from '../../base/words.js';
import { reasonWords } from '../../sinks/reason-words.js';
import { carryOut } from '../asking/act.js';
import { post, refusalOf } from '../asking/ask.js';
import { useMay } from '../asking/page-state.js';
import { useAsked } from '../asking/use-asked.js';
import { Button, Choice, CommittedInput, PersonalCheck } from '../parts/controls.js';
import { applyDraft, DraftPanel } from '../parts/drafts.js';
import { AwaitAnswer, itemLink, PageHead, Panel, Refusal } from '../parts/panel.js';
import { StateWord } from '../parts/states.js';
import { Calls } from './mapping.js';
import { address } from '../route.js';

type Forms = AnswerAt<'get', '/api/configuration/connect'>;
type Form = Forms['types'][number];
type Field = Form['fields'][number];
type Answers = Readonly<Record<string, string>>;

/** Connects a destination: its form, what it offers, the checks, a proposed mapping, and three real items. */
export function Connect({ type }: { readonly type: string | null }) {
  const mayConnect = useMay('administer');
  const asked = useAsked(mayConnect ? '/api/configuration/connect' : null, {}, 60_000);
  const drafts = useAsked(mayConnect ? '/api/configuration/drafts' : null, {}, 10_000);
  return (
    <>
      <PageHead
        kind="Configuration"
        title="Connect a sink"
        note={['A new sink only counts what it would send, until you approve it']}
      />
      {mayConnect ? (
        <AwaitAnswer asked={asked} lines={8}>
          {(forms) => <Wizard forms={forms} type={type} file={drafts.data} />}
        </AwaitAnswer>
      ) : (
        <p>
          Connecting a sink requires the role admin. On the machine where pigeonpost runs,{' '}
          <code>pigeonpost init --add</code> does the same.
        </p>
      )}
    </>
  );
}

interface DraftFile {
  readonly file: string;
  readonly writable: boolean;
  readonly drafts: readonly DraftView[];
}

interface WizardProps {
  readonly forms: Forms;
  readonly type: string | null;
  readonly file: DraftFile | undefined;
}

function Wizard({ forms, type, file }: WizardProps) {
  const form = forms.types.find((each) => each.type === type) ?? null;
  return (
    <>
      <Panel title="What do you want to connect?" id="type">
        <ul class="inside types">
          {forms.types.map((each) => (
            <li key={each.type}>
              <a href={address.connect(each.type)} aria-current={each.type === type ? 'true' : undefined}>
                <b>{each.title}</b>
                <small>{each.makes}</small>
              </a>
            </li>
          ))}
        </ul>
      </Panel>
      {form === null ? null : <NewSink key={form.type} form={form} syncs={forms.syncs} file={file} />}
    </>
  );
}

function suggestedAnswers({ fields }: Form): Answers {
  return Object.fromEntries(fields.flatMap(({ key, suggested }) => (suggested === null ? [] : [[key, suggested]])));
}

interface NewSinkProps {
  readonly form: Form;
  readonly syncs: readonly string[];
  readonly file: DraftFile | undefined;
}

function NewSink({ form, syncs, file }: NewSinkProps) {
  const [name, setName] = useState(form.name);
  const [sync, setSync] = useState(syncs[0] ?? '');
  const [given, setGiven] = useState(() => suggestedAnswers(form));
  const [personal, setPersonal] = useState(false);
  const [done, setDone] = useState(false);
  const json = { type: form.type, name, sync, given };
  const { tried, refused, trying } = useTriedSink(json, personal);
  const draft = file?.drafts.find(({ sink }) => sink === name) ?? null;
  const answer = (key: string) => (text: string) => setGiven((before) => ({ ...before, [key]: text }));
  const isReady = tried?.body != null && !trying;
  const save = async (): Promise<DraftView | undefined> =>
    await carryOut(
      () => post('/api/configuration/connect/draft', { json: { ...json, replaces: draft?.version ?? null } }),
      () => `the draft of ${name} is saved`,
    );
  const connect = async (): Promise<void> => {
    const saved = await save();
    if (saved !== undefined && file !== undefined) setDone(await applyDraft(saved, file));
  };
  if (done) return <Connected name={name} />;
  const of = (key: string) => tried?.problems.filter((problem) => problem.key === key) ?? [];
  const rest = tried?.problems.filter(({ key }) => !knownKeys(form).has(key)) ?? [];
  return (
    <>
      <Panel title={form.title} id="form" aside={trying ? 'checking…' : undefined}>
        <div class="inside connect" aria-busy={trying}>
          {form.fields.map((field) => (
            <Asked
              key={field.key}
              field={field}
              value={given[field.key] ?? ''}
              onAnswer={answer(field.key)}
              tried={tried}
              problems={of(field.key)}
            />
          ))}
          <label>
            Name of the sink
            <CommittedInput value={name} onCommit={setName} />
          </label>
          {of('name').map(({ message }) => (
            <Refusal key={message} text={message} />
          ))}
          {syncs.length < 2 ? null : (
            <label>
              Sync that delivers to it
              <Choice label="Sync" value={sync} onChoose={setSync}>
                {syncs.map((each) => [each, each])}
              </Choice>
            </label>
          )}
          {refused === null ? null : <Refusal text={refused} />}
          {rest.map(({ key, message }) => (
            <Refusal key={`${key} ${message}`} text={key === '' ? message : `${key}: ${message}`} />
          ))}
        </div>
      </Panel>
      {tried === null ? null : <Checks tried={tried} />}
      {tried?.body == null ? null : (
        <Proposed name={name} body={tried.body} tried={tried} personal={personal} onPersonal={setPersonal} />
      )}
      <div class="actions">
        {file?.writable === true ? (
          <Button look="main" onPress={connect} disabled={!isReady || !tried.secrets.every(({ isSet }) => isSet)}>
            Connect {form.title}…
          </Button>
        ) : null}
        <Button onPress={save} disabled={!isReady}>
          Save as a draft
        </Button>
      </div>
      {draft === null || file === undefined ? null : <DraftPanel draft={draft} file={file} onGone={() => undefined} />}
    </>
  );
}

function knownKeys({ fields }: Form): ReadonlySet<string> {
  return new Set(['name', ...fields.map(({ key }) => key)]);
}

function Connected({ name }: { readonly name: string }) {
  return (
    <Panel title={`${name} is connected`} id="connected">
      <div class="inside">
        <p>
          It counts what it would send. Look at it, correct the mapping if necessary, then select <b>Start sending</b>{' '}
          on its page.
        </p>
        <div class="actions">
          <a class="button main" href={address.sink(name)}>
            Open {name}
          </a>
          <a class="button" href={address.mapping(name)}>
            Try its mapping
          </a>
        </div>
      </div>
    </Panel>
  );
}

interface AskedProps {
  readonly field: Field;
  readonly value: string;
  readonly onAnswer: (text: string) => void;
  readonly tried: TriedSink | null;
  readonly problems: TriedSink['problems'];
}

/** One field with its hint, its state, and the values that the destination offers. */
function Asked({ field, value, onAnswer, tried, problems }: AskedProps) {
  const { key, label, kind, hint, optional } = field;
  const choices = tried?.choices[key];
  const secret = tried?.secrets.find((each) => each.key === key);
  const offered = choices?.kind === 'offered' ? choices.items : null;
  return (
    <div>
      <label>
        {kind === 'secret' ? `${label}: name of the variable, or file:/path` : label}
        {optional ? ' (optional)' : ''}
        {offered === null || kind === 'choices' ? (
          <CommittedInput value={value} onCommit={onAnswer} />
        ) : (
          <Choice label={label} value={value} onChoose={onAnswer}>
            {[
              ['', optional ? 'none' : 'choose…'],
              ...offered.map((each) => [
                each.value,
                each.note === undefined ? each.label : `${each.label} (${each.note})`,
              ]),
            ]}
          </Choice>
        )}
      </label>
      {offered === null || kind !== 'choices' ? null : (
        <Several items={offered} value={value} onAnswer={onAnswer} label={label} />
      )}
      <small>{hint}</small>
      {choices?.kind === 'refused' ? <small class="refused">{choices.detail}</small> : null}
      {secret === undefined ? null : <SecretState secret={secret} />}
      {problems.map(({ message }) => (
        <Refusal key={message} text={message} />
      ))}
    </div>
  );
}

function SecretState({ secret: { reference, isSet } }: { readonly secret: TriedSink['secrets'][number] }) {
  if (isSet) return <StateWord of={['good', `pigeonpost sees ${reference}`]} />;
  const isFile = reference.startsWith('${file:');
  return (
    <p>
      <StateWord of={['warning', `pigeonpost does not see ${reference}`]} />{' '}
      {isFile
        ? 'Write the secret into this file on the machine where pigeonpost runs.'
        : 'Set it where pigeonpost runs, and restart it; or write the secret to a file, and enter file: and its path here.'}
    </p>
  );
}

interface SeveralProps {
  readonly items: readonly { readonly value: string; readonly label: string; readonly note?: string | undefined }[];
  readonly value: string;
  readonly onAnswer: (text: string) => void;
  readonly label: string;
}

/** Check boxes for any number of values. */
function Several({ items, value, onAnswer, label }: SeveralProps) {
  const chosen = value.split(',').filter(Boolean);
  const toggle = (each: string): void =>
    onAnswer((chosen.includes(each) ? chosen.filter((other) => other !== each) : [...chosen, each]).join(','));
  return (
    <details>
      <summary>Choose from {counted(items.length, 'value')}</summary>
      <fieldset class="several" aria-label={label}>
        {items.map((each) => (
          <label key={each.value} class="check">
            <input type="checkbox" checked={chosen.includes(each.value)} onChange={() => toggle(each.value)} />
            {each.label} {each.note === undefined || each.note === each.label ? null : <small>{each.note}</small>}
          </label>
        ))}
      </fieldset>
    </details>
  );
}

function Checks({ tried: { checks } }: { readonly tried: TriedSink }) {
  if (checks === null) return null;
  return (
    <Panel title="Checks" id="checks" aside={'the same as "pigeonpost check"'}>
      <ul class="inside plain">
        {checks.map(({ ok, warning, text }) => (
          <li key={text}>
            <StateWord of={ok ? (warning ? ['warning', 'check this'] : ['good', 'ok']) : ['bad', 'problem']} /> {text}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function nameOf({ list, key }: TriedSink['examples'][number], items: readonly TriedItem[]): string {
  const found = items.find((each) => each.list === list && each.key === key);
  if (found === undefined) return list;
  return `${found.title ?? found.noun}${found.session === null ? '' : ` in “${found.session}”`}`;
}

interface ProposedProps {
  readonly name: string;
  readonly body: string;
  readonly tried: TriedSink;
  readonly personal: boolean;
  readonly onPersonal: (personal: boolean) => void;
}

function Proposed({ name, body, tried: { tried, examples }, personal, onPersonal }: ProposedProps) {
  return (
    <Panel title="What it would send" id="proposed">
      <div class="inside proposed">
        <div>
          <p class="dim">These lines are added to pigeonpost.yaml. You can change the mapping afterwards.</p>
          <pre class="code" tabIndex={0}>{`${name}:\n${body.replaceAll(/^(?=.)/gm, '  ')}`}</pre>
        </div>
        {tried === null ? null : (
          <div>
            <PersonalCheck checked={personal} onCheck={onPersonal} />
            <ul class="plain">
              {tried.counts.map(({ list, items, sent, withheld, failed }) => (
                <li key={list}>
                  <b>{list}</b>: of {tried.complete ? '' : 'the newest '}
                  {counted(items, 'stored item')}, {grouped(sent)} would be sent
                  {Object.entries(withheld).map(([reason, n]) => `, ${grouped(n)} withheld: ${reasonWords(reason)}`)}
                  {failed === 0 ? '' : `, ${grouped(failed)} for which the mapping fails`}
                </li>
              ))}
              {tried.counts.length === 0 ? <li>No item that it would receive is stored yet.</li> : null}
            </ul>
            {tried.warnings.map((warning) => (
              <Refusal key={warning} text={warning} />
            ))}
            {examples.map((item) => (
              <div key={`${item.list}:${item.key}`} class="example">
                <h3>{nameOf(item, tried.items)}</h3>
                <p>{itemLink(item)}</p>
                <Calls operation={item.now} />
              </div>
            ))}
          </div>
        )}
      </div>
    </Panel>
  );
}

const pauseMs = 400;

interface Tried {
  readonly tried: TriedSink | null;
  readonly refused: string | null;
  readonly trying: boolean;
}

function useTriedSink(
  json: { readonly type: string; readonly name: string; readonly sync: string; readonly given: Answers },
  personal: boolean,
): Tried {
  const [found, setFound] = useState<Tried>({ tried: null, refused: null, trying: true });
  const key = JSON.stringify([json, personal]);
  useEffect(() => {
    const ended = new AbortController();
    setFound((before) => ({ ...before, trying: true }));
    const run = async (): Promise<void> => {
      try {
        const asked = { query: { personal: personal ? '1' : undefined }, json };
        const tried = await post('/api/configuration/connect/try', asked, { signal: ended.signal, patienceMs: 60_000 });
        if (!ended.signal.aborted) setFound({ tried, refused: null, trying: false });
      } catch (error) {
        if (ended.signal.aborted) return;
        setFound((before) => ({ ...before, refused: refusalOf(error, 'the sink could not be tried'), trying: false }));
      }
    };
    const timer = setTimeout(() => void run(), pauseMs);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
    // The key contains all of them.
  }, [key]);
  return found;
}
