import fc from 'fast-check';
import { kinds, useBothDatabases } from './drivers/both-databases.test-kit.js';
import type { Database, Queryable } from './drivers/database.js';
import { recount } from './kept-counts.js';

const databases = useBothDatabases();

/** A statement on the rows that are counted, as the store's modules write them. */
type Step =
  | { readonly do: 'deliver'; readonly sinkId: number; readonly replay: number; readonly rows: readonly Row[] }
  | {
      readonly do: 'settle';
      readonly sinkId: number;
      readonly to: State;
      readonly reason: string | null;
      readonly from: State;
    }
  | { readonly do: 'condense'; readonly sinkId: number; readonly list: string }
  | { readonly do: 'read'; readonly rows: readonly Row[] }
  | { readonly do: 'delete'; readonly list: string }
  | { readonly do: 'expire'; readonly list: string }
  | { readonly do: 'claim'; readonly import: number; readonly rows: readonly Row[] }
  | { readonly do: 'answer'; readonly import: number; readonly outcome: Outcome; readonly upTo: number }
  | { readonly do: 'report'; readonly import: number; readonly outcome: Outcome; readonly rows: readonly Row[] }
  | { readonly do: 'chunk'; readonly import: number; readonly state: 'sending' | 'created'; readonly row: number }
  | { readonly do: 'discard'; readonly import: number };

interface Row {
  readonly sequence: number;
  readonly list: string;
}

const states = ['waiting', 'sending', 'retry', 'delivered', 'withheld', 'superseded', 'dead'] as const;
type State = (typeof states)[number];

const outcomes = ['created', 'existing', 'rejected', 'unknown', 'confirmed'] as const;
type Outcome = (typeof outcomes)[number];

const list = fc.constantFrom('attendees', 'votes', 'questions');
const state = fc.constantFrom(...states);
const reason = fc.constantFrom(null, 'consent-refused', 'no-match', 'http:422');
const outcome = fc.constantFrom(...outcomes);
const importNumber = fc.integer({ min: 1, max: 2 });
const sinkId = fc.integer({ min: 1, max: 2 });
const rows = fc.uniqueArray(fc.record({ sequence: fc.integer({ min: 1, max: 40 }), list }), {
  selector: ({ sequence }) => sequence,
  minLength: 1,
  maxLength: 12,
});
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('deliver' as const), sinkId, replay: fc.integer({ min: 0, max: 1 }), rows }),
  fc.record({ do: fc.constant('settle' as const), sinkId, from: state, to: state, reason }),
  fc.record({ do: fc.constant('condense' as const), sinkId, list }),
  fc.record({ do: fc.constant('read' as const), rows }),
  fc.record({ do: fc.constant('delete' as const), list }),
  fc.record({ do: fc.constant('expire' as const), list }),
  fc.record({ do: fc.constant('claim' as const), import: importNumber, rows }),
  fc.record({
    do: fc.constant('answer' as const),
    import: importNumber,
    outcome,
    upTo: fc.integer({ min: 1, max: 40 }),
  }),
  fc.record({ do: fc.constant('report' as const), import: importNumber, outcome, rows }),
  fc.record({
    do: fc.constant('chunk' as const),
    import: importNumber,
    state: fc.constantFrom('sending' as const, 'created' as const),
    row: fc.integer({ min: 1, max: 4 }),
  }),
  fc.record({ do: fc.constant('discard' as const), import: importNumber }),
);
/** Some transactions end in a crash, so that nothing of them is stored. */
const transaction = fc.record({ steps: fc.array(step, { minLength: 1, maxLength: 4 }), crashes: fc.boolean() });

const place = { workspace: 'acme', pigeonholeId: 101 };

