import { useEffect, useState } from 'preact/hooks';
import type { AttemptView, ListedDeliveryView } from '../../api/deliveries.js';
import type { SinkDetails } from '../../api/sinks.js';
import { isListName } from '../../base/lists.js';
import { counted, grouped, sumOf } from '../../base/words.js';
import { act } from '../asking/act.js';
import { useMay } from '../asking/page-state.js';
import { useAsked } from '../asking/use-asked.js';
import {
  type DeliveryChoice,
  type DeliveryList,
  deliveriesAddress,
  deliveryListTitles,
  periods,
} from '../delivery-choice.js';
import { AttemptsOf, attemptWords, durationText } from '../parts/attempts.js';
import { Button, Choice, ListChoice, PersonalCheck } from '../parts/controls.js';
import { AwaitAnswer, type Column, named, namedItemLink, PageHead, Table } from '../parts/panel.js';
import { ExportDeadLetters } from '../parts/export.js';
import { canBeSentAgain, sendAgain } from '../parts/send-again.js';
import { deliveryTone, StateWord } from '../parts/states.js';
import { Ago, Sentence, Until } from '../parts/time.js';
import { address } from '../route.js';

/** Number of rows at first, and number added each time. */
const step = 50;
const maxShown = 500;

/** A row of the table: a delivery, or an attempt at one. */
export type DeliveryOrAttempt = (ListedDeliveryView & { readonly number?: undefined }) | AttemptView;

/** The log of a sink: its attempts, or its deliveries in one state. The choice is in the address. */
export function Deliveries({ choice }: { readonly choice: DeliveryChoice }) {
  const { sink, show } = choice;
  const [personal, setPersonal] = useState(false);
  const mayOperate = useMay('operate');
  const state = useAsked('/api/sinks/{name}', { params: { name: sink } }, 5000);
  const choose = (change: Partial<DeliveryChoice>): void => {
    location.hash = deliveriesAddress({ ...choice, open: null, ...change });
  };
  if (state.data === undefined && state.problem?.status === 404) {
    return <PageHead kind="Deliveries" title={sink} note={['No sink with this name is configured.']} />;
  }
  return (
    <>
      <PageHead
        kind="Deliveries"
        title={sink}
        note={[
          <a href={address.sink(sink)}>State of the sink</a>,
          'What was sent, what was answered, and what was not sent',
        ]}
      >
        {mayOperate && show === 'open' ? (
          <Button onPress={() => act({ do: 'try-now', kind: 'sink', name: sink })}>Try now</Button>
        ) : null}
        {show === 'dead' && sumOf(state.data?.dead ?? {}) > 0 ? (
          <ExportDeadLetters sink={sink} cause={choice.reason} list={choice.list} pigeonhole={choice.pigeonhole} />
        ) : null}
      </PageHead>
      <section class="panel" aria-label="Deliveries">
        <Lists choice={choice} sink={state.data} />
        <Filters choice={choice} onChoose={choose} personal={personal} onPersonal={setPersonal} />
        <Rows key={JSON.stringify({ ...choice, open: null })} choice={choice} personal={personal} />
      </section>
    </>
  );
}

/** Returns the number of changes in each list of a sink; null: it is not counted. */
function countsOf({ backlog, delivered, withheld, dead }: SinkDetails): Record<DeliveryList, number | null> {
  return { attempts: null, open: backlog, delivered, withheld: sumOf(withheld), dead: sumOf(dead) };
}

function Lists({ choice, sink }: { readonly choice: DeliveryChoice; readonly sink: SinkDetails | undefined }) {
  const counts = sink === undefined ? undefined : countsOf(sink);
  return (
    <nav class="tabs" aria-label="Lists">
      {Object.entries(deliveryListTitles).map(([list, title]) => {
        const n = counts?.[list as DeliveryList] ?? null;
        const to = { ...choice, show: list as DeliveryList, reason: null, outcome: null, period: null, open: null };
        return (
          <a key={list} href={deliveriesAddress(to)} aria-current={choice.show === list ? 'page' : undefined}>
            {title}
            {n === null ? null : <small> {grouped(n)}</small>}
          </a>
        );
      })}
    </nav>
  );
}

interface FiltersProps {
  readonly choice: DeliveryChoice;
  readonly onChoose: (change: Partial<DeliveryChoice>) => void;
  readonly personal: boolean;
  readonly onPersonal: (personal: boolean) => void;
}

const outcomeChoices: readonly (readonly [string, string])[] = [
  ['', 'any outcome'],
  ['failed', 'failed'],
  ...Object.entries(attemptWords).map(([outcome, [, words]]) => [outcome, words] as const),
];

