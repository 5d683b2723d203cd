import type { Collaborators } from '../../work/collaborators.js';
import { ImportRefusal } from './import-request.js';
import type { ImportTarget } from './import-views.js';
import { beginImport, discardImport, startImport as beginSending, stageAll } from '../staging.js';
import { saveMapping } from './saved-mappings.js';
import { refOf } from '../../ledger/pigeonholes.js';
import { unknownFields, type ColumnMapping } from '../files/column-mapping.js';
import { hashedBytes, openRegistrants, type ReadingTerms } from './open-registrants.js';

export interface StartTerms extends ReadingTerms {
  /** UUID. */
  readonly id: string;
  readonly target: ImportTarget;
  readonly canary: number | null;
  readonly requestedBy: string | null;
  /** The id of the named token with which it was asked for; null: with none. */
  readonly requestedToken: string | null;
  /** What the file's content hash has to be, in hex, when somebody has looked at it; null: nobody has. */
  readonly content: string | null;
  /** Keep the mapping under this name; null: do not. */
  readonly saveMapping: string | null;
  /** `refuse`: nobody is there to confirm fields that were never seen, but where they were named on purpose. */
  readonly strangeFields: 'accept' | 'refuse';
}

/** As it is stored with an import, for its report: in the order of the file. */
export interface StoredColumns {
  readonly columns: readonly { readonly column: string; readonly property: string | null }[];
}

/**
 * Takes a file into the ledger, row by row; once all of it is there and is what was looked at, it may be sent.
 * @throws {RegistrantFileError} when the file cannot be used
 * @throws {ImportRefusal} when it is not what was looked at; after any error nothing of it is left in the ledger
 */
export async function startImport(
  { ledger, log }: Pick<Collaborators, 'ledger' | 'log'>,
  source: AsyncIterable<Uint8Array>,
  terms: StartTerms,
): Promise<void> {
  const { id, target, canary, requestedBy, requestedToken } = terms;
  const hashed = hashedBytes(source);
  const { mapping, rows } = await openRegistrants(hashed.bytes, terms);
  if (terms.strangeFields === 'refuse') refuseStrangeFields(mapping, terms);
  const ref = await refOf(ledger, target.workspace, target.pigeonholeId);
  const columns: StoredColumns = { columns: mapping.columns.map(({ column, property }) => ({ column, property })) };
  const file = terms.file.name;
  const number = await beginImport(ledger, { id, ref, file, mapping: columns, requestedBy, requestedToken, canary });
  try {
    const staged = await stageAll(ledger, number, rows);
    const content = ledger.hash.file(await hashed.digest());
    if (terms.content !== null && terms.content !== content.toString('hex')) {
      throw new ImportRefusal('stopped', 'the file has changed since it was looked at: import it again');
    }
    await beginSending(ledger, number, staged);
    log.info(
      { import: id, number, workspace: target.workspace, pigeonhole: target.pigeonholeId, rows: staged },
      'import begun',
    );
  } catch (error) {
    await discardImport(ledger, number).catch((failure: unknown) =>
      log.warn(
        { import: id, error: failure instanceof Error ? failure.name : 'unknown' },
        'staged rows are left to be cleared',
      ),
    );
    throw error;
  }
  if (terms.saveMapping === null) return;
  const kept = Object.fromEntries(mapping.columns.map(({ column, property }) => [column, property]));
  await saveMapping(ledger, {
    workspace: target.workspace,
    name: terms.saveMapping,
    columns: kept,
    by: requestedBy,
  });
}

function refuseStrangeFields(mapping: ColumnMapping, { knownFields, wishes }: StartTerms): void {
  if (knownFields.length === 0) return; // there is nothing to compare with
  const named = { ...wishes.saved, ...wishes.own };
  const strange = unknownFields(mapping, knownFields).filter(({ column }) => !Object.hasOwn(named, column));
  if (strange.length === 0) return;
  const fields = strange.map(({ property }) => property).join(', ');
  throw new ImportRefusal(
    'wrong',
    `these fields were never seen at this pigeonhole, and the service would ignore them without a word: ${fields}; name their columns in "map" of pigeonpost.yaml, or remove them`,
  );
}
