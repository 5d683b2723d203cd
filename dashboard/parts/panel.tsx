import type { ComponentChildren } from 'preact';
import type { Asked } from '../asking/use-asked.js';
import { capitalized } from '../words.js';
import { useAfter } from './time.js';

interface PanelProps {
  readonly title: string;
  /** Beside the title: a number or a button. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
  /** Anchor of the panel. */
  readonly id?: string;
}

export function Panel({ title, aside, children, id }: PanelProps) {
  const heading = `${id ?? title.toLowerCase().replace(/[^a-z]+/g, '-')}-title`;
  return (
    <section class="panel" id={id} aria-labelledby={heading} tabIndex={id === undefined ? undefined : -1}>
      <header>
        <h2 id={heading}>{title}</h2>
        {aside === undefined ? null : <div class="aside">{aside}</div>}
      </header>
      {children}
    </section>
  );
}

/** A labelled number or state. */
export function Fact({
  label,
  children,
  note,
}: {
  readonly label: string;
  readonly children: ComponentChildren;
  readonly note?: ComponentChildren;
}) {
  return (
    <div class="fact">
      <dt>{label}</dt>
      <dd>
        <b>{children}</b>
        {note === undefined ? null : <small>{note}</small>}
      </dd>
    </div>
  );
}

export function Facts({ children }: { readonly children: ComponentChildren }) {
  return <dl class="facts">{children}</dl>;
}

interface PageHeadProps {
  readonly title: string;
  /** The parent page, before the title. */
  readonly kind: string;
  readonly note?: ComponentChildren;
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
        {note === undefined ? null : <p class="note">{note}</p>}
      </div>
      {children === undefined ? null : <div class="actions">{children}</div>}
    </div>
  );
}

interface AwaitProps<Answer> {
  readonly asked: Asked<Answer>;
  readonly children: (data: Answer) => ComponentChildren;
  /** Expected height in lines, so that nothing moves when the response arrives. */
  readonly lines?: number;
}

/** Shows the answer, or the API's refusal. Reserves the expected height until one of them arrives. */
export function AwaitAnswer<Answer>({ asked: { data, problem }, children, lines = 6 }: AwaitProps<Answer>) {
  if (problem !== undefined) return <p class="refused">{capitalized(problem.message)}.</p>;
  if (data !== undefined) return <>{children(data)}</>;
  return <Waiting lines={lines} />;
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

interface TableProps {
  /** Title and class of each column. `mid` and `wide` columns are hidden in narrow windows. */
  readonly columns: Readonly<Record<string, string>>;
  readonly look?: string;
  /** The rows. */
  readonly children: ComponentChildren;
  readonly below?: ComponentChildren;
}

/** A table that scrolls within its panel if the window is too narrow. */
export function Table({ columns, look, children, below }: TableProps) {
  return (
    <div class="scrolls">
      <table class={look}>
        <thead>
          <tr>
            {Object.entries(columns).map(([title, kind]) => (
              <th key={title} class={kind === '' ? undefined : kind}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
      {below}
    </div>
  );
}
