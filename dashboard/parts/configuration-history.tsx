import { useState } from 'preact/hooks';
import type {
  ConfigurationComparison,
  ConfigurationHistory,
  EditionView,
} from '../../operations/configurations/history.js';
import { counted } from '../../base/words.js';
import { askPerson, carryOut } from '../asking/act.js';
import { useAddressFilter } from '../asking/address-filter.js';
import { post } from '../asking/ask.js';
import { useMay } from '../asking/page-state.js';
import { useAsked } from '../asking/use-asked.js';
import { capitalized } from '../words.js';
import { Button, Choice } from './controls.js';
import { AskedPanel, AwaitAnswer, type Column, Panel, Table } from './panel.js';
import { StateWord } from './states.js';
import { Ago, Clock } from './time.js';

const rarely = 10_000;

/** Shows the configurations that were current, compares two of them, and makes an earlier one current again. */
export function ConfigurationHistory() {
  const history = useAsked('/api/configurations', { query: { limit: 50 } }, rarely);
  const mayApply = useMay('administer');
  return (
    <>
      {history.data === undefined ? null : <FileState file={history.data.file} />}
      {mayApply && history.data !== undefined ? <Comparison history={history.data} /> : null}
      <AskedPanel title="History" id="history" asked={history} lines={3}>
        {(data) => (
          <Table
            columns={mayApply ? [...columns, undoColumn(data)] : columns}
            rows={data.items}
            keyOf={({ number }) => number}
          />
        )}
      </AskedPanel>
      {mayApply && history.data !== undefined ? <FileText number={history.data.current} /> : null}
    </>
  );
}

function FileState({ file: { path, differs, problem } }: Pick<ConfigurationHistory, 'file'>) {
  if (problem !== null) return <pre class="code refused">{capitalized(problem)}</pre>;
  if (!differs) return null;
  return (
    <p class="refused" role="status">
      {path} has changes that were not applied: compare the file, then apply it. Until then, its next start would run
      another configuration.
    </p>
  );
}

function Comparison({ history }: { readonly history: ConfigurationHistory }) {
  const { current, items, file } = history;
  const [filter, change] = useAddressFilter(['from', 'to']);
  const numbers = items.map(({ number }) => String(number));
  const from = numbers.includes(filter.from) ? filter.from : (numbers[1] ?? numbers[0]!);
  const usual = file.differs && file.problem === null ? 'file' : String(current);
  const to = filter.to === 'file' || numbers.includes(filter.to) ? filter.to : usual;
  const asked = useAsked(
    '/api/configurations/compare',
    { query: { from: Number(from), to: to === 'file' ? 'file' : Number(to) } },
    rarely,
  );
  if (numbers.length < 2 && !file.differs) return null;
  const name = (number: string): readonly [string, string] => [
    number,
    number === String(current) ? `${number} (running)` : number,
  ];
  return (
    <Panel
      title="Compare"
      id="compare"
      aside={
        <>
          configuration{' '}
          <Choice label="Compare configuration" value={from} onChoose={(chosen) => change({ from: chosen, to })}>
            {numbers.map(name)}
          </Choice>{' '}
          with{' '}
          <Choice label="With configuration" value={to} onChoose={(chosen) => change({ from, to: chosen })}>
            {[...numbers.map(name), ['file', 'the file']]}
          </Choice>
        </>
      }
    >
      <AwaitAnswer asked={asked} lines={5}>
        {(compared) => <Lines compared={compared} />}
      </AwaitAnswer>
    </Panel>
  );
}

const marks = { same: ' ', added: '+', removed: '−', skipped: '…' } as const;
const spoken = { same: null, added: 'added: ', removed: 'removed: ', skipped: null } as const;

