import { RegistrantFileError } from './registrant-file.js';
import { codeProperty, foldWord } from './field-words.js';
import type { MappedColumn, ColumnMapping } from './column-mapping.js';

/**
 * Requested fields by column; null: do not send the column. `First name+Last name` names two columns whose values
 * are joined with a space. Saved mappings have the same form.
 */
export type MappingWishes = Readonly<Record<string, string | null>>;

export function wishesByColumn(columns: readonly string[], wishes: MappingWishes): Map<string, MappedColumn> {
  const byColumn = new Map<string, MappedColumn>();
  const properties = new Set<string>();
  for (const [name, property] of Object.entries(wishes)) {
    const wished = wishedColumns(columns, name);
    if ('missing' in wished) {
      throw mappingError(
        `The mapping names a column ${JSON.stringify(wished.missing)}, which the file does not have; correct the name.`,
      );
    }
    if (property !== null && properties.has(property)) {
      throw mappingError(
        `The mapping sends two columns as ${JSON.stringify(property)}; leave one of them out, or join them as in "First name+Last name=${property}".`,
      );
    }
    if (property !== null) properties.add(property);
    const isJoined = wished.columns.length > 1 && property !== null;
    if (isJoined && property === codeProperty) {
      throw mappingError(`The mapping joins ${JSON.stringify(name)} to a code; a code is a single column.`);
    }
    for (const [part, column] of wished.columns.entries()) {
      if (byColumn.has(column)) {
        throw mappingError(`The mapping names the column ${JSON.stringify(column)} twice; leave one out.`);
      }
      byColumn.set(column, { column, property, guessed: false, ...(isJoined ? { part } : {}) });
    }
  }
  return byColumn;
}

/** Finds the columns of a wish: one, or those that `+` joins. A header may contain `+` as well. */
function wishedColumns(
  columns: readonly string[],
  name: string,
): { readonly columns: readonly string[] } | { readonly missing: string } {
  const find = (each: string): string | undefined =>
    columns.find((column) => column === each) ?? columns.find((column) => foldWord(column) === foldWord(each));
  const whole = columns.find((column) => column === name);
  if (whole !== undefined) return { columns: [whole] };
  const names = name.split('+').map((each) => each.trim());
  const found = names.map(find);
  if (names.length === 1 || found.every((column) => column === undefined)) {
    const only = find(name);
    return only === undefined ? { missing: name } : { columns: [only] };
  }
  const missing = names.find((_, n) => found[n] === undefined);
  return missing === undefined ? { columns: found as string[] } : { missing };
}

/**
 * Returns the wishes of a saved mapping that concern a file: those whose columns it has, unless the caller's own wishes
 * are about one of these columns.
 */
export function wishesFor(columns: readonly string[], saved: MappingWishes, own: MappingWishes): MappingWishes {
  const found = (name: string): readonly string[] | null => {
    const wished = wishedColumns(columns, name);
    return 'missing' in wished ? null : wished.columns;
  };
  const named = new Set(Object.keys(own).flatMap((name) => found(name) ?? []));
  return Object.fromEntries(
    Object.entries(saved).filter(([name]) => found(name)?.every((column) => !named.has(column)) ?? false),
  );
}

/** Returns a mapping in the form in which it is requested and saved: joined columns as one wish. */
export function asWishes({ columns }: Pick<ColumnMapping, 'columns'>): MappingWishes {
  const parts = (property: string | null): string =>
    columns
      .filter((each) => each.property === property && each.part !== undefined)
      .toSorted((a, b) => a.part! - b.part!)
      .map(({ column }) => column)
      .join('+');
  return Object.fromEntries(
    columns.map(({ column, property, part }) => [part === undefined ? column : parts(property), property]),
  );
}

export function mappingError(message: string): RegistrantFileError {
  return new RegistrantFileError('mapping', message);
}

/**
 * Parses mappings of the command line: `Attendee code=attendeeCode` sends a column as a field, `Notes=` omits it. The
 * last `=` separates, because headers contain it more often than field names.
 * @throws {RegistrantFileError} kind `mapping` for a text without `=` or a column named twice
 */
export function parseMapping(flags: readonly string[]): MappingWishes {
  const wishes = new Map<string, string | null>();
  for (const flag of flags) {
    const at = flag.lastIndexOf('=');
    const column = flag.slice(0, Math.max(at, 0)).trim();
    if (column === '') {
      throw mappingError(`The mapping ${JSON.stringify(flag)} is not of the form "column=field".`);
    }
    if (wishes.has(column)) {
      throw mappingError(`The mapping names the column ${JSON.stringify(column)} twice; leave one out.`);
    }
    const property = flag.slice(at + 1).trim();
    wishes.set(column, property === '' ? null : property);
  }
  return Object.fromEntries(wishes);
}
