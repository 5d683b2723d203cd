import type { ComponentChildren } from 'preact';

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
