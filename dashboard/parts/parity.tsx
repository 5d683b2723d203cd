import { useState } from 'preact/hooks';
import type { NamedFinding } from '../../api/parity.js';
import type { FindingView, ParityView } from '../../operations/audit-sink.js';
import { carryOut, askPerson } from '../asking/act.js';
import { post } from '../asking/ask.js';
import { useMay } from '../asking/page-state.js';
import { useAsked } from '../asking/use-asked.js';
import {
  differing,
  findingWords,
  parityClasses,
  type ParityCounts,
  parityWord,
  planWords,
} from '../../base/parity-words.js';
import { counted, formatSpan, grouped } from '../../base/words.js';
import { address } from '../route.js';
import { capitalized, type ToneAndWord } from '../words.js';
import { Button } from './controls.js';
import { AwaitAnswer, type Column, namedItemLink, Panel, Table } from './panel.js';
import { StateWord } from './states.js';
import { Ago } from './time.js';

type Lane = ParityView['lanes'][number];

/** Whether the destination holds what was delivered: the last audit of each pigeonhole, its differences, and their repair. */
export function Parity({ sink }: { readonly sink: string }) {
  const asked = useAsked('/api/sinks/{name}/parity', { params: { name: sink } });
  return (
    <Panel title="Audit" id="parity" aside={asked.data === undefined ? undefined : summaryOf(asked.data)}>
      <AwaitAnswer asked={asked} lines={2}>
        {(parity) =>
          parity.readable ? (
            <Results sink={sink} parity={parity} />
          ) : (
            <p class="empty">
              This destination cannot be read back, so pigeonpost cannot compare it with what it delivered.
            </p>
          )
        }
      </AwaitAnswer>
    </Panel>
  );
}

function summaryOf({ readable, lanes }: ParityView): string | undefined {
  if (!readable) return undefined;
  const count = lanes.reduce((sum, { counts }) => sum + differing(counts), 0);
  if (count > 0) return counted(count, 'difference');
  return lanes.length === 0 || lanes.some(({ endedAt }) => endedAt === null) ? undefined : 'no differences';
}

function Results({ sink, parity }: { readonly sink: string; readonly parity: ParityView }) {
  const { lanes, plan, everyMs } = parity;
  const mayOperate = useMay('operate');
  const running = lanes.filter(({ pass }) => pass === 'running' || pass === 'requested');
  const repairing = lanes.reduce((sum, lane) => sum + lane.repairing, 0);
  const actions = Object.values(plan.actions).reduce((sum, count) => sum + count, 0);
  const every =
    everyMs === null
      ? 'This sink is audited only on request.'
      : `This sink is audited every ${formatSpan(everyMs / 1000)}, and more rarely while nothing is delivered.`;
  return (
    <>
      <div class="inside">
        <p class="dim">An audit reads the destination and changes nothing. {every}</p>
        {mayOperate ? (
          <div class="form">
            <Button onPress={() => audit(sink)}>{running.length > 0 ? 'Start again' : 'Audit now'}</Button>
            {actions > 0 ? (
              <Button look="main" onPress={() => repair(sink, plan)}>
                Repair {grouped(actions)}…
              </Button>
            ) : null}
          </div>
        ) : null}
        {running.length > 0 ? <Progress lanes={running} /> : null}
        {repairing > 0 ? <p role="status">Repairing: {counted(repairing, 'difference')} left.</p> : null}
      </div>
      <Table
        columns={laneColumns(lanes)}
        rows={lanes}
        keyOf={({ workspace, pigeonholeId }) => `${workspace}/${pigeonholeId}`}
        empty="This sink was not audited yet."
      />
      <Findings sink={sink} lanes={lanes} />
    </>
  );
}

function Progress({ lanes }: { readonly lanes: readonly Lane[] }) {
  const checked = lanes.reduce((sum, lane) => sum + lane.checked, 0);
  const total = Math.max(
    1,
    lanes.reduce((sum, lane) => sum + lane.total, 0),
  );
  const failure = lanes.find((lane) => lane.failure !== null)?.failure ?? null;
  return (
    <p role="status">
      <progress max={total} value={checked} aria-label="Compared items" /> compared {grouped(checked)} of about{' '}
      {counted(total, 'item')}
      {failure === null ? '' : `; waits: ${failure}`}
    </p>
  );
}

async function audit(sink: string): Promise<void> {
  await carryOut(
    () => post('/api/sinks/{name}/audits', { params: { name: sink }, json: { pigeonhole: null } }),
    ({ lanes }) => `audit of ${sink} started in ${counted(lanes, 'pigeonhole')}`,
  );
}

