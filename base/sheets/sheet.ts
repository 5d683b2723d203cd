/** An instant, which a sheet shows as the local time of its time zone. */
export interface Moment {
  /** Epoch ms. */
  readonly atMs: number;
}

/** A calendar day. */
export interface Day {
  /** `YYYY-MM-DD`. */
  readonly day: string;
}

/** A value of a sheet. A text is never executed or converted by a spreadsheet; null is an empty cell. */
export type Cell = string | number | boolean | Moment | Day | null;

/** The type that a column is expected to hold. Each cell is written by its own type, so a text among numbers stays a text. */
export type CellKind = 'text' | 'number' | 'flag' | 'moment' | 'day';

export interface SheetColumn {
  readonly name: string;
  readonly kind: CellKind;
}

/** One table, read while it is written. */
export interface Sheet {
  /** A word or two. In a workbook, its first 31 characters name the sheet. */
  readonly name: string;
  /** The time zone of all moments. */
  readonly timezone: string;
  readonly columns: readonly SheetColumn[];
  /** Rows in batches. A row has at most as many cells as there are columns. */
  readonly rows: AsyncIterable<readonly (readonly Cell[])[]>;
}

/** Returns the header of a column. That of moments names the time zone: `createdAt (Europe/Berlin)`. */
export function headerOf({ name, kind }: SheetColumn, { timezone }: Pick<Sheet, 'timezone'>): string {
  return kind === 'moment' ? `${name} (${timezone})` : name;
}
