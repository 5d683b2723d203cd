import type { WorkState, Status } from '../../operations/status-view.js';
import { counted, grouped, formatDistance } from '../../base/words.js';
import { renderLine, span, type TextLine, widthOf, type Style, wrapText, wrapFacts } from '../text-line.js';
import { eventLines } from './event-lines.js';
import { sinkLines } from './sink-lines.js';
import type { Trouble } from '../../operations/problem.js';
import type { ApiClient } from '../api-client.js';
import type { Overview } from '../../api/syncs.js';

interface StatusSheet {
  readonly now: Date;
  readonly columns: number;
  readonly colours: boolean;
  /** The address of the page. */
  readonly page: string;
}

/**
 * Returns the output of `pigeonpost status`: problems first, then each workspace with its events, the sinks, the
 * address of the page, and a summary. Only long names are cut; sentences are wrapped. Pure.
 */
export function formatStatus(moment: Moment, { now, columns, colours, page }: StatusSheet): string[] {
  const { status } = moment;
  const sections: readonly TextLine[][] = [
    problemLines(moment, now, columns),
    ...status.workspaces.map((workspace) =>
      eventLines(workspace, { now, columns, maxEvents: maxListed, hasIntervals: true }),
    ),
    sinkLines(status.sinks, { now, columns, says: 'state', troubles: moment.overview.troubles }),
    [...rateLines(moment, columns), ...pageLines(page, columns), summary(moment)],
  ];
  return separated(sections).map((line) => renderLine(line, { columns: Infinity, colours }));
}

/** Maximum number of events that `status` lists for each workspace; `status --json` has all of them. */
const maxListed = 50;

/** Joins sections with empty lines. */
export function separated(sections: readonly TextLine[][]): TextLine[] {
  return sections
    .filter((section) => section.length > 0)
    .flatMap((section, index) => (index === 0 ? section : [[], ...section]));
}

/** Formats the counts of this minute and the previous one. Pure. */
export function rateLines({ overview }: Moment, columns: number): TextLine[] {
  const { foundByMinute, deliveredByMinute } = overview;
  const minute = (back: number): readonly [string, string] => [
    grouped(foundByMinute.at(back) ?? 0),
    grouped(deliveredByMinute.at(back) ?? 0),
  ];
  const [[found, delivered], [foundBefore, deliveredBefore]] = [minute(-1), minute(-2)];
  const present = `${found} found, ${delivered} delivered this minute`;
  const before = `(previous minute: ${foundBefore}, ${deliveredBefore})`;
  return besideOrBelow(['rate', present, before], columns);
}

export function pageLines(page: string, columns: number): TextLine[] {
  return besideOrBelow(['page', page, '(sign in: pigeonpost open)'], columns);
}

/** Formats a label, a fact, and a hint beside it, or below it on a narrow terminal. */
function besideOrBelow([label, fact, aside]: readonly [string, string, string], columns: number): TextLine[] {
  const isBeside = 6 + widthOf(`${fact}  ${aside}`) <= columns;
  const first = [span(label.padEnd(6), 'dim'), span(fact)];
  return isBeside ? [[...first, span(`  ${aside}`, 'dim')]] : [first, [span(`      ${aside}`, 'dim')]];
}

/**
 * Returns one line with the number of objects that need attention. It says "settled" only if nothing is paused or
 * failing.
 */
function summary({ status, overview }: Moment): TextLine {
  const { workspaces, sinks, settled, trouble } = status;
  const attention = [
    ...(trouble === null ? [] : ['no progress']),
    // A workspace fails when one of its pigeonholes does, so only the pigeonhole is counted.
    ...stopped(
      'workspace',
      workspaces.filter(({ state }) => state !== 'failing'),
    ),
    ...stopped(
      'pigeonhole',
      // A pigeonhole waits only because its workspace is paused or waits.
      workspaces.flatMap(({ pigeonholes }) => pigeonholes.filter(({ state }) => state !== 'waiting')),
    ),
    ...stopped('sink', sinks),
  ];
  // The page and its badge count the same.
  const open = overview.troubles.filter(({ severity }) => severity !== 'notice');
  const style = open.some(({ severity }) => severity === 'error') ? 'red' : 'yellow';
  const what = [...(open.length > 0 ? [counted(open.length, 'problem')] : []), ...attention];
  if (what.length > 0) return [span(`${what.join(', ')}: see above`, attention.length > 0 ? 'red' : style)];
  return settled
    ? [span('settled: everything found is delivered, withheld or a dead letter', 'green')]
    : [span('working', 'green')];
}

const words = [
  ['paused', 'is paused', 'are paused'],
  ['waiting', 'waits', 'wait'],
  ['failing', 'is failing', 'are failing'],
] as const;