describe.each(kinds)('the counts that are kept with the rows, on %s', (kind) => {
  let db: Database;
  beforeEach(async () => {
    db = databases.of(kind);
    await db.script(
      'truncate deliveries, delivery_counts, items, item_counts, lanes, pigeonholes, sinks, registrants, import_rows, import_chunks, import_counts cascade',
    );
    await db.script(
      `insert into pigeonholes (pigeonhole_number, workspace, pigeonhole_id) overriding system value
         values (7, 'acme', 101);
       insert into sinks (id, name, type) overriding system value values (1, 'hooks', 'webhook'), (2, 'crm', 'hubspot');
       insert into imports (number, id, pigeonhole_number, file, mapping, chunk_size) overriding system value
         select n, gen_random_uuid(), 7, 'people.csv', '{}', 10 from generate_series(1, 2) n`,
    );
  });

  it('equal the counted ones after any writes and crashes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(transaction, { minLength: 1, maxLength: 8 }), async (transactions) => {
        for (const { steps, crashes } of transactions) {
          const ran = db.transaction(async (tx) => {
            for (const each of steps) await write(tx, each);
            if (crashes) throw new Error('the process ended');
          });
          await (crashes ? expect(ran).rejects.toThrow('the process ended') : ran);
        }
        expect(await recount({ db })).toEqual([]);
      }),
      { numRuns: 100, seed: 95 },
    );
  }, 120_000);

  it('are corrected by a recount, which says what was wrong', async () => {
    await write(db, { do: 'deliver', sinkId: 1, replay: 0, rows: [{ sequence: 1, list: 'votes' }] });
    await write(db, { do: 'read', rows: [{ sequence: 1, list: 'votes' }] });
    await db.script(`update delivery_counts set changes = 5 where changes > 0; delete from item_counts`);
    expect(await recount({ db })).toEqual([
      { sink: 'hooks', import: null, ...place, list: 'votes', state: 'sending', reason: '', kept: 5, counted: 1 },
      { sink: null, import: null, ...place, list: 'votes', state: '', reason: '', kept: 0, counted: 1 },
    ]);
    expect(await recount({ db })).toEqual([]);
    await db.script("insert into delivery_counts values (2, 7, 'votes', 'dead', 'http:422', 3)");
    expect(await recount({ db })).toMatchObject([{ sink: 'crm', kept: 3, counted: 0 }]);
    await write(db, { do: 'claim', import: 2, rows: [{ sequence: 1, list: 'votes' }] });
    await db.script('update import_counts set rows = 4');
    const importCount = { sink: null, import: 2, ...place, list: '', state: 'open', reason: '', kept: 4, counted: 1 };
    expect(await recount({ db })).toEqual([importCount]);
    expect(await recount({ db })).toEqual([]);
  });
});

async function write(tx: Queryable, given: Step): Promise<void> {
  switch (given.do) {
    case 'deliver':
      await tx.query(
        `insert into deliveries (sink_id, pigeonhole_number, sequence, replay, list, key, revision, state,
           configuration)
         select $1, 7, n.sequence, $2, n.list, n.sequence::text, 1, 'sending', 1 from unnest($3::int8[], $4::text[]) as n (sequence, list)
         on conflict (sink_id, pigeonhole_number, sequence, replay) do update set state = 'retry'`,
        [given.sinkId, given.replay, given.rows.map(({ sequence }) => sequence), given.rows.map((row) => row.list)],
      );
      return;
    case 'settle':
      await tx.query('update deliveries set state = $1, reason = $2 where sink_id = $3 and state = $4', [
        given.to,
        given.reason,
        given.sinkId,
        given.from,
      ]);
      return;
    case 'condense':
      await tx.query('delete from deliveries where sink_id = $1 and list = $2', [given.sinkId, given.list]);
      return;
    case 'read':
      await tx.query(
        `insert into items (pigeonhole_number, list, key, stream_id, revision, content_hash, rules, seen_at,
           last_sequence, payload)
         select 7, n.list, n.sequence::text, 1, 1, '\\x00', '', now(), n.sequence, '{}' from unnest($1::int8[], $2::text[]) as n (sequence, list)
         on conflict (pigeonhole_number, list, key) do update set payload = excluded.payload`,
        [given.rows.map(({ sequence }) => sequence), given.rows.map((row) => row.list)],
      );
      return;
    case 'delete':
      await tx.query('delete from items where list = $1', [given.list]);
      return;
    case 'expire':
      await tx.query('update items set payload = null where list = $1', [given.list]);
      return;
    case 'claim': // rows that another import has claimed move to this one
      await tx.query(
        `insert into registrants (pigeonhole_number, code_hash, import, row_number, data_hash, profile)
         select 7, n::text::bytea, $1, n, '', '{}' from unnest($2::int4[]) n
         on conflict (pigeonhole_number, code_hash) do update set import = excluded.import, outcome = null`,
        [given.import, given.rows.map(({ sequence }) => sequence)],
      );
      return;
    case 'answer':
      await tx.query('update registrants set outcome = $2 where import = $1 and row_number <= $3', [
        given.import,
        given.outcome,
        given.upTo,
      ]);
      return;
    case 'report':
      await tx.query(
        `insert into import_rows (import, row_number, profile, outcome) select $1, n, '{}', $2 from unnest($3::int4[]) n
         on conflict (import, row_number) do update set outcome = excluded.outcome`,
        [given.import, given.outcome, given.rows.map(({ sequence }) => sequence)],
      );
      return;
    case 'chunk':
      await tx.query(
        `insert into import_chunks (import, round, first_row, last_row, state, row_count) values ($1, 0, $2, $2, $3, $2)
         on conflict (import, round, first_row) do update set state = excluded.state`,
        [given.import, given.row, given.state],
      );
      return;
    case 'discard':
      await tx.query('delete from registrants where import = $1', [given.import]);
      await tx.query('delete from import_rows where import = $1', [given.import]);
      await tx.query('delete from import_chunks where import = $1', [given.import]);
  }
}
