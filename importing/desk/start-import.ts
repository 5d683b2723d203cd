import type { Collaborators } from '../../cycles/collaborators.js';
import { ImportRefusal } from './import-request.js';
import { type EncodingGuess, unsureEncoding } from '../files/find-encoding.js';
import { RegistrantFileError } from '../files/registrant-file.js';
import type { ImportTarget } from './import-views.js';
import { beginImport, discardImport, startImport as beginSending } from '../../ledger/imports/imports.js';
import { stageAll } from '../staging.js';
import { pigeonholeNumberOf } from '../../ledger/pigeonholes.js';
import { asWishes } from '../files/mapping-wishes.js';
import { codeColumnDoubt, unknownFields } from '../files/check-mapping.js';
import type { ColumnMapping } from '../files/column-mapping.js';
import {
  type HashedBytes,
  type OpenedRegistrants,
  withRegistrants,
  type ReadingTerms,
  saveMapping,
} from './open-registrants.js';

interface StartTerms extends ReadingTerms {
  /** UUID. */
  readonly id: string;
  readonly target: ImportTarget;
  readonly canary: number | null;
  readonly requestedBy: string | null;
  /** Id of the named token of the request; null: none. */
  readonly requestedToken: string | null;
  /** Expected content hash in hex, if a person has checked the file; null: not checked. */
  readonly content: string | null;
  /** Name under which to save the mapping; null: do not save it. */
  readonly saveMapping: string | null;
  /** `refuse`: no person can confirm unknown fields, so only explicitly named ones are accepted. */
  readonly strangeFields: 'accept' | 'refuse';
}

/** The mapping as stored with an import for its report, in the order of the file. */
export interface StoredColumns {
  readonly columns: readonly { readonly column: string; readonly property: string | null }[];
}

/**
 * Stages a file in the ledger. It may be sent once it is complete and matches the checked content.
 * @throws {RegistrantFileError} if the file cannot be used
 * @throws {ImportRefusal} if it is not the checked file. After any error, the ledger keeps nothing of it
 */
export async function startImport(
  deps: Pick<Collaborators, 'ledger' | 'log'>,
  source: AsyncIterable<Uint8Array>,
  terms: StartTerms,
): Promise<void> {
  const { columns } = await withRegistrants(source, terms, async (opened, hashed) => {
    await stageOpened(deps, opened, hashed, terms);
    return opened.mapping;
  });
  if (terms.saveMapping === null) return;
  await saveMapping(deps.ledger, {
    workspace: terms.target.workspace,
    name: terms.saveMapping,
    columns: asWishes({ columns }),
    by: terms.requestedBy,
  });
}

async function stageOpened(
  { ledger, log }: Pick<Collaborators, 'ledger' | 'log'>,
  opened: OpenedRegistrants,
  hashed: HashedBytes,
  terms: StartTerms,
): Promise<void> {
  const { mapping, rows } = opened;
  const { id, target, canary, requestedBy, requestedToken } = terms;
  if (terms.strangeFields === 'refuse') refuseStrangeFields(mapping, terms);
  refuseUnsureEncoding(opened.file.encodingGuess()); // and again after the last row, when the guess is final
  if (mapping.code.basis === 'several' || mapping.code.basis === 'guessed') {
    for await (const portion of rows) void portion; // the refusal says what all values look like
    refuseDoubtfulCodes(opened);
  }
  const pigeonholeNumber = await pigeonholeNumberOf(ledger, target.workspace, target.pigeonholeId);
  const columns: StoredColumns = { columns: mapping.columns.map(({ column, property }) => ({ column, property })) };
  const file = terms.file.name;
  const number = await beginImport(ledger, {
    id,
    pigeonholeNumber,
    file,
    mapping: columns,
    requestedBy,
    requestedToken,
    canary,
  });
  try {
    const staged = await stageAll(ledger, number, rows);
    refuseDoubtfulCodes(opened);
    refuseUnsureEncoding(opened.file.encodingGuess());
    const content = ledger.hash.file(await hashed.digest());
    if (terms.content !== null && terms.content !== content.toString('hex')) {
      throw new ImportRefusal('stopped', 'the file has changed since it was checked: check and import it again');
    }
    await beginSending(ledger, number, staged);
    log.info(
      { import: id, number, workspace: target.workspace, pigeonhole: target.pigeonholeId, rows: staged },
      'import started',
    );
  } catch (error) {
    await discardImport(ledger, number).catch((failure: unknown) =>
      log.warn(
        { import: id, error: failure instanceof Error ? failure.name : 'unknown' },
        'staged rows could not be deleted; the reconciler will delete them',
      ),
    );
    throw error;
  }
}

/** Refuses to create registrants with codes from a column that nobody has named. @throws {ImportRefusal} */
function refuseDoubtfulCodes({ mapping, codes }: OpenedRegistrants): void {
  const doubt = codeColumnDoubt(mapping.code, codes.codeEvidence);
  if (doubt !== null) throw new ImportRefusal('wrong', doubt);
}

/** Refuses names that may be garbled: nobody who could see it has confirmed the guess. @throws {RegistrantFileError} */
function refuseUnsureEncoding(guess: EncodingGuess | null): void {
  if (guess === null || guess.isSure) return;
  throw new RegistrantFileError('encoding', unsureEncoding(guess));
}

function refuseStrangeFields(mapping: ColumnMapping, { knownFields, wishes }: StartTerms): void {
  if (knownFields.length === 0) return; // nothing to compare with
  const named = new Set(Object.values({ ...wishes.saved, ...wishes.own }));
  const strange = unknownFields(mapping, knownFields).filter(({ property }) => !named.has(property));
  if (strange.length === 0) return;
  const fields = strange.map(({ property }) => property).join(', ');
  throw new ImportRefusal(
    'wrong',
    `this pigeonhole has no such fields, and the service would silently ignore them: ${fields}; name their columns in "map" of pigeonpost.yaml, or remove them`,
  );
}
