import type { Ledger } from '../../ledger/ledger.js';
import { type ImportProgress, readImport } from './read-import.js';

/** Imports that ended after an instant, oldest first. @param known numbers of those that are left out */
export async function endedImports(
  ledger: Ledger,
  { after, known }: { readonly after: Date; readonly known: readonly number[] },
): Promise<ImportProgress[]> {
  const rows = await ledger.db.query<{ id: string }>(
    `select id::text as id from imports where ended_at > $1 and state in ('done', 'cancelled')
       and number <> all($2::int4[]) order by ended_at limit 100`,
    [after, known],
  );
  const imports: ImportProgress[] = [];
  for (const { id } of rows) {
    // oxlint-disable-next-line no-await-in-loop -- hardly ever more than one
    const found = await readImport(ledger, id);
    if (found !== undefined) imports.push(found);
  }
  return imports;
}
