import type { Queryable } from '../ledger/drivers/database.js';
import type { Fields } from '../ledger/item-form.js';
import type { Ledger } from '../ledger/ledger.js';
import { useIndexes } from '../ledger/sql-expressions.js';

/** The name of a person in a request: the id of an attendee, an attendee code, or an e-mail address. */
export interface PersonName {
  readonly by: 'id' | 'code' | 'email';
  readonly text: string;
  /** Search only this workspace; null: all workspaces. */
  readonly workspace: string | null;
}

/**
 * Returns the kinds of identifier that a text may be. An ID identifies one attendee. A code or an address identifies
 * everyone who has it, in every pigeonhole. Pure.
 */
export function waysToName(text: string): Pick<PersonName, 'by' | 'text'>[] {
  const [, by, rest] = /^(id|code|email):(.+)$/s.exec(text) ?? [];
  if (by !== undefined && rest !== undefined) return [{ by: by as PersonName['by'], text: rest.trim() }];
  return [
    ...(isAttendeeId(text) ? [{ by: 'id' as const, text }] : []),
    ...(text.includes('@') ? [{ by: 'email' as const, text }] : []),
    { by: 'code', text },
  ];
}

/**
 * Returns why a text that says how it names a person (`id:…`, `code:…`, `email:…`) can match nobody; undefined if it may
 * match someone. Pure.
 */
export function whyNameless(text: string): string | undefined {
  const [, by, rest = ''] = /^(id|code|email):(.*)$/s.exec(text) ?? [];
  if (by === undefined) return undefined;
  const name = rest.trim();
  if (name === '') return `"${by}:" must be followed by ${nouns[by]}`;
  if (by === 'email' && !name.includes('@')) {
    return '"email:" must be followed by a whole e-mail address, which contains "@"; for an attendee code, write code:…';
  }
  if (by === 'id' && !isAttendeeId(name)) {
    return '"id:" must be followed by the number of an attendee; for an attendee code, write code:…';
  }
  return undefined;
}

const nouns: Readonly<Record<string, string>> = {
  id: 'the number of an attendee',
  code: 'an attendee code',
  email: 'an e-mail address',
};

function isAttendeeId(text: string): boolean {
  return /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text));
}

/** The ids and codes of a person in one pigeonhole. */
export interface PersonPlace {
  readonly pigeonholeNumber: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly attendeeIds: readonly number[];
  /** The codes with which the person was imported or has signed in. */
  readonly codes: readonly string[];
}

interface FoundRow extends Pick<PersonPlace, 'pigeonholeNumber' | 'workspace' | 'pigeonholeId'> {
  readonly text: string;
  readonly key: string | null;
}

/**
 * Returns everyone whom a name matches, by pigeonhole: attendees whose current or earlier data contains the name,
 * registrants, and attendees who have the code of one of these in the same pigeonhole. An id matches one attendee; a
 * code or an e-mail address may match in every pigeonhole. Reads only records that an index finds.
 */
export async function findPerson(ledger: Ledger, name: PersonName): Promise<PersonPlace[]> {
  const places = new Map<number, MutablePlace>();
  await ledger.db.transaction(async (tx) => {
    await useIndexes(tx);
    const search = { tx, hash: ledger.hash };
    if (name.by === 'id') await addAttendee(search, name, places);
    else await addHolders(search, name, places);
    if (name.by === 'code') await addByHash(search, name, places);
    await addByCodes(search, places);
  });
  return [...places.values()].map(({ attendeeIds, codes, ...place }) => ({
    ...place,
    attendeeIds: [...attendeeIds],
    codes: [...codes],
  }));
}

interface MutablePlace extends Omit<PersonPlace, 'attendeeIds' | 'codes'> {
  readonly attendeeIds: Set<number>;
  readonly codes: Set<string>;
}

type Places = Map<number, MutablePlace>;

/** The transaction of a search. */
interface Search {
  readonly tx: Queryable;
  readonly hash: Ledger['hash'];
}

/**
 * Adds an attendee. If the record was deleted in the service, their code is in its last revision. If the record has
 * expired, only the hash of their code is left, which the rows of imports have as well.
 */
