import { askPage } from '../../work/asking/ask-page.js';
import type { Collaborators } from '../../work/collaborators.js';
import { isToBeJudged } from '../../work/failures.js';
import type { ImportTarget } from './import-views.js';
import { knownProfileFields } from '../queries/known-fields.js';
import { findRef } from '../../ledger/pigeonholes.js';

const askMs = 20_000;
/** People of one pigeonhole have the same fields, whether or not they filled them in. */
const someone = 30;

/**
 * The profile fields that are known of a pigeonhole: from what was read and imported, and where that is nothing, from
 * some attendees that the service is asked for. Empty: nobody is there yet, or the service cannot be asked now.
 */
export async function profileFieldsOf(
  to: Pick<Collaborators, 'clients' | 'config' | 'gate' | 'ledger' | 'log'>,
  { workspace, pigeonholeId }: Pick<ImportTarget, 'workspace' | 'pigeonholeId'>,
): Promise<string[]> {
  const ref = await findRef(to.ledger.db, workspace, pigeonholeId);
  const known = ref === undefined ? [] : await knownProfileFields(to.ledger, ref);
  if (known.length > 0) return known;
  try {
    const page = await askPage(
      to,
      { workspace, priority: 'import' },
      { list: 'attendees', pigeonholeId },
      { count: someone, signal: AbortSignal.timeout(askMs) },
    );
    return fieldsOf(page.items);
  } catch (error) {
    if (!isToBeJudged(error)) throw error;
    to.log.debug({ workspace, pigeonhole: pigeonholeId }, 'attendees could not be asked for their fields');
    return []; // then nothing is said of fields: a warning less, and no import held back
  }
}

/** Texts of attendees that are no fields of their own. */
const ownFields: ReadonlySet<string> = new Set(['attendeeCode', 'signInTime']);

function fieldsOf(items: readonly object[]): string[] {
  const texts = items.flatMap((item) => Object.entries(item).filter(([, value]) => typeof value === 'string'));
  return [...new Set(texts.map(([field]) => field))].filter((field) => !ownFields.has(field)).toSorted();
}
