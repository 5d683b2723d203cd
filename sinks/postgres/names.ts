/** Holds whose the schema is, and nothing else. */
export const MARKER_TABLE = 'pigeonpost_ledger';

/** A name in a statement. Names come from the configuration and the table of tables, never from items. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function qualified(schema: string, table: string): string {
  return `${quoted(schema)}.${quoted(table)}`;
}

export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
