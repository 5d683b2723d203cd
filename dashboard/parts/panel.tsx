import { type ItemName as NameView, nameInWords, placeInWords } from '../../base/item-titles.js';
import { type ComponentChildren, Fragment } from 'preact';
import type { Asked } from '../asking/use-asked.js';
import { capitalized } from '../words.js';
import { useAfter } from './time.js';
import { grouped } from '../../base/words.js';
import { address } from '../route.js';

interface PanelProps {
  readonly title: string;
  /** Beside the title: a number or a button. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
  /** Anchor of the panel. */
  readonly id: string;
}

export function Panel({ title, aside, children, id }: PanelProps) {
  const heading = `${id}-title`;
  return (
    <section class="panel" id={id} aria-labelledby={heading} tabIndex={-1}>
      <header>
        <h2 id={heading}>{title}</h2>
        {aside === undefined ? null : <div class="aside">{aside}</div>}
      </header>
      {children}
    </section>
  );
}

/** A labelled number or state, with a note; null: it is left out. */
type Fact = readonly [label: string, value: ComponentChildren, note?: ComponentChildren] | null;

export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map((fact) => {
        if (fact === null) return null;
        const [label, value, note = null] = fact;
        return (
          <div key={label} class="fact">
            <dt>{label}</dt>
            <dd>
              <b>{value}</b>
              {note === null ? null : <small>{note}</small>}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

interface PageHeadProps {
  readonly title: string;
  /** The parent page, before the title. */
  readonly kind: string;
  /** Parts of a line; null: the part is left out. Undefined: no line; empty: an empty line, until the data arrives. */
  readonly note?: readonly ComponentChildren[];
  /** Actions. */
  readonly children?: ComponentChildren;
}

/** The title of a page and its actions. */
export function PageHead({ title, kind, note, children }: PageHeadProps) {
  return (
    <div class="page-head">
      <div>
        <p class="kind">{kind}</p>
        <h1 tabIndex={-1}>{title}</h1>
        {note === undefined ? null : <p class="note">{dotted(note)}</p>}
      </div>
      {children === undefined ? null : <div class="actions">{children}</div>}
    </div>
  );
}

function dotted(parts: readonly ComponentChildren[]): ComponentChildren {
  const shown = parts.filter((part) => part !== null);
  return shown.map((part, position) => (position === 0 ? part : [' · ', part]));
}

interface AwaitProps<Answer> {
  readonly asked: Asked<Answer>;
  readonly children: (data: Answer) => ComponentChildren;
  /** Expected height in lines, so that nothing moves when the response arrives. */
  readonly lines: number;
}

/** Shows the answer, or the API's refusal. Reserves the expected height until one of them arrives. */
export function AwaitAnswer<Answer>({ asked: { data, problem }, children, lines }: AwaitProps<Answer>) {
  if (problem !== undefined) return <Refusal text={problem.message} />;
  if (data !== undefined) return <>{children(data)}</>;
  return <Waiting lines={lines} />;
}

interface AskedPanelProps<Answer> extends AwaitProps<Answer> {
  readonly title: string;
  readonly id: string;
  readonly aside?: (data: Answer) => ComponentChildren;
}

/** A panel that shows an answer of the API. */
export function AskedPanel<Answer>({ title, id, aside, asked, ...rest }: AskedPanelProps<Answer>) {
  return (
    <Panel title={title} id={id} aside={asked.data === undefined ? undefined : aside?.(asked.data)}>
      <AwaitAnswer asked={asked} {...rest} />
    </Panel>
  );
}

/** A sentence of the API about a request that it refuses, or about something that cannot be done. */
export function Refusal({ text }: { readonly text: string }) {
  return <p class="refused">{capitalized(text)}.</p>;
}

function Waiting({ lines }: { readonly lines: number }) {
  const takesLong = useAfter(400);
  return (
    <div class="waiting" data-lines={lines} aria-busy="true">
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} class={takesLong ? 'line' : 'line hidden'} />
      ))}
    </div>
  );
}