async function addAttendee({ tx }: Search, { text, workspace }: PersonName, places: Places): Promise<void> {
  const rows = await tx.query<FoundRow>(
    `with own as (
       select p.pigeonhole_number, p.workspace, p.pigeonhole_id, i.key, i.payload
       from pigeonholes p cross join lateral (
         select key, payload from items where pigeonhole_number = p.pigeonhole_number and list = 'attendees'
           and key = $1 and not erased limit 1) i
       where $2::text is null or p.workspace = $2)
     select o.pigeonhole_number as "pigeonholeNumber", o.workspace, o.pigeonhole_id as "pigeonholeId", o.key,
       coalesce(o.payload, c.snapshot, '{}')::text as text
     from own o left join lateral (
       select snapshot from changes where pigeonhole_number = o.pigeonhole_number and list = 'attendees'
         and key = o.key and snapshot is not null
       order by sequence desc limit 1) c on o.payload is null
     union all
     select o.pigeonhole_number as "pigeonholeNumber", o.workspace, o.pigeonhole_id, o.key, r.text
     from own o join sign_ins s on s.pigeonhole_number = o.pigeonhole_number and s.attendee_id = o.key::int8
       cross join lateral (
         select profile::text as text from registrants where pigeonhole_number = s.pigeonhole_number
           and code_hash = s.code_hash
         union all
         select w.profile::text from import_rows w join imports i on i.number = w.import
         where i.pigeonhole_number = s.pigeonhole_number and w.code_hash = s.code_hash) r`,
    [text, workspace],
  );
  for (const row of rows) addFound(places, row, JSON.parse(row.text) as Fields);
}

/**
 * Adds people by code or e-mail address. Finds their records by the hashes that are stored with them, and reads only
 * these records. A hash may also be of an earlier revision that is no longer stored, so this process compares the fields
 * of the records found.
 */
async function addHolders({ tx, hash }: Search, name: PersonName, places: Places): Promise<void> {
  const named = name.by === 'code' ? hash.attendeeCode(name.text) : hash.address(name.text);
  const rows = await tx.query<FoundRow>(
    `select p.pigeonhole_number as "pigeonholeNumber", p.workspace, p.pigeonhole_id as "pigeonholeId", f.text, f.key
     from (
       select i.pigeonhole_number, r.text, i.key from (select pigeonhole_number, key, payload from items
         where names @> array[$1::bytea] offset 0) i
         cross join lateral (
           select i.payload::text as text where i.payload is not null
           union all
           select snapshot::text from changes
           where pigeonhole_number = i.pigeonhole_number and list = 'attendees' and key = i.key
             and snapshot is not null) r
       union all
       select pigeonhole_number, profile::text, null from registrants where names @> array[$1::bytea]
       union all
       select i.pigeonhole_number, r.profile::text, null from import_rows r join imports i on i.number = r.import
       where r.names @> array[$1::bytea]
     ) f join pigeonholes p on p.pigeonhole_number = f.pigeonhole_number
     where $2::text is null or p.workspace = $2`,
    [named, name.workspace],
  );
  for (const row of rows) {
    const fields = JSON.parse(row.text) as Fields;
    if (isNamed(fields, name)) addFound(places, row, fields);
  }
}

/**
 * Adds people by the hash of their code, since retention may have removed their profiles. Excludes forgotten codes.
 */
async function addByHash({ tx, hash }: Search, { text, workspace }: PersonName, places: Places): Promise<void> {
  const rows = await tx.query<FoundRow>(
    `select p.pigeonhole_number as "pigeonholeNumber", p.workspace, p.pigeonhole_id as "pigeonholeId", '{}' as text,
       null as key from pigeonholes p
     where ($2::text is null or p.workspace = $2)
       and not exists (select 1 from forgotten_codes f where f.pigeonhole_number = p.pigeonhole_number
         and f.code_hash = $1) and (
       exists (select 1 from registrants r where r.pigeonhole_number = p.pigeonhole_number and r.code_hash = $1)
       or exists (select 1 from sign_ins s where s.pigeonhole_number = p.pigeonhole_number and s.code_hash = $1))`,
    [hash.attendeeCode(text), workspace],
  );
  for (const row of rows) placeOf(places, row).codes.add(text);
}

