import '../style/chart.css';
import type { Activity, Span } from '../../operations/activity.js';
import { counted, formatSpan, grouped } from '../../base/words.js';
import { useAsked } from '../asking/use-asked.js';
import { useRemembered } from '../asking/page-state.js';
import { AskedPanel, type Column, Table } from './panel.js';
import { Plot } from './plot.js';

const spans: readonly (readonly [Span, string])[] = [
  ['1h', '1 hour'],
  ['24h', '24 hours'],
  ['7d', '7 days'],
];

type Of = { readonly sink: string } | { readonly workspace: string; readonly id: string };

/** Shows throughput and lag of a sink or a pigeonhole, with incidents, restarts and changes of the configuration. */
export function ActivityPanel({ of }: { readonly of: Of }) {
  const [span, setSpan] = useRemembered<Span>('span of charts', '1h');
  const everyMs = span === '1h' ? 10_000 : 60_000;
  const sink = 'sink' in of ? of.sink : null;
  const ofSink = useAsked(
    sink === null ? null : '/api/sinks/{name}/activity',
    { params: { name: sink ?? '' }, query: { span } },
    everyMs,
  );
  const place = 'sink' in of ? null : of;
  const ofPlace = useAsked(
    place === null ? null : '/api/pigeonholes/{workspace}/{id}/activity',
    { params: { workspace: place?.workspace ?? '', id: place?.id ?? 0 }, query: { span } },
    everyMs,
  );
  return (
    <AskedPanel
      title="Throughput and lag"
      id="activity"
      asked={sink === null ? ofPlace : ofSink}
      lines={12}
      aside={() => (
        <span class="spans" role="group" aria-label="Time span">
          {spans.map(([each, words]) => (
            <button key={each} type="button" aria-pressed={each === span} onClick={() => setSpan(each)}>
              {words}
            </button>
          ))}
        </span>
      )}
    >
      {(activity) => <Charts activity={activity} span={span} />}
    </AskedPanel>
  );
}

function Charts({ activity, span }: { readonly activity: Activity; readonly span: Span }) {
  const { found, delivered, waiting, lagSeconds, marks, timezone, stepSeconds } = activity;
  const withDay = span !== '1h';
  const zones = timezone === null || timezone === zoneOfReader ? [undefined] : [undefined, timezone];
  const timeWords = (atMs: number): string[] => zones.map((zone) => clockIn(zone, atMs, withDay));
  const shared = { activity, timeWords };
  return (
    <div class="activity">
      <Plot
        {...shared}
        title={`Changes per ${stepSeconds === 60 ? 'minute' : formatSpan(stepSeconds)}`}
        series={[
          { label: 'Found', values: found, colour: 'accent' },
          { label: 'Delivered', values: delivered, colour: 'good' },
        ]}
        words={grouped}
      />
      <Plot
        {...shared}
        title="Changes that wait for delivery"
        series={[{ label: 'Waiting', values: waiting, colour: 'warning' }]}
        words={grouped}
      />
      <Plot
        {...shared}
        title="Lag: age of the oldest waiting change"
        series={[{ label: 'Lag', values: lagSeconds, colour: 'bad' }]}
        words={formatSpan}
      />
      <p class="dim note">
        {counted(sumAll(found), 'change')} found, {grouped(sumAll(delivered))} delivered. Times are in {zoneOfReader}
        {timezone === null || timezone === zoneOfReader
          ? ''
          : ` (above) and ${timezone}, the zone of the event (below)`}
        .
      </p>
      {marks.length === 0 ? null : <Marks marks={marks} />}
      <details>
        <summary>Show each step</summary>
        <Table columns={columnsIn(timezone, span)} rows={rowsOf(activity)} keyOf={({ at }) => at} />
      </details>
    </div>
  );
}

const zoneOfReader = new Intl.DateTimeFormat().resolvedOptions().timeZone;

function sumAll(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

const markWords = { incident: 'Incident', restart: 'Restart', configuration: 'Configuration' } as const;

function Marks({ marks }: Pick<Activity, 'marks'>) {
  return (
    <ul class="marks">
      {marks.slice(-12).map(({ kind, at, until, text }) => (
        <li key={`${kind} ${at} ${text}`} class={kind}>
          <b>{markWords[kind]}</b> {clockIn(undefined, Date.parse(at), true)}
          {kind === 'incident'
            ? ` to ${until === null ? 'now' : clockIn(undefined, Date.parse(until), true)}`
            : ''}:{' '}
          {text}
        </li>
      ))}
    </ul>
  );
}

interface Row {
  readonly at: number;
  readonly found: number;
  readonly delivered: number;
  readonly waiting: number;
  readonly lag: number;
}

/** The steps in which something happened or waited, newest first. */
function rowsOf({ from, stepSeconds, found, delivered, waiting, lagSeconds }: Activity): Row[] {
  return found
    .map((count, position) => ({
      at: Date.parse(from) + position * stepSeconds * 1000,
      found: count,
      delivered: delivered[position]!,
      waiting: waiting[position]!,
      lag: lagSeconds[position]!,
    }))
    .filter((row) => row.found + row.delivered + row.waiting > 0)
    .toReversed();
}

function columnsIn(timezone: string | null, span: Span): readonly Column<Row>[] {
  const withDay = span !== '1h';
  const own: readonly Column<Row>[] =
    timezone === null || timezone === zoneOfReader
      ? []
      : [[`At (${timezone})`, '', ({ at }) => clockIn(timezone, at, withDay)]];
  return [
    [`At (${zoneOfReader})`, 'name', ({ at }) => clockIn(undefined, at, withDay)],
    ...own,
    ['Found', 'number', ({ found }) => grouped(found)],
    ['Delivered', 'number', ({ delivered }) => grouped(delivered)],
    ['Waiting', 'number', ({ waiting }) => grouped(waiting)],
    ['Lag', 'number', ({ lag }) => (lag === 0 ? '–' : formatSpan(lag))],
  ];
}

/** @param zone undefined: that of the reader; null: UTC */
function clockIn(zone: string | undefined, atMs: number, withDay: boolean): string {
  return new Date(atMs).toLocaleString([], {
    hour: '2-digit',
    minute: '2-digit',
    ...(withDay ? ({ day: 'numeric', month: 'short' } as const) : {}),
    ...(zone === undefined ? {} : { timeZone: zone }),
  });
}
