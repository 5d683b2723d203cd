import type { Ledger } from '../../ledger/ledger.js';
import type { ImportLease } from './chunks.js';

const pageAttendees = 1000;

/**
 * Looks at the rows whose codes were there before: where the attendee who signed in with such a code has another value in
 * a field that the row sets, it is a conflict. Registrants who have not signed in cannot be asked for, so theirs stays
 * unsaid. Safe to run twice.
 * @returns how many rows were found to be in conflict
 */
export async function reviewExisting(ledger: Ledger, lease: ImportLease): Promise<number> {
  const [any] = await ledger.db.query(`select 1 from registrants where import = $1 and outcome = 'existing' limit 1`, [
    lease.number,
  ]);
  if (any === undefined) return 0;
  let conflicts = 0;
  for (let after = ''; ;) {
    // oxlint-disable-next-line no-await-in-loop -- a page behind the one before
    const page = await ledger.db.query<{ key: string; payload: string }>(
      `select key, payload from items where ref = $1 and list = 'attendees' and key > $2 and payload is not null
       order by key limit ${pageAttendees}`,
      [lease.ref, after],
    );
    if (page.length === 0) return conflicts;
    after = page.at(-1)!.key;
    // oxlint-disable-next-line no-await-in-loop
    conflicts += await compare(
      ledger,
      lease,
      page.map(({ payload }) => JSON.parse(payload) as Fields),
    );
  }
}

type Fields = Readonly<Record<string, unknown>>;

async function compare(ledger: Ledger, lease: ImportLease, attendees: readonly Fields[]): Promise<number> {
  const byHash = new Map<string, Fields>();
  for (const attendee of attendees) {
    const code = attendee['attendeeCode'];
    if (typeof code === 'string' && code !== '') byHash.set(ledger.hash.attendeeCode(code).toString('hex'), attendee);
  }
  const rows = await ledger.db.query<{ code_hash: Buffer; profile: string }>(
    `select code_hash, profile from registrants
     where ref = $1 and code_hash = any($2::bytea[]) and import = $3 and outcome = 'existing'`,
    [lease.ref, [...byHash.keys()].map((hex) => Buffer.from(hex, 'hex')), lease.number],
  );
  const conflicts = rows.flatMap(({ code_hash: codeHash, profile }) => {
    const field = differingField(JSON.parse(profile) as Fields, byHash.get(codeHash.toString('hex'))!);
    return field === undefined ? [] : [{ codeHash, field }];
  });
  if (conflicts.length === 0) return 0;
  await ledger.db.query(
    `update registrants r set outcome = 'conflict', field = n.field,
       message = 'who signed in with this code has another value here: change it in the dashboard'
     from unnest($4::bytea[], $5::text[]) as n (code_hash, field)
     where r.ref = $1 and r.code_hash = n.code_hash and r.import = $2 and r.outcome = 'existing'
       and exists (select 1 from imports i where i.number = $2 and i.epoch = $3)`,
    [
      lease.ref,
      lease.number,
      lease.epoch,
      conflicts.map(({ codeHash }) => codeHash),
      conflicts.map(({ field }) => field),
    ],
  );
  return conflicts.length;
}

/** The first field that both have and of which they say different things. A field that the attendee lacks says nothing. */
function differingField(sent: Fields, stored: Fields): string | undefined {
  return Object.keys(sent).find(
    (name) => name !== 'attendeeCode' && typeof stored[name] === 'string' && stored[name] !== sent[name],
  );
}
