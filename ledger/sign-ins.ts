import type { Consent } from './seen-item.js';
import { groupBy } from '../base/grouping.js';
import type { Queryable } from './drivers/database.js';
import type { Fields } from './item-form.js';
import type { Ledger } from './ledger.js';
import type { PageScope } from './items/write-changes.js';

/** Maximum number of attendees' changes that one call processes. */
const changesAtOnce = 200;
/** Maximum number of changes, of any list, that one statement reads to find changes of attendees. */
const sequencesAtOnce = 5000;

export interface AttendeeRow {
  readonly attendeeId: number;
  /** Null: deleted. */
  readonly payload: string | null;
}

interface SignIn {
  readonly attendeeId: number;
  readonly codeHash: Buffer | null;
  readonly registrantId: number | null;
  readonly signedInAt: string | null;
}

/**
 * Processes the next changes of attendees after a position: updates which attendee signed in as which registrant.
 * @returns hashes of the codes of registrants that the changes may concern, null if no change is left; and the sequence
 *   up to which changes are processed now
 */
export async function addSignIns(
  ledger: Ledger,
  tx: Queryable,
  scope: PageScope,
  position: number,
): Promise<{ readonly codes: readonly Buffer[] | null; readonly position: number }> {
  const end = Math.min(scope.nextSequence - 1, position + sequencesAtOnce);
  const changes = await tx.query<{ sequence: number; key: string }>(
    `select sequence, key from changes where pigeonhole_number = $1 and list = 'attendees' and sequence > $2
       and sequence <= $3
     order by sequence limit ${changesAtOnce}`,
    [scope.pigeonholeNumber, position, end],
  );
  const next = changes.length < changesAtOnce ? end : changes.at(-1)!.sequence;
  if (changes.length === 0) return { codes: end < scope.nextSequence - 1 ? [] : null, position: next };
  const attendees = await tx.query<AttendeeRow>(
    `select i.key::int8 as "attendeeId", i.payload from unnest($2::text[]) as n (key)
       cross join lateral (select key, payload, expired from items where pigeonhole_number = $1 and list = 'attendees'
         and key = n.key limit 1) i
     where not i.expired -- the stored sign-in stays, because the record no longer shows it`,
    [scope.pigeonholeNumber, [...new Set(changes.map(({ key }) => key))]],
  );
  return { codes: await replaceSignIns(ledger, tx, scope, attendees), position: next };
}

async function replaceSignIns(
  ledger: Ledger,
  tx: Queryable,
  { pigeonholeNumber, workspace }: PageScope,
  attendees: readonly AttendeeRow[],
): Promise<readonly Buffer[]> {
  const before = await tx.query<Pick<SignIn, 'codeHash' | 'registrantId'>>(
    `delete from sign_ins where ctid = any(array(
       select s.at from unnest($2::int8[]) as n (attendee_id) cross join lateral (select ctid as at from sign_ins
         where pigeonhole_number = $1 and attendee_id = n.attendee_id limit 1) s))
     returning code_hash as "codeHash", registrant_id as "registrantId"`,
    [pigeonholeNumber, attendees.map(({ attendeeId }) => attendeeId)],
  );
  const now = attendees.flatMap((row) => toSignIn(ledger, row) ?? []);
  await tx.query(
    `insert into sign_ins (pigeonhole_number, attendee_id, code_hash, registrant_id, signed_in_at, subject)
     select $1, n.* from unnest($2::int8[], $3::bytea[], $4::int8[], $5::text[], $6::bytea[]) as n`,
    [
      pigeonholeNumber,
      now.map(({ attendeeId }) => attendeeId),
      now.map(({ codeHash }) => codeHash),
      now.map(({ registrantId }) => registrantId),
      now.map(({ signedInAt }) => signedInAt),
      now.map(({ attendeeId }) => ledger.hash.subject(workspace, attendeeId, 'named')),
    ],
  );
  const ids = [...before, ...now].map(({ registrantId }) => registrantId);
  const others = await tx.query<Pick<SignIn, 'codeHash'>>(
    `select distinct s.code_hash as "codeHash" from unnest($2::int8[]) as n (registrant_id)
       cross join lateral (select code_hash from sign_ins
         where pigeonhole_number = $1 and registrant_id = n.registrant_id and code_hash is not null offset 0) s`,
    [pigeonholeNumber, [...new Set(ids.filter((id) => id !== null))]],
  );
  return distinct([...before, ...others, ...now].map(({ codeHash }) => codeHash));
}

/**
 * Stores the hash of the code that each of these attendees used, before their records are emptied, so that an erasure
 * request with the code can still find the attendee. Does not change hashes that are already stored.
 */