async function repair(sink: string, plan: ParityView['plan']): Promise<void> {
  const given = await askPerson({
    title: `Repair ${sink}?`,
    body: (
      <ul class="counts">
        {planWords(plan).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    ),
    confirm: 'Repair',
    grave: plan.actions.remove + plan.actions['remove-copy'] > 0,
    field: { label: 'Reason', hint: 'Recorded in the audit log' },
  });
  if (given === null) return;
  const asked = { id: crypto.randomUUID(), pigeonhole: null, until: plan.until };
  await carryOut(
    () =>
      post('/api/sinks/{name}/repairs', {
        params: { name: sink },
        json: { ...asked, ...(given === '' ? {} : { reason: given }) },
      }),
    ({ findings }) => `repair of ${counted(findings, 'difference')} started`,
  );
}

function laneColumns(lanes: readonly Lane[]): readonly Column<Lane>[] {
  const shown = parityClasses.filter(([name]) => name === 'same' || lanes.some(({ counts }) => counts[name] > 0));
  return [
    [
      'Pigeonhole',
      'name',
      ({ workspace, pigeonholeId }) => (
        <a href={address.pigeonhole(workspace, pigeonholeId)}>
          {pigeonholeId === 0 ? `Lists of ${workspace}` : `${workspace}/${pigeonholeId}`}
        </a>
      ),
    ],
    ...shown.map(([name, word]): Column<Lane> => [capitalized(word), 'number', ({ counts }) => grouped(counts[name])]),
    ['Audited', 'number mid', ({ endedAt }) => <Ago at={endedAt} never="never" />],
  ];
}

const tones: Readonly<Record<FindingView['class'], ToneAndWord[0]>> = {
  stale: 'warning',
  changed: 'warning',
  missing: 'bad',
  extra: 'bad',
  unreadable: 'quiet',
  undelivered: 'busy',
};

const maxListed = 50;

/** Lists the differences of one class. */
function Findings({ sink, lanes }: { readonly sink: string; readonly lanes: readonly Lane[] }) {
  const [chosen, setChosen] = useState<FindingView['class'] | null>(null);
  const countOf = (name: keyof ParityCounts): number => lanes.reduce((sum, { counts }) => sum + counts[name], 0);
  const present = parityClasses.flatMap(([name]) => (name !== 'same' && countOf(name) > 0 ? [name] : []));
  const shown = chosen !== null && present.includes(chosen) ? chosen : null;
  const query = { limit: maxListed, class: shown ?? undefined };
  const asked = useAsked(
    shown === null ? null : '/api/sinks/{name}/parity/findings',
    { params: { name: sink }, query },
    5000,
  );
  if (present.length === 0) return null;
  return (
    <div class="inside late">
      <div class="form" role="group" aria-label="Show differences">
        {present.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === shown}
            onClick={() => setChosen(name === shown ? null : name)}
          >
            {grouped(countOf(name))} {parityWord(name)}
          </button>
        ))}
      </div>
      {shown === null ? null : (
        <AwaitAnswer asked={asked} lines={3}>
          {({ items, next }) => (
            <>
              <Table columns={findingColumns} rows={items} keyOf={({ number }) => number} empty="None is left." />
              {next === null ? null : <p class="dim">Only the first {maxListed} are shown.</p>}
            </>
          )}
        </AwaitAnswer>
      )}
    </div>
  );
}

const actionWords: Readonly<Record<NonNullable<FindingView['action']>, string>> = {
  send: 'send again',
  remove: 'remove',
  'remove-copy': 'remove the copy',
};

const findingColumns: readonly Column<NamedFinding>[] = [
  ['Item', 'name', (finding) => namedItemLink(finding)],
  [
    'State',
    '',
    (finding) => (
      <>
        <StateWord of={[tones[finding.class], parityWord(finding.class)]} />
        <small class="why">{findingWords(finding).join('; ')}</small>
      </>
    ),
  ],
  ['Pigeonhole', 'mid', ({ workspace, pigeonholeId }) => `${workspace}/${pigeonholeId}`],
  [
    'Changed there',
    'mid',
    ({ changedBy, changedAt }) =>
      changedBy === null && changedAt === null ? (
        <span class="dim">not known</span>
      ) : (
        <>
          {changedBy === null ? '' : `by ${changedBy} `}
          {changedAt === null ? null : <Ago at={changedAt} />}
        </>
      ),
  ],
  [
    'Repair',
    '',
    ({ class: name, action, repairing }) => {
      if (repairing) return 'in progress';
      if (action !== null) return actionWords[action];
      return <span class="dim">{name === 'unreadable' || name === 'undelivered' ? 'nothing' : 'by hand'}</span>;
    },
  ],
  ['Found', 'number wide', ({ foundAt }) => <Ago at={foundAt} />],
];
