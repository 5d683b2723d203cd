import type { ComponentChildren } from 'preact';

interface Props {
  readonly title: string;
  /** The parent page, before the title. */
  readonly kind: string;
  readonly note?: ComponentChildren;
  /** Actions. */
  readonly children?: ComponentChildren;
}

/** The title of a page and its actions. */
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
