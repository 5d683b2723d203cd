import type { Ledger } from '../../ledger/ledger.js';
import type { PersonPlace } from './find-person.js';

/** What the ledger holds of a person by name: what they did anonymously is not counted, since nobody is told whose it is. */
export interface PersonCounts {
  /** By list. */
  readonly items: Readonly<Record<string, number>>;
  readonly importRows: number;
  /** Sinks that were told of any of it. */
  readonly sinks: readonly string[];
}

export async function countPerson(ledger: Ledger, places: readonly PersonPlace[]): Promise<PersonCounts> {
  const people = places.flatMap(({ ref, workspace, attendeeIds }) =>
    attendeeIds.map((id) => ({ ref, subject: ledger.hash.subject(workspace, id, 'named') })),
  );
  const refs = people.map(({ ref }) => ref);
  const subjects = people.map(({ subject }) => subject);
  const items = await ledger.db.query<{ list: string; items: number }>(
    `select i.list, count(*)::int as items from unnest($1::int4[], $2::bytea[]) as n (ref, subject)
       join items i on i.ref = n.ref and i.subject = n.subject and i.payload is not null group by i.list order by i.list`,
    [refs, subjects],
  );
  const codes = places.flatMap(({ ref, codes: own }) =>
    own.map((code) => ({ ref, codeHash: ledger.hash.attendeeCode(code) })),
  );
  const [rows] = await ledger.db.query<{ rows: number }>(
    `select (select count(*)::int from registrants r join unnest($1::int4[], $2::bytea[]) as n (ref, code_hash)
         on r.ref = n.ref and r.code_hash = n.code_hash)
       + (select count(*)::int from import_rows w join imports i on i.number = w.import
         join unnest($1::int4[], $2::bytea[]) as n (ref, code_hash) on i.ref = n.ref and w.code_hash = n.code_hash) as rows`,
    [codes.map(({ ref }) => ref), codes.map(({ codeHash }) => codeHash)],
  );
  const sinks = await ledger.db.query<{ name: string }>(
    `select distinct s.name from unnest($1::int4[], $2::bytea[]) as n (ref, subject)
       join items i on i.ref = n.ref and i.subject = n.subject cross join sinks s
       join deliveries d on d.sink_id = s.id and d.ref = i.ref and d.sequence = i.last_sequence and d.state = 'delivered'
     order by s.name`,
    [refs, subjects],
  );
  return {
    items: Object.fromEntries(items.map(({ list, items: count }) => [list, count])),
    importRows: rows!.rows,
    sinks: sinks.map(({ name }) => name),
  };
}
