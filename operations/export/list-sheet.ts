import { engagementList, type ListName } from '../../base/lists.js';
import type { Cell, Sheet, SheetColumn } from '../../base/sheets/sheet.js';
import type { Ledger } from '../../ledger/ledger.js';
import { storedItems } from '../../ledger/pigeonholes.js';
import { type ExportedItem, exportedItems, type ExportTerms } from './exported-items.js';
import { cellOf, FieldNames, itemColumns, restColumn, valuesOf } from './list-columns.js';
import type { ExportedPlace } from './exported-place.js';

/**
 * Returns the sheet of a list. With personal data, the items are read twice: first for the names of their fields, which are
 * the columns, then for the rows. A field that appears in between is in the next export.
 */
export async function listSheet(
  ledger: Ledger,
  { pigeonholeNumber, timezone }: ExportedPlace,
  list: ListName,
  terms: ExportTerms,
): Promise<Sheet> {
  const names = new FieldNames(list);
  if (terms.personal)
    for await (const items of exportedItems(ledger, { pigeonholeNumber, list }, terms)) names.note(items);
  const paths = terms.personal ? names.paths() : [];
  const about = itemColumns(list);
  const rest: readonly SheetColumn[] = names.hasRest ? [{ name: restColumn, kind: 'text' }] : [];
  const columns = distinct([...paths.map(([name, kind]) => ({ name, kind })), ...rest, ...about]);
  const sessions = list === engagementList && terms.personal ? await sessionNames(ledger, pigeonholeNumber) : new Map();
  const known = new Set(paths.map(([path]) => path));
  const rowOf = (item: ExportedItem): Cell[] => {
    const values = valuesOf(item, sessions);
    const beyond = names.hasRest ? Object.fromEntries([...values].filter(([path]) => !known.has(path))) : {};
    return [
      ...paths.map(([path, kind]) => cellOf(values.get(path), kind)),
      ...rest.map(() => (Object.keys(beyond).length === 0 ? null : JSON.stringify(beyond))),
      ...about.map(({ of }) => of(item)),
    ];
  };
  const rows = async function* (): AsyncGenerator<Cell[][], void, undefined> {
    for await (const items of exportedItems(ledger, { pigeonholeNumber, list }, terms)) yield items.map(rowOf);
  };
  return { name: list, timezone, columns, rows: rows() };
}

async function sessionNames(ledger: Ledger, pigeonholeNumber: number): Promise<Map<string, string>> {
  const sessions = await storedItems(ledger, pigeonholeNumber, 'sessions');
  const named = sessions.map(({ key, payload }) => [key, (JSON.parse(payload) as { name?: unknown }).name] as const);
  return new Map(named.flatMap(([key, name]) => (typeof name === 'string' ? [[key, name] as const] : [])));
}

/** Gives columns of the same name a number, because profile fields have any name: `item.key (2)`. */
export function distinct(columns: readonly SheetColumn[]): SheetColumn[] {
  const taken = new Set<string>();
  return columns.map((column) => {
    let { name } = column;
    for (let n = 2; taken.has(name); n += 1) name = `${column.name} (${n})`;
    taken.add(name);
    return { name, kind: column.kind };
  });
}
