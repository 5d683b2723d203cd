import type { Ledger } from '../../ledger/ledger.js';

/** What is told, as `alerts.when` of the configuration calls it. */
export type Occasion =
  | 'service-down'
  | 'sink-paused'
  | 'workspace-paused'
  | 'behind'
  | 'dead-letters'
  | 'withholding'
  | 'reading-late'
  | 'deletions-held'
  | 'quota-short'
  | 'import-ended';

/** Counts, codes and instants; never a text that a person or a vendor wrote. */
export type AlertFacts = Readonly<Record<string, string | number | null>>;

/** What is known of one alert. */
export interface AlertRow {
  readonly occasion: Occasion;
  readonly subject: string;
  /** As it was last looked at. */
  readonly holds: boolean;
  /** That it holds, or does not. */
  readonly since: Date;
  /** That it holds is the last that was told. */
  readonly told: boolean;
  /** How often it came back without a longer calm between. */
  readonly raises: number;
  readonly facts: AlertFacts;
}

export interface NewAlertMessage {
  readonly occasion: Occasion;
  /** One, or several that are told of in one message. No subject has a space in it. */
  readonly subjects: readonly string[];
  readonly kind: 'raised' | 'recovered' | 'happened';
  readonly since: Date;
  readonly facts: AlertFacts;
}

/** The right to write what one look has found, until another look begins. */
export interface Look {
  readonly number: number;
  /** By the database's clock. */
  readonly at: Date;
  /** Since when anybody looks at all. */
  readonly watchingSince: Date;
}

/** Takes the turn to look, which no other process has taken within the last `everyMs`; undefined when one has. */
export async function takeLook(ledger: Ledger, everyMs: number): Promise<Look | undefined> {
  await ledger.db.query('insert into alert_watch default values on conflict (singleton) do nothing');
  const [row] = await ledger.db.query<{ look: number; looked_at: Date; since: Date }>(
    `update alert_watch set look = look + 1, looked_at = now()
     where looked_at <= now() - $1::float8 * interval '1 millisecond' returning look, looked_at, since`,
    [everyMs],
  );
  return row === undefined ? undefined : { number: row.look, at: row.looked_at, watchingSince: row.since };
}

export async function readAlerts(ledger: Ledger): Promise<AlertRow[]> {
  const rows = await ledger.db.query<Omit<AlertRow, 'facts'> & { facts: string }>(
    'select occasion, subject, holds, since, told, raises, facts from alerts where occasion <> $1 order by occasion, subject',
    [paceOccasion],
  );
  return rows.map((row) => ({ ...row, facts: JSON.parse(row.facts) as AlertFacts }));
}

/** Paces stand among the alerts, as rows that are never told: theirs is an instant each, and a fate with them. */
const paceOccasion = 'pace';

/** Until when an occasion is told of more slowly, by what the pace is kept for. */
export async function readPaces(ledger: Ledger): Promise<Map<string, Date>> {
  const rows = await ledger.db.query<{ subject: string; since: Date }>(
    'select subject, since from alerts where occasion = $1',
    [paceOccasion],
  );
  return new Map(rows.map(({ subject, since }) => [subject, since]));
}

export interface LookedAt {
  /** Rows as they are to stand; those that are not among them stay. */
  readonly rows: readonly AlertRow[];
  readonly forgotten: readonly Pick<AlertRow, 'occasion' | 'subject'>[];
  readonly messages: readonly NewAlertMessage[];
  /** Paces that are others now. */
  readonly paces: ReadonlyMap<string, Date>;
  /** Each of them is to be given each message. */
  readonly receivers: readonly string[];
}

/**
 * Writes what a look has found, with the messages that it makes, in one transaction: neither a crash nor a second
 * process tells anything twice, or forgets it.
 * @returns false, and writes nothing, when another look has begun meanwhile
 */
export async function recordLook(ledger: Ledger, look: Look, found: LookedAt): Promise<boolean> {
  const { rows, forgotten, messages, paces, receivers } = found;
  return await ledger.db.transaction(async (tx) => {
    const [watch] = await tx.query<{ look: number }>('select look from alert_watch for update');
    if (watch?.look !== look.number) return false;
    if (forgotten.length > 0) {
      await tx.query('delete from alerts where (occasion, subject) in (select * from unnest($1::text[], $2::text[]))', [
        forgotten.map(({ occasion }) => occasion),
        forgotten.map(({ subject }) => subject),
      ]);
    }
    if (rows.length > 0) {
      await tx.query(
        `insert into alerts (occasion, subject, holds, since, told, raises, facts)
         select o, s, h, at, t, r, f::json from unnest($1::text[], $2::text[], $3::bool[], $4::timestamptz[], $5::bool[],
           $6::int4[], $7::text[]) as n (o, s, h, at, t, r, f)
         on conflict (occasion, subject) do update set holds = excluded.holds, since = excluded.since,
           told = excluded.told, raises = excluded.raises, facts = excluded.facts`,
        [
          rows.map(({ occasion }) => occasion),
          rows.map(({ subject }) => subject),
          rows.map(({ holds }) => holds),
          rows.map(({ since }) => since),
          rows.map(({ told }) => told),
          rows.map(({ raises }) => raises),
          rows.map(({ facts }) => JSON.stringify(facts)),
        ],
      );
    }
    if (paces.size > 0) {
      await tx.query(
        `insert into alerts (occasion, subject, holds, since, told, raises, facts)
         select $1, s, false, at, false, 0, '{}' from unnest($2::text[], $3::timestamptz[]) as n (s, at)
         on conflict (occasion, subject) do update set since = excluded.since`,
        [paceOccasion, [...paces.keys()], [...paces.values()]],
      );
    }
    if (messages.length > 0) {
      await tx.query(
        `insert into alert_messages (id, receiver, occasion, subject, kind, since, facts)
         select n.id, r.receiver, n.o, n.s, n.k, n.at, n.f::json
         from (select gen_random_uuid() as id, u.* from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[],
             $5::text[]) with ordinality as u (o, s, k, at, f, position)) n
           cross join unnest($6::text[]) as r (receiver) order by n.position`,
        [
          messages.map(({ occasion }) => occasion),
          messages.map(({ subjects }) => subjects.join(' ')),
          messages.map(({ kind }) => kind),
          messages.map(({ since }) => since),
          messages.map(({ facts }) => JSON.stringify(facts)),
          receivers,
        ],
      );
    }
    return true;
  });
}
