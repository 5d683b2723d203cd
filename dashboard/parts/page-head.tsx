import type { ComponentChildren } from 'preact';

interface Props {
  readonly title: string;
  /** What it is part of, before the title. */
  readonly kind: string;
  readonly note?: ComponentChildren;
  /** What can be done about it. */
  readonly children?: ComponentChildren;
}

/** What the page is about, and what can be done. */
export function PageHead({ title, kind, note, children }: Props) {
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