/** Whether a profile matches the name. Addresses are compared without regard to case, codes exactly. Pure. */
function isNamed(fields: Fields, { by, text }: Pick<PersonName, 'by' | 'text'>): boolean {
  if (by === 'code') return fields['attendeeCode'] === text;
  if (by === 'id') return fields['id'] === Number(text);
  const wanted = text.toLowerCase();
  return Object.values(fields).some((value) => typeof value === 'string' && value.trim().toLowerCase() === wanted);
}

function addFound(places: Places, row: FoundRow, fields: Fields): void {
  const place = placeOf(places, row);
  if (row.key !== null) place.attendeeIds.add(Number(row.key));
  const code = fields['attendeeCode'];
  if (typeof code === 'string' && code !== '') place.codes.add(code);
}

function placeOf(places: Places, { pigeonholeNumber, workspace, pigeonholeId }: FoundRow): MutablePlace {
  const known = places.get(pigeonholeNumber);
  if (known !== undefined) return known;
  const place = { pigeonholeNumber, workspace, pigeonholeId, attendeeIds: new Set<number>(), codes: new Set<string>() };
  places.set(pigeonholeNumber, place);
  return place;
}

/**
 * Adds attendees of the same pigeonhole who have one of the codes found so far, including attendees for whom only the
 * hash of the code is stored.
 */
async function addByCodes({ tx, hash }: Search, places: Places): Promise<void> {
  for (const { pigeonholeNumber, attendeeIds, codes } of places.values()) {
    if (codes.size === 0) continue;
    const hashes = [...codes].map((code) => hash.attendeeCode(code));
    const rows = await tx.query<{ key: string; text: string }>(
      `select distinct i.key, i.payload::text as text from unnest($2::bytea[]) as n (name)
         cross join lateral (select pigeonhole_number, key, payload from items where names @> array[n.name] offset 0) i
       where i.pigeonhole_number = $1 and i.payload is not null`,
      [pigeonholeNumber, hashes],
    );
    for (const { key, text } of rows) {
      const { attendeeCode } = JSON.parse(text) as Fields;
      if (typeof attendeeCode === 'string' && codes.has(attendeeCode)) attendeeIds.add(Number(key));
    }
    const signedIn = await tx.query<{ attendeeId: number }>(
      'select attendee_id as "attendeeId" from sign_ins where pigeonhole_number = $1 and code_hash = any($2::bytea[])',
      [pigeonholeNumber, hashes],
    );
    for (const { attendeeId } of signedIn) attendeeIds.add(attendeeId);
  }
}

/** Returns the hashes of the people's named items and of their codes, each with its pigeonhole. */
export function hashesOf({ hash }: Pick<Ledger, 'hash'>, places: readonly PersonPlace[]) {
  return {
    subjects: places.flatMap(({ pigeonholeNumber, workspace, attendeeIds }) =>
      attendeeIds.map((id) => ({ pigeonholeNumber, subject: hash.subject(workspace, id, 'named') })),
    ),
    codes: places.flatMap(({ pigeonholeNumber, codes }) =>
      codes.map((code) => ({ pigeonholeNumber, codeHash: hash.attendeeCode(code) })),
    ),
  };
}

/**
 * Returns the attendee records and imported registrant records of people, with one look-up by key for each.
 * @param options.earlier true: also the earlier revisions of the attendee records, which remain after a deletion
 */
export async function personFields(
  ledger: Ledger,
  places: readonly PersonPlace[],
  { earlier }: { readonly earlier: boolean },
): Promise<Fields[]> {
  const attendees = places.flatMap(({ pigeonholeNumber, attendeeIds }) =>
    attendeeIds.map((id) => ({ pigeonholeNumber, key: String(id) })),
  );
  const { codes } = hashesOf(ledger, places);
  const rows = await ledger.db.query<{ text: string }>(
    `select i.text from unnest($1::int4[], $2::text[]) as n (pigeonhole_number, key)
       cross join lateral (
         select payload::text as text from items
         where pigeonhole_number = n.pigeonhole_number and list = 'attendees' and key = n.key and payload is not null
         union all
         select snapshot::text from changes
         where $5 and pigeonhole_number = n.pigeonhole_number and list = 'attendees' and key = n.key
           and snapshot is not null) i
     union all
     select r.text from unnest($3::int4[], $4::bytea[]) as n (pigeonhole_number, code_hash)
       cross join lateral (select profile::text as text from registrants
         where pigeonhole_number = n.pigeonhole_number and code_hash = n.code_hash limit 1) r`,
    [
      attendees.map(({ pigeonholeNumber }) => pigeonholeNumber),
      attendees.map(({ key }) => key),
      codes.map(({ pigeonholeNumber }) => pigeonholeNumber),
      codes.map(({ codeHash }) => codeHash),
      earlier,
    ],
  );
  return rows.map(({ text }) => JSON.parse(text) as Fields);
}

