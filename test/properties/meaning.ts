import type { Database } from '../../ledger/drivers/database.js';

/** The content of a ledger, without what two ledgers cannot have in common: epochs, owners and sequences. */
export type Meaning = Readonly<Record<keyof typeof statements, ReadonlyMap<string, Row>>>;
type Row = Readonly<Record<string, unknown>>;

/** Concurrent requests of a round end in any order. */
const toleratedMs = 500;

/** Without the request that a signed cursor contains. */
const unsigned = (cursor: string): string =>
  `regexp_replace(convert_from(decode(${cursor}, 'base64'), 'UTF8'), '#.*', '')`;

/** Each row has a unique `name`. */
const statements = {
  items: `select concat_ws(' ', list, key) as name, session_id, revision, encode(content_hash, 'hex') as content,
      encode(copies_hash, 'hex') as copies, payload::text, visibility, attendee_id, says_anonymous, consent from items`,
  changes: `select concat_ws(' ', list, key, revision) as name, kind, session_id, visibility, snapshot::text
    from changes`,
  missing: `select concat_ws(' ', list, key) as name, walks, state, steady_walks, looked_up_at, lacked_at from missing`,
  // Further walks in an order that is trusted do not count.
  streams: `select concat_ws(' ', list, session_id) as name, wanted, due_at, polled_at, swept_at, sweep_due_at,
      changed_at, sweeps, quiet_reads, failures, failure, every_ms, wanted_ms, every_reason, item_order,
      clean_direction, case when item_order <> clean_direction then clean_walks end as clean_walks, promote_at,
      highest_id, head_id, ${unsigned('checkpoint')} as checkpoint, checkpoint_key, per_page, page_count, item_count,
      set_aside, foreign_rows, differs, encode(sequence_hash, 'hex') as sequence, sweep_failures, cursors_discarded,
      gone_count, gone_since, gone_at, doubt_since, doubt_keys
    from streams`,
  pages: `select concat_ws(' ', list, session_id, ordinal) as name, ${unsigned('cursor')} as cursor,
      encode(digest, 'hex') as digest, keys, p.set_aside
    from pages p join streams on streams.id = stream_id`,
} as const;

export async function meaningOf(db: Database): Promise<Meaning> {
  const parts = Object.entries(statements).map(async ([table, sql]) => {
    const rows = await db.query<{ name: string } & Row>(sql);
    return [table, new Map(rows.map(({ name, ...row }) => [name, row]))] as const;
  });
  return Object.fromEntries(await Promise.all(parts)) as unknown as Meaning;
}

/** Returns the differences between two ledgers, one a line. */
export function differences(remembered: Meaning, forgotten: Meaning): string[] {
  return (Object.keys(statements) as (keyof Meaning)[]).flatMap((table) => {
    const names = new Set([...remembered[table].keys(), ...forgotten[table].keys()]);
    return [...names].flatMap((name) => {
      const [one, other] = [remembered[table].get(name), forgotten[table].get(name)];
      const place = `${table} ${name}`;
      if (one === undefined || other === undefined)
        return [`${place} is only ${one === undefined ? 'forgotten' : 'remembered'}`];
      return Object.keys(one)
        .filter((column) => !isSame(one[column], other[column]))
        .map((column) => `${place}: ${column} is ${show(one[column])} remembered and ${show(other[column])} forgotten`);
    });
  });
}

function isSame(one: unknown, other: unknown): boolean {
  if (one instanceof Date && other instanceof Date) return Math.abs(one.getTime() - other.getTime()) < toleratedMs;
  return show(one) === show(other);
}

function show(value: unknown): string {
  return JSON.stringify(value);
}
