import { requestPage } from '../../work/requests/request-page.js';
import type { Collaborators } from '../../work/collaborators.js';
import { isToBeJudged } from '../../work/failures.js';
import type { ImportTarget } from './import-views.js';
import type { Ledger } from '../../ledger/ledger.js';
import { readableJson } from '../../ledger/readable-json.js';
import { findRef } from '../../ledger/pigeonholes.js';

const requestTimeoutMs = 20_000;
/** Text properties of an attendee that are not profile fields. Source: specification, "Attendee". */
const attendeeFields = ['attendeeCode', 'signInTime'];
/** Attendees to request when the ledger knows none. All attendees of a pigeonhole have the same fields, filled in or not. */
const maxAttendees = 30;

/**
 * Returns the profile fields of a pigeonhole: from the ledger, or else from a page of attendees requested from the service.
 * Empty if the pigeonhole has no attendees yet or the service cannot be reached.
 */
export async function profileFieldsOf(
  deps: Pick<Collaborators, 'clients' | 'config' | 'gate' | 'ledger' | 'log'>,
  { workspace, pigeonholeId }: Pick<ImportTarget, 'workspace' | 'pigeonholeId'>,
): Promise<string[]> {
  const ref = await findRef(deps.ledger.db, workspace, pigeonholeId);
  const known = ref === undefined ? [] : await knownProfileFields(deps.ledger, ref);
  if (known.length > 0) return known;
  try {
    const page = await requestPage(
      deps,
      { workspace, priority: 'import' },
      { list: 'attendees', pigeonholeId },
      { count: maxAttendees, signal: AbortSignal.timeout(requestTimeoutMs) },
    );
    return fieldsOf(page.items);
  } catch (error) {
    if (!isToBeJudged(error)) throw error;
    deps.log.debug({ workspace, pigeonhole: pigeonholeId }, 'could not read the profile fields of attendees');
    return []; // without known fields the import gives no warnings about unknown ones, but can start
  }
}

function fieldsOf(items: readonly object[]): string[] {
  const texts = items.flatMap((item) => Object.entries(item).filter(([, value]) => typeof value === 'string'));
  return [...new Set(texts.map(([field]) => field))].filter((field) => !attendeeFields.includes(field)).toSorted();
}

/** The newest attendees and registrants to inspect. All people of a pigeonhole have the same profile fields. */
const maxInspected = 1000;

/**
 * Returns the profile fields of a pigeonhole seen so far: texts of stored attendees and fields of earlier imports, without
 * the attendee code.
 */
export async function knownProfileFields(ledger: Ledger, ref: number): Promise<string[]> {
  const rows = await ledger.db.query<{ field: string }>(
    `select distinct e.field from (
       select payload as json from (select payload from items where ref = $1 and list = 'attendees' and payload is not null
         order by last_sequence desc limit ${maxInspected}) as a
       union all
       select profile from (select profile from registrants where ref = $1 limit ${maxInspected}) as r
     ) as known
       cross join lateral (select ${readableJson('known.json')} as json) c
       cross join lateral (select key as field from json_each(c.json) where json_typeof(value) = 'string') e
     where e.field <> all($2::text[]) order by 1`,
    [ref, attendeeFields],
  );
  return rows.map(({ field }) => field);
}