const looksLikeAddress = /^[^\s@]+@[^\s@]+$/;

/** Returns the e-mail addresses in records, in lower case. Pure. */
export function addressesIn(records: readonly Fields[]): Set<string> {
  const values = records.flatMap((fields) => Object.values(fields));
  const addresses = values.flatMap((value) => (typeof value === 'string' ? [value.trim().toLowerCase()] : []));
  return new Set(addresses.filter((value) => looksLikeAddress.test(value)));
}

/**
 * Counts other people who have the same e-mail address as a person named by id or code. They may be a family that
 * shares an address, or one person who signed in twice: only an operator can tell.
 * @param workspace search only this workspace; null: all
 */
export async function countSharing(
  ledger: Ledger,
  places: readonly PersonPlace[],
  workspace: string | null,
): Promise<number> {
  const meant = new Map(
    places.map(({ pigeonholeNumber, attendeeIds, codes }) => [pigeonholeNumber, new Set([...attendeeIds, ...codes])]),
  );
  const others = new Set<string>();
  for (const address of addressesIn(await personFields(ledger, places, { earlier: false }))) {
    for (const { pigeonholeNumber, attendeeIds, codes } of await findPerson(ledger, {
      by: 'email',
      text: address,
      workspace,
    })) {
      const isOther = (name: number | string): boolean => !(meant.get(pigeonholeNumber)?.has(name) ?? false);
      const [ids, own] = [attendeeIds.filter(isOther), codes.filter(isOther)];
      // An attendee who has signed in has an id and usually a code as well, so only one of the two is counted.
      for (const name of ids.length >= own.length ? ids : own) others.add(`${pigeonholeNumber} ${name}`);
    }
  }
  return others.size;
}

/**
 * Returns the import rows of a person for which no hash of a code is stored, because the rows could not be used. A row
 * with a code is theirs if it has one of their codes. A row without a code is theirs if any of its values is one of
 * their codes or the e-mail address by which they were named.
 * @param place one pigeonhole (`pigeonholeNumber`) or one import
 * @param asked the text by which the person was named, as in a request; null: unknown
 */
export async function unusableRowsOf(
  db: Queryable,
  place: { readonly pigeonholeNumber: number } | { readonly import: number },
  { codes, asked }: { readonly codes: readonly string[]; readonly asked: string | null },
): Promise<{ readonly import: number; readonly row: number }[]> {
  const lowerCodes = codes.map((code) => code.toLowerCase());
  const address = waysToName(asked ?? '').find(({ by }) => by === 'email');
  const names = address === undefined ? lowerCodes : [...lowerCodes, address.text.toLowerCase()];
  const rows = await db.query<{ import: number; row: number; text: string }>(
    `select w.import, w.row_number as row, w.profile::text as text from import_rows w join imports i on i.number = w.import
     where ${'pigeonholeNumber' in place ? 'i.pigeonhole_number' : 'i.number'} = $1 and w.code_hash is null
       and exists (select 1 from unnest($2::text[]) as n (name) where position(n.name in lower(w.profile::text)) > 0)`,
    [
      'pigeonholeNumber' in place ? place.pigeonholeNumber : place.import,
      names.map((name) => JSON.stringify(name).slice(1, -1)),
    ],
  );
  const lower = (value: unknown): string => (typeof value === 'string' ? value.trim().toLowerCase() : '');
  const isTheirs = ({ attendeeCode, ...others }: Fields): boolean =>
    lower(attendeeCode) === ''
      ? Object.values(others).some((value) => names.includes(lower(value)))
      : lowerCodes.includes(lower(attendeeCode));
  return rows.filter(({ text }) => isTheirs(JSON.parse(text) as Fields)).map(({ text: _, ...row }) => row);
}