function Filters({ choice, onChoose, personal, onPersonal }: FiltersProps) {
  const { show, outcome, reason, list, pigeonhole, period } = choice;
  const orNull = (chosen: string): string | null => (chosen === '' ? null : chosen);
  return (
    <form class="filters top-padded" onSubmit={(event) => event.preventDefault()}>
      <ListChoice value={list ?? ''} onChoose={(chosen) => onChoose({ list: orNull(chosen) })} />
      {show === 'attempts' ? (
        <>
          <Choice label="Outcome" value={outcome ?? ''} onChoose={(chosen) => onChoose({ outcome: orNull(chosen) })}>
            {outcomeChoices}
          </Choice>
          <Choice label="Time" value={period ?? ''} onChoose={(chosen) => onChoose({ period: orNull(chosen) })}>
            {[['', 'any time'], ...Object.entries(periods).map(([each, [words]]) => [each, words])]}
          </Choice>
        </>
      ) : null}
      {reason === null ? null : (
        <Button onPress={() => onChoose({ reason: null })} label={`Only ${reason}: remove this filter`}>
          {`${reason} ×`}
        </Button>
      )}
      {pigeonhole === null ? null : (
        <Button onPress={() => onChoose({ pigeonhole: null })} label={`Only ${pigeonhole}: remove this filter`}>
          {`${pigeonhole} ×`}
        </Button>
      )}
      <PersonalCheck checked={personal} onCheck={onPersonal} />
    </form>
  );
}

interface RowsProps {
  readonly choice: DeliveryChoice;
  readonly personal: boolean;
}

function Rows({ choice, personal }: RowsProps) {
  const { sink, show, outcome, reason, list, pigeonhole, period } = choice;
  const [limit, setLimit] = useState(step);
  const [since] = useState(() =>
    period === null ? undefined : new Date(Date.now() - periods[period]![1]).toISOString(),
  );
  const query = {
    sink,
    limit,
    list: list !== null && isListName(list) ? list : undefined,
    pigeonhole: pigeonhole ?? undefined,
    ...(personal ? { personal: '1' as const } : {}),
  };
  // With names, each request is audited: they are read once.
  const everyMs = personal ? 3_600_000 : 5000;
  const attempts = useAsked(
    show === 'attempts' ? '/api/attempts' : null,
    { query: { ...query, outcome: (outcome ?? undefined) as 'failed' | undefined, cause: reason ?? undefined, since } },
    everyMs,
  );
  const deliveries = useAsked(
    show === 'attempts' ? null : '/api/deliveries',
    { query: { ...query, state: show === 'attempts' ? 'open' : show, reason: reason ?? undefined } },
    everyMs,
  );
  const asked = show === 'attempts' ? attempts : deliveries;
  return (
    <AwaitAnswer asked={asked as { data: Found | undefined; problem: (typeof asked)['problem'] }} lines={8}>
      {({ items, next }) => (
        <>
          <Listed choice={choice} rows={items} />
          {next === null ? null : (
            <p class="empty more">
              These are the newest {counted(items.length, 'row')}
              {show === 'attempts' ? '' : ' of each event'}.{' '}
              {limit >= maxShown ? (
                'Filter by list, cause or event to see others.'
              ) : (
                <button type="button" class="link" onClick={() => setLimit(Math.min(maxShown, limit + 2 * step))}>
                  Show more
                </button>
              )}
            </p>
          )}
        </>
      )}
    </AwaitAnswer>
  );
}

interface Found {
  readonly items: readonly DeliveryOrAttempt[];
  readonly next: string | null;
}

const emptyTexts: Readonly<Record<DeliveryList, string>> = {
  attempts: 'The log has no such attempt. It keeps every failed attempt, and of those that succeeded the last.',
  open: 'Nothing waits: every change is delivered, withheld, or a dead letter.',
  delivered: 'Nothing was delivered yet.',
  withheld: 'Nothing is withheld.',
  dead: 'There are no dead letters.',
};