/** The content of an item, field by field, always as plain text. */
export function Written({ data }: { readonly data: Readonly<Record<string, unknown>> }) {
  return (
    <dl class="written">
      {Object.entries(data).map(([field, value]) => (
        <div key={field}>
          <dt>{field}</dt>
          <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

/**
 * A column of a table: its title, the class of its cells, and the content of a cell. The class `name` marks the cells
 * that name their rows. `mid` and `wide` columns are hidden in narrow windows.
 */
export type Column<Row> = readonly [title: ComponentChildren, look: string, cell: (row: Row) => ComponentChildren];

interface TableProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  /** Shown in place of a table without rows. */
  readonly empty?: string;
  readonly look?: string;
  /** Whether a row is less important than the others. */
  readonly isDim?: (row: Row) => boolean;
  /** Content below a row, across all columns; null: none. */
  readonly belowRow?: (row: Row) => ComponentChildren;
}

/** A table that scrolls within its panel if the window is too narrow. */
export function Table<Row>({ columns, rows, keyOf, empty, look, isDim, belowRow }: TableProps<Row>) {
  if (empty !== undefined && rows.length === 0) return <p class="empty">{empty}</p>;
  return (
    <div class="scrolls">
      <table class={look}>
        <thead>
          <tr>
            {columns.map(([title, kind], position) => (
              <th key={position} class={kind}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const more = belowRow?.(row) ?? null;
            return (
              <Fragment key={keyOf(row)}>
                <tr class={isDim?.(row) === true ? 'dim' : undefined}>
                  {columns.map(([, kind, cell], position) =>
                    kind === 'name' ? (
                      <th key={position} scope="row">
                        {cell(row)}
                      </th>
                    ) : (
                      <td key={position} class={kind}>
                        {cell(row)}
                      </td>
                    ),
                  )}
                </tr>
                {more === null ? null : (
                  <tr class="below-row">
                    <td colSpan={columns.length}>{more}</td>
                  </tr>
                )}
              </Fragment>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** A name with a note below it, for the first column of a table; null: no note. */
export function named(name: ComponentChildren, note: ComponentChildren) {
  return (
    <>
      {name}
      {note === null ? null : <small>{note}</small>}
    </>
  );
}

interface ItemName {
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly list: string;
  readonly key: string;
}

/** A link to the page of an item. */
export function itemLink({ workspace, pigeonholeId, list, key }: ItemName) {
  return (
    <a href={address.item(list, key, `${workspace}/${pigeonholeId}`)}>
      {list}:{key}
    </a>
  );
}

/** A link to an item by its name, with its key below. */
export function namedItemLink(item: ItemName & { readonly name: NameView }, shown?: string) {
  const { workspace, pigeonholeId, list, key, name } = item;
  const place = placeInWords(name);
  return named(
    <a class="item-name" href={address.item(list, key, `${workspace}/${pigeonholeId}`)}>
      {nameInWords(name)}
    </a>,
    `${name.person === null ? '' : `${name.person} · `}${list}:${shown ?? key}${place === '' ? '' : ` · ${place}`}`,
  );
}

/** The last 60 minutes, one bar each. */
interface Chart {
  /** Oldest first; the last is the current minute. */
  readonly minutes: readonly number[];
  /** Name of the count, such as "changes found". */
  readonly of: string;
  /** Taller than a table row. */
  readonly large?: boolean;
}

const barWidth = 3;
const height = 24;

/**
 * Returns the height of a bar. The scale is the square root, so that a usual minute is still visible beside a minute
 * with a first read of thousands of items.
 */
function highOf(n: number, max: number): number {
  return n === 0 ? 0.6 : Math.max(1.5, Math.sqrt(n / max) * height);
}

export function MinutesChart({ minutes, of, large = false }: Chart) {
  const max = Math.max(...minutes, 1);
  const all = minutes.reduce((sum, n) => sum + n, 0);
  const path = minutes
    .map((n, position) => {
      const high = highOf(n, max);
      return `M${position * barWidth} ${height}v-${high.toFixed(1)}h${barWidth - 0.8}v${high.toFixed(1)}z`;
    })
    .join('');
  return (
    <svg
      class={large ? 'minutes large' : 'minutes'}
      viewBox={`0 0 ${minutes.length * barWidth} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${grouped(all)} ${of} in the last hour, at most ${grouped(max)} per minute`}
    >
      <title>{`${grouped(all)} ${of} in the last hour, at most ${grouped(max)} per minute`}</title>
      <path d={path} />
    </svg>
  );
}

/** Returns the count of the last complete minute. */
export function perMinute(minutes: readonly number[]): number {
  return minutes.at(-2) ?? 0;
}
