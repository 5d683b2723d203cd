/** One list at one sink: what the source holds, and what became of it. */
export interface ComparedRow {
  readonly list: string;
  readonly sink: string;
  readonly source: number;
  readonly delivered: number;
  readonly withheld: number;
}

export interface CountsToCompare {
  /** By list. */
  readonly source: ReadonlyMap<string, number>;
  /** By sink, then by list, as counted at the destination. */
  readonly delivered: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** By sink, then by list, as the ledger says. */
  readonly withheld: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** The lists of sinks that do not take all. */
  readonly lists?: ReadonlyMap<string, readonly string[]>;
}

/** A row for each list at each sink that takes it; a list that only a destination has ever heard of gets one, too. Pure. */
export function compareCounts({ source, delivered, withheld, lists: own }: CountsToCompare): ComparedRow[] {
  const takes = (sink: string, list: string): boolean => own?.get(sink)?.includes(list) ?? true;
  const lists = new Set([...source.keys(), ...[...delivered.values()].flatMap((counts) => [...counts.keys()])]);
  return [...lists].flatMap((list) =>
    [...delivered.keys()]
      .filter((sink) => takes(sink, list))
      .map((sink) => ({
        list,
        sink,
        source: source.get(list) ?? 0,
        delivered: delivered.get(sink)?.get(list) ?? 0,
        withheld: withheld.get(sink)?.get(list) ?? 0,
      })),
  );
}

export function agrees({ source, delivered, withheld }: ComparedRow): boolean {
  return source === delivered + withheld;
}

/** The rows as a table whose columns are as wide as they need to be. Pure. */
export function formatComparison(rows: readonly ComparedRow[]): string[] {
  const head = ['list', 'sink', 'source', '=', 'delivered', '+', 'withheld', ''];
  const cells = rows.map((row) => [
    row.list,
    row.sink,
    String(row.source),
    '=',
    String(row.delivered),
    '+',
    String(row.withheld),
    agrees(row) ? 'agrees' : `DIFFERS by ${row.delivered + row.withheld - row.source}`,
  ]);
  const widths = head.map((title, column) => Math.max(title.length, ...cells.map((row) => row[column]!.length)));
  const isNumber = (column: number): boolean => column === 2 || column === 4 || column === 6;
  return [head, ...cells].map((row) =>
    row
      .map((cell, column) => (isNumber(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd(),
  );
}
