/** What every table has, before and after its own columns. */
export interface CommonColumn {
  readonly name: string;
  /** As PostgreSQL's `format_type` writes it. */
  readonly type: string;
  readonly notNull: boolean;
  readonly comment: string;
}

export const primaryKey: readonly string[] = ['workspace', 'pigeonhole_id', 'key'];

export const leadingColumns: readonly CommonColumn[] = [
  { name: 'workspace', type: 'text', notNull: true, comment: 'The workspace, by its name in pigeonpost.yaml.' },
  { name: 'pigeonhole_id', type: 'bigint', notNull: true, comment: 'The pigeonhole; 0: it belongs to the workspace.' },
  { name: 'key', type: 'text', notNull: true, comment: 'Identifies the item in its list and pigeonhole.' },
];

export const trailingColumns: readonly CommonColumn[] = [
  {
    name: 'anonymous',
    type: 'boolean',
    notNull: false,
    comment: 'True: without a person, by their choice or for want of consent. Null: no one stands behind such a row.',
  },
  { name: 'revision', type: 'bigint', notNull: true, comment: '1, 2, 3… per item; a newer one replaces an older.' },
  { name: 'sequence', type: 'bigint', notNull: true, comment: 'Rises with every change in the pigeonhole.' },
  { name: 'found_at', type: 'timestamp with time zone', notNull: true, comment: 'When this revision was found.' },
  {
    name: 'updated_at',
    type: 'timestamp with time zone',
    notNull: true,
    comment: "When this row was written, by this database's clock.",
  },
  {
    name: 'deleted_at',
    type: 'timestamp with time zone',
    notNull: false,
    comment: 'When the item was found to be deleted; null: it is there. What it said of a person is gone then.',
  },
  {
    name: 'raw',
    type: 'jsonb',
    notNull: false,
    comment: 'The whole item as the service gave it, fields without a column included.',
  },
];
