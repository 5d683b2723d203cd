import type { ComponentChildren } from 'preact';

interface Props {
  readonly title: string;
  /** Beside the title: a number or a button. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
  /** Anchor of the panel. */
  readonly id?: string;
}

export function Panel({ title, aside, children, id }: Props) {
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