function Listed({ choice, rows }: { readonly choice: DeliveryChoice; readonly rows: readonly DeliveryOrAttempt[] }) {
  const { sink, show, open } = choice;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const mayOperate = useMay('operate');
  const isFiltered = [choice.reason, choice.list, choice.pigeonhole, choice.outcome, choice.period].some(
    (each) => each !== null,
  );
  const eligible = rows.filter(canBeSentAgain);
  const marked = eligible.filter((row) => chosen.has(nameOf(row)));
  useEffect(() => setChosen(new Set()), [sink, show]);
  const toggle = (row: DeliveryOrAttempt): void => {
    const to = open === nameOf(row) ? null : nameOf(row);
    location.hash = deliveriesAddress({ ...choice, open: to });
  };
  const mark = (row: DeliveryOrAttempt, isMarked: boolean): void => {
    const next = new Set(chosen);
    if (isMarked) next.add(nameOf(row));
    else next.delete(nameOf(row));
    setChosen(next);
  };
  const markColumn: Column<DeliveryOrAttempt> = [
    eligible.length === 0 ? null : (
      <input
        type="checkbox"
        aria-label="Choose all rows that can be sent again"
        checked={marked.length === eligible.length}
        onChange={(event) => setChosen(new Set(event.currentTarget.checked ? eligible.map(nameOf) : []))}
      />
    ),
    'mark',
    (row) =>
      canBeSentAgain(row) ? (
        <input
          type="checkbox"
          aria-label={`Choose ${row.list}:${row.key}`}
          checked={chosen.has(nameOf(row))}
          onChange={(event) => mark(row, event.currentTarget.checked)}
        />
      ) : null,
  ];
  const columns: Column<DeliveryOrAttempt>[] = [
    ...(mayOperate ? [markColumn] : []),
    ['Item', 'name', (row) => namedItemLink(row)],
    ['Outcome', '', (row) => <Outcome row={row} choice={choice} />],
    ['Revision', 'number wide', ({ revision }) => revision],
    show === 'attempts'
      ? ['Took', 'number mid', (row) => (row.number === undefined ? null : durationText(row.durationMs))]
      : ['Attempts', 'number mid', (row) => (row.number === undefined ? row.attempts : null)],
    [
      'When',
      'number',
      ({ at, dueAt }) => named(<Ago at={at} />, dueAt === null ? null : ['next ', <Until at={dueAt} />]),
    ],
    [
      '',
      'number',
      (row) => (
        <button
          type="button"
          class="link"
          aria-expanded={open === nameOf(row)}
          aria-label={`${open === nameOf(row) ? 'Close' : 'Open'} ${row.list}:${row.key}`}
          onClick={() => toggle(row)}
        >
          {open === nameOf(row) ? 'Close' : 'Open'}
        </button>
      ),
    ],
  ];
  // Two attempts at one delivery are two rows: its attempts are shown below the first.
  const firstOpen = rows.findIndex((row) => nameOf(row) === open);
  // One that is no longer in the list, because it was sent again, stays open above it.
  const opened = firstOpen === -1 && open !== null ? deliveryNamed(open) : null;
  return (
    <>
      {marked.length === 0 ? null : (
        <p class="inside-line" role="status">
          {counted(marked.length, 'row')} chosen.{' '}
          <Button look="main" onPress={async () => void ((await sendAgain(sink, marked)) && setChosen(new Set()))}>
            Send {grouped(marked.length)} again…
          </Button>
        </p>
      )}
      {opened === null ? null : (
        <section class="opened apart" aria-label="Opened delivery">
          <AttemptsOf delivery={{ ...opened, sink }} namesItem />
          <div class="actions">
            <Button onPress={() => void (location.hash = deliveriesAddress({ ...choice, open: null }))}>Close</Button>
          </div>
        </section>
      )}
      <Table
        look="deliveries"
        columns={columns}
        rows={rows}
        keyOf={(row) => `${nameOf(row)} ${row.number ?? ''}`}
        empty={isFiltered ? 'Nothing matches these filters.' : emptyTexts[show]}
        belowRow={(row) =>
          rows.indexOf(row) !== firstOpen ? null : (
            <div class="opened">
              {mayOperate && canBeSentAgain(row) ? (
                <div class="actions">
                  <Button onPress={() => sendAgain(sink, [row], { asks: false })}>Send again</Button>
                </div>
              ) : null}
              <AttemptsOf delivery={{ ...row, sink }} />
            </div>
          )
        }
      />
    </>
  );
}

/** Returns the name of a delivery in an address. */
function nameOf({ workspace, pigeonholeId, sequence, replay }: DeliveryOrAttempt): string {
  return `${workspace}/${pigeonholeId}/${sequence}/${replay}`;
}

/** Returns the delivery with a name; null if the address has none. */
function deliveryNamed(name: string) {
  const [, workspace, pigeonholeId, sequence, replay] = /^([^/]+)\/(\d{1,15})\/(\d{1,15})\/(\d{1,9})$/.exec(name) ?? [];
  if (workspace === undefined) return null;
  return { workspace, pigeonholeId: Number(pigeonholeId), sequence: Number(sequence), replay: Number(replay) };
}

function Outcome({ row, choice }: { readonly row: DeliveryOrAttempt; readonly choice: DeliveryChoice }) {
  const isAttempt = row.number !== undefined;
  const code = isAttempt ? row.cause : row.reason;
  const isSent = isAttempt && row.outcome !== 'delivered' && row.state === 'delivered';
  return (
    <>
      <StateWord of={isAttempt ? attemptWords[row.outcome] : [deliveryTone(row), row.outcome]} />
      {isAttempt ? <small class="why">try {row.try}</small> : null}
      {isAttempt && row.status !== null ? <small class="why">HTTP {row.status}</small> : null}
      {code === null ? null : (
        <small class="why">
          {row.words ?? ''}{' '}
          <a href={deliveriesAddress({ ...choice, reason: code, open: null })} title={`Only ${code}`}>
            {code}
          </a>
        </small>
      )}
      {row.detail === null || row.detail === row.words || (isAttempt && row.detail === `HTTP ${row.status}`) ? null : (
        <small class="below">
          <Sentence text={row.detail} />
        </small>
      )}
      {isSent ? <small class="below">delivered by a later attempt</small> : null}
    </>
  );
}