export async function keepCodes(
  ledger: Ledger,
  tx: Queryable,
  { pigeonholeNumber, workspace }: Pick<PageScope, 'pigeonholeNumber' | 'workspace'>,
  attendees: readonly AttendeeRow[],
): Promise<void> {
  const known = attendees.flatMap((row) => {
    const signIn = toSignIn(ledger, row);
    return signIn?.codeHash == null ? [] : [{ attendeeId: signIn.attendeeId, codeHash: signIn.codeHash }];
  });
  await tx.query(
    `insert into sign_ins (pigeonhole_number, attendee_id, code_hash, subject)
     select $1, n.* from unnest($2::int8[], $3::bytea[], $4::bytea[]) as n on conflict (pigeonhole_number, attendee_id)
       do nothing`,
    [
      pigeonholeNumber,
      known.map(({ attendeeId }) => attendeeId),
      known.map(({ codeHash }) => codeHash),
      known.map(({ attendeeId }) => ledger.hash.subject(workspace, attendeeId, 'named')),
    ],
  );
}

/** Deletes the sign-ins of the people that an erasure forgets. */
export async function eraseSignIns(ledger: Ledger, erasure: number): Promise<void> {
  await ledger.db.query(
    `delete from sign_ins s using forgotten f join pigeonholes p on p.workspace = f.workspace
     where f.erasure = $1 and s.pigeonhole_number = p.pigeonhole_number and s.subject = f.subject`,
    [erasure],
  );
}

/** Returns undefined if the record is deleted or holds nothing that identifies a registrant. */
function toSignIn(ledger: Ledger, { attendeeId, payload }: AttendeeRow): SignIn | undefined {
  if (payload === null) return undefined;
  // Parsed here and not in SQL, because the store cannot read members of a JSON text that contains U+0000.
  const { attendeeCode, registrantId, signInTime } = JSON.parse(payload) as Fields;
  const codeHash =
    typeof attendeeCode === 'string' && attendeeCode !== '' ? ledger.hash.attendeeCode(attendeeCode) : null;
  const id = typeof registrantId === 'number' && Number.isSafeInteger(registrantId) ? registrantId : null;
  if (codeHash === null && id === null) return undefined;
  const signedInAt = typeof signInTime === 'string' && signInTime !== '' ? signInTime : null;
  return { attendeeId, codeHash, registrantId: id, signedInAt };
}

function distinct(hashes: readonly (Buffer | null)[]): Buffer[] {
  const all = new Map(hashes.flatMap((hash) => (hash === null ? [] : [[hash.toString('hex'), hash] as const])));
  return [...all.values()];
}

interface LinkedRow extends LinkedAttendee {
  readonly codeHash: Buffer;
}

/**
 * Returns the attendees of these registrants, by the hex hash of the code: attendees who used the code, and attendees
 * without a code who have the same registrant id. Omits attendees whose record no longer exists.
 */
export async function linkedAttendees(
  tx: Queryable,
  pigeonholeNumber: number,
  codeHashes: readonly Buffer[],
): Promise<Map<string, LinkedAttendee[]>> {
  const rows = await tx.query<LinkedRow>(
    `with direct as (
       select s.* from unnest($2::bytea[]) as n (code_hash)
         cross join lateral (select code_hash, attendee_id, registrant_id, signed_in_at from sign_ins
           where pigeonhole_number = $1 and code_hash = n.code_hash offset 0) s),
     linked as (
       select * from direct
       union
       select d.code_hash, s.attendee_id, s.registrant_id, s.signed_in_at from direct d
         cross join lateral (select attendee_id, registrant_id, signed_in_at from sign_ins
           where pigeonhole_number = $1 and registrant_id = d.registrant_id and code_hash is null offset 0) s)
     select l.code_hash as "codeHash", l.attendee_id as "attendeeId", l.registrant_id as "registrantId",
       l.signed_in_at as "signedInAt", a.consent
     from linked l
       cross join lateral (select consent from items where pigeonhole_number = $1 and list = 'attendees'
         and key = l.attendee_id::text and payload is not null and consent is not null limit 1) a
     order by l.attendee_id`,
    [pigeonholeNumber, codeHashes],
  );
  return groupBy(rows, ({ codeHash }) => codeHash.toString('hex'));
}

/** An attendee who signed in with a registrant's code, or who has the id that the service gave the registrant. */
export interface LinkedAttendee {
  readonly attendeeId: number;
  readonly registrantId: number | null;
  /** Sign-in time as the service reports it; null: the attendee has not signed in yet. */
  readonly signedInAt: string | null;
  readonly consent: Consent;
}