function Lines({ compared: { changes, lines } }: { readonly compared: ConfigurationComparison }) {
  if (lines !== null && lines.length === 0) return <p class="empty">The two files are equal.</p>;
  return (
    <>
      {changes.length === 0 ? (
        <p class="inside">Only comments or the order of keys differ.</p>
      ) : (
        <ul class="changes inside">
          {changes.map(({ kind, what, name, keys }) => (
            <li key={`${what} ${name}`}>
              <b>
                {capitalized(what)} {name}
              </b>{' '}
              is {kind}
              {keys.length === 0 ? null : (
                <>
                  :{' '}
                  {keys.map((key, position) => (
                    <>
                      {position === 0 ? null : ', '}
                      <code key={key}>{key}</code>
                    </>
                  ))}
                </>
              )}
            </li>
          ))}
        </ul>
      )}
      {lines === null ? (
        <p class="empty">The lines cannot be shown, because the file of one of the two was not kept.</p>
      ) : (
        <pre class="diff" tabIndex={0} aria-label="Lines that differ">
          {lines.map(({ kind, text }, position) => (
            <span key={position} class={kind}>
              <i aria-hidden="true">{marks[kind]}</i>
              {spoken[kind] === null ? null : <span class="unseen">{spoken[kind]}</span>}
              {text}
              {'\n'}
            </span>
          ))}
        </pre>
      )}
    </>
  );
}

const maxChanges = 4;

const columns: readonly Column<EditionView>[] = [
  [
    'Configuration',
    'name',
    ({ number, isCurrent }) => (
      <>
        {number} {isCurrent ? <StateWord of={['good', 'running']} /> : null}
      </>
    ),
  ],
  [
    'Applied',
    '',
    ({ appliedAt }) => (
      <>
        <Clock at={appliedAt} />
        <small class="below">
          <Ago at={appliedAt} />
        </small>
      </>
    ),
  ],
  ['By', '', ({ by }) => by ?? 'the start of a process'],
  [
    'Changes',
    'mid',
    ({ changes }) => {
      const shown = changes.slice(0, maxChanges).map(({ kind, what, name }) => `${what} ${name} ${kind}`);
      const more = changes.length - shown.length;
      if (changes.length === 0) return <span class="dim">–</span>;
      return `${shown.join(', ')}${more > 0 ? `, ${counted(more, 'more change')}` : ''}`;
    },
  ],
];

function undoColumn({ file }: ConfigurationHistory): Column<EditionView> {
  return [
    '',
    'number',
    ({ number, undo, isCurrent }) => {
      if (isCurrent) return null;
      return undo === null ? (
        <Button look="link" label={`Apply again… (configuration ${number})`} onPress={() => restore(number, file)}>
          Apply again…
        </Button>
      ) : (
        <small class="dim">{undo}</small>
      );
    },
  ];
}

async function restore(number: number, { path }: ConfigurationHistory['file']): Promise<void> {
  const given = await askPerson({
    title: `Apply configuration ${number} again?`,
    body: `pigeonpost writes its text into ${path}, and applies the file as a new configuration. Compare it with the running one first: changes can be sent to sinks.`,
    confirm: 'Apply again',
  });
  if (given === null) return;
  await carryOut(
    () => post('/api/configurations/{number}/restore', { params: { number }, json: {} }, { patienceMs: 120_000 }),
    (applied) => `configuration ${applied.number} is running, with the file of ${number}`,
  );
}

/** The file of the running configuration, loaded when it is opened. */
function FileText({ number }: { readonly number: number }) {
  const [isOpen, setIsOpen] = useState(false);
  const asked = useAsked(isOpen ? '/api/configurations/{number}' : null, { params: { number } }, 60_000);
  return (
    <Panel title="The file as it runs" id="file">
      <details class="inside" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary>Show the file, with references in place of secrets</summary>
        {isOpen ? (
          <AwaitAnswer asked={asked} lines={10}>
            {({ text }) =>
              text === null ? (
                <p class="empty">The file was not kept.</p>
              ) : (
                <pre class="code" tabIndex={0}>
                  {text}
                </pre>
              )
            }
          </AwaitAnswer>
        ) : null}
      </details>
    </Panel>
  );
}
