import type { Ledger } from '../../ledger.js';

/** Columns of a file and the fields that they are sent as, kept under a name for the next event. */
export interface StoredMapping {
  readonly name: string;
  /** Null: the column is not sent. */
  readonly columns: Readonly<Record<string, string | null>>;
  readonly savedAt: Date;
}

/** Keeps a mapping under a name; an earlier one of that name is replaced. */
export async function saveMapping(
  ledger: Ledger,
  { name, columns, by }: Pick<StoredMapping, 'name' | 'columns'> & { readonly by: string | null },
): Promise<void> {
  await ledger.db.query(
    `insert into import_mappings (name, columns, saved_by) values ($1, $2, $3)
     on conflict (name) do update set columns = excluded.columns, saved_at = now(), saved_by = excluded.saved_by`,
    [name, JSON.stringify(columns), by],
  );
}

export async function findMapping(ledger: Ledger, name: string): Promise<StoredMapping | undefined> {
  return (await read(ledger, name))[0];
}

/** By name. */
export async function allMappings(ledger: Ledger): Promise<StoredMapping[]> {
  return await read(ledger, null);
}

async function read(ledger: Ledger, name: string | null): Promise<StoredMapping[]> {
  const rows = await ledger.db.query<{ name: string; columns: string; saved_at: Date }>(
    'select name, columns, saved_at from import_mappings where $1::text is null or name = $1 order by name',
    [name],
  );
  return rows.map(({ name: each, columns, saved_at: savedAt }) => ({
    name: each,
    columns: JSON.parse(columns) as StoredMapping['columns'],
    savedAt,
  }));
}
