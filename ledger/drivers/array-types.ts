const known = new Map<string, ReadonlyMap<number, string>>();
/** As many texts as are given names (`statement-name.ts`); beyond, each is looked through at every run. */
const mostTexts = 1000;

/** Other names of types, as PostgreSQL's own statements call them. */
const sameType: Readonly<Record<string, string>> = { integer: 'int4', int: 'int4', bigint: 'int8', bool: 'boolean' };

/** The element types that a statement casts its parameters' arrays to (`$3::text[]`), by position from 0. */
export function arrayTypes(sql: string): ReadonlyMap<number, string> {
  let types = known.get(sql);
  if (types !== undefined) return types;
  types = new Map(
    [...sql.matchAll(/\$(\d+)::(\w+)\[\]/g)].map(([, number, type]) => [Number(number) - 1, sameType[type!] ?? type!]),
  );
  if (known.size < mostTexts) known.set(sql, types);
  return types;
}