function stopped(what: string, views: readonly { readonly state: WorkState }[]): string[] {
  return words.flatMap(([state, one, more]) => {
    const n = views.filter((view) => view.state === state).length;
    return n === 0 ? [] : [n === 1 ? `1 ${what} ${one}` : `${n} ${what}s ${more}`];
  });
}

const labels: Readonly<Record<Trouble['severity'], readonly [string, Style]>> = {
  error: ['PROBLEM', 'red'],
  warning: ['WARNING', 'yellow'],
  notice: ['note', 'dim'],
};
const labelWidth = 'PROBLEM  '.length;

/** Returns the problems, the worst first, each with its remedy below it. Pure. */
export function problemLines({ overview }: Moment, now: Date, columns: number): TextLine[] {
  return overview.troubles.flatMap((trouble) => {
    const [label, style] = labels[trouble.severity];
    const sentence = `${trouble.text}${sinceText(trouble, now)}`;
    return [
      ...indented(sentence, columns).map((line, index): TextLine => [
        span((index === 0 ? label : '').padEnd(labelWidth), style),
        span(line, style === 'dim' ? 'dim' : undefined),
      ]),
      ...(trouble.advice === null ? [] : indented(trouble.advice, columns)).map((line): TextLine => [
        span(' '.repeat(labelWidth)),
        span(line, 'bold'),
      ]),
    ];
  });
}

/** Returns a line for each of the first problems, without advice, and the number of the others. Pure. */
export function shortProblemLines({ overview: { troubles } }: Moment, maxProblems: number): TextLine[] {
  const more = troubles.length - maxProblems;
  return [
    ...troubles.slice(0, maxProblems).map(({ severity, text }): TextLine => {
      const [label, style] = labels[severity];
      return [span(label.padEnd(labelWidth), style), span(text, style === 'dim' ? 'dim' : undefined)];
    }),
    ...(more > 0 ? [[span(`… and ${counted(more, 'more problem', 'more problems')}`, 'dim')] satisfies TextLine] : []),
  ];
}

function indented(sentence: string, columns: number): string[] {
  return wrapText(sentence, { columns: Math.max(20, columns - labelWidth) });
}

function sinceText({ since, saysSince }: Trouble, now: Date): string {
  return since === null || saysSince ? '' : ` (started ${formatDistance(new Date(since), now)})`;
}

type ItemCount = NonNullable<Status['counts']>['items'][number];

/**
 * Waits between two counts: at least 10 s, and 20 times the duration of the last count, because a count reads all
 * items.
 */
const minWaitMs = 10_000;
const waitPerRead = 20;

/** Reads the number of items by list repeatedly, less often if counting is slow. */
export class ItemCounts {
  #latest: readonly ItemCount[] | null = null;
  #nextAt = -Infinity;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Returns the latest counts, and reads new ones if they are due. */
  async read(api: Pick<ApiClient, 'get'>): Promise<readonly ItemCount[] | null> {
    const startedAt = this.now();
    if (startedAt < this.#nextAt) return this.#latest;
    const { counts } = await api.get('/api/status', { query: { counts: 'items' } });
    this.#latest = counts?.items ?? null;
    const took = this.now() - startedAt;
    this.#nextAt = this.now() + Math.max(minWaitMs, took * waitPerRead);
    return this.#latest;
  }
}

/** Returns "items  600 attendees, 1,200 votes" for all events of a workspace; no line if nothing is stored. Pure. */
export function itemLines(items: readonly ItemCount[] | null, workspace: string, columns: number): TextLine[] {
  const sums = new Map<string, number>();
  for (const each of items ?? []) {
    if (each.workspace === workspace) sums.set(each.list, (sums.get(each.list) ?? 0) + each.items);
  }
  const facts = [...sums].toSorted(([one], [other]) => one.localeCompare(other));
  return wrapFacts(
    '  items  ',
    facts.map(([list, n]) => `${grouped(n)} ${list}`),
    columns,
    'dim',
  );
}

/** The data that `status`, `status --watch` and the screen of `start` show. */
export interface Moment {
  readonly status: Status;
  readonly overview: Overview;
  /** Number of items by list; null if not counted. */
  readonly items: readonly ItemCount[] | null;
}

/** Requests the views of the API at the same time. */
export async function readMoment(
  api: ApiClient,
  { counts, itemCounts }: { readonly counts: boolean; readonly itemCounts?: ItemCounts },
): Promise<Moment> {
  const [status, overview, items] = await Promise.all([
    api.get('/api/status', { query: { counts: counts ? '' : undefined } }),
    api.get('/api/overview', {}),
    itemCounts?.read(api) ?? null,
  ]);
  return { status, overview, items };
}
