import { randomUUID } from 'node:crypto';
import { newChanges } from '../../delivering/candidates.js';
import { kinds, useBothDatabases } from '../../ledger/drivers/both-databases.test-kit.js';
import type { Database } from '../../ledger/drivers/database.js';
import { type Ledger, openLedger } from '../../ledger/ledger.js';
import { testKey } from '../../ledger/ledger-key.test-kit.js';
import { findEntries } from '../../ledger/search/find-entries.js';
import { followChanges } from '../../ledger/search/entries.js';
import { nameItems } from '../../operations/name-items.js';
import { findItems, timelineOf } from '../../operations/timeline.js';
import { namesOf } from '../../ledger/person-names.js';
import { eraseItems, itemsToErase } from '../../people/erase-items.js';
import { findPerson } from '../../people/find-person.js';
import { expireSlice } from '../../people/retention.js';
import { formatPlan, type Weighed, weighedDatabase } from '../kit/weighed-database.js';

const databases = useBothDatabases();
const stored = 60_000;
const attendees = 1000;
const day = 86_400_000;
/** Each of these steps is about one person or at most 500 rows, with a few look-ups for each. */
const most = { rows: 8000, pages: 15_000 };
const large = new Set([
  'search_entries',
  'items',
  'changes',
  'deliveries',
  'missing',
  'pages',
  'registrants',
  'import_rows',
]);

/**
 * The tables have 60,000 rows. A statement that reads all of them exceeds the limits by far, and would take seconds in
 * a ledger with millions. The server's statistics say that the tables have ten million rows, as after years; the
 * embedded store has none.
 */
describe.each(kinds)('in a ledger that has grown, on %s,', (kind) => {
  const heavy: Weighed[] = [];
  let ledger: Ledger;
  let pigeonholeNumber: number;
  let sinkId: number;

  beforeAll(async () => {
    const db = databases.of(kind);
    const weighed = weighedDatabase(db, (one) => {
      if (one.rows > most.rows || one.pages > most.pages || one.scanned.some((table) => large.has(table)))
        heavy.push(one);
    });
    const opened = await openLedger(db, testKey);
    ({ pigeonholeNumber, sinkId } = await fill(db, opened));
    if (kind === 'postgres') await pretendMillions(db);
    ledger = { ...opened, db: weighed };
  }, 120_000);
  afterEach(() => {
    const found = heavy.splice(0);
    expect(
      found.map(({ sql, rows, pages, plan }) => `${rows} rows, ${pages} pages:\n${sql}\n${formatPlan(plan)}`),
    ).toEqual([]);
  });

  it('the next changes of a lane are found', async () => {
    const found = await ledger.db.transaction((tx) =>
      newChanges(
        tx,
        {
          sinkId,
          pigeonholeNumber,
          lists: ['votes'],
          after: stored - 20,
          newest: stored,
          historyUntil: 0,
          historySince: null,
        },
        200,
      ),
    );
    expect(found.rows).toHaveLength(20);
  });

  it('an item and its history are found by list and key', async () => {
    const [item] = await findItems(ledger, { list: 'votes', key: '2007', pigeonhole: null });
    const { changes, deliveries } = await timelineOf(ledger, item!);
    expect([changes.length, deliveries.length]).toEqual([1, 1]);
  });

  it('the content of earlier revisions expires, and histories are condensed', async () => {
    const list = { pigeonholeNumber, list: 'changes', after_key: '' };
    expect(await expireSlice(ledger, list, { changesMs: 30 * day })).toBe('');
    expect(
      await ledger.db.query(`select position::int from retention_passes where pigeonhole_number = $1`, [
        pigeonholeNumber,
      ]),
    ).toEqual([{ position: 500 }]);
  });

  it.each([
    ['email', 'seven@example.com'],
    ['code', 'C-7'],
  ] as const)('a person is found by %s', async (by, text) => {
    const found = await findPerson(ledger, { by, text, workspace: null });
    expect(found).toMatchObject([{ pigeonholeNumber, attendeeIds: [7], codes: ['C-7'] }]);
  });

  it('items are found by words, and the index of the search follows the changes in slices', async () => {
    const follow = { workspace: null, budgetMs: 60_000, firstRead: 'counts' } as const;
    expect(await followChanges(ledger, follow)).toBe(0);
    const asked = { lists: ['attendees'], workspace: null, limit: 400 };
    expect(await findEntries(ledger, { words: ['seven'], ...asked })).toMatchObject([{ key: '7' }]);
    expect(await findEntries(ledger, { words: ['nobody'], ...asked })).toEqual([]);
    const place = { workspace: 'acme', pigeonholeId: 101 };
    const items = [7, 2007].map((key) => ({ ...place, list: key === 7 ? 'attendees' : 'votes', key: String(key) }));
    expect(await nameItems(ledger, items, { personal: true })).toMatchObject([{ title: 'Seven@example.com' }, {}]);
  });

  it("a person's items are found and erased", async () => {
    const [{ number }] = (await ledger.db.query<{ number: number }>(
      `insert into erasures (id, asked_hash) values ($1, '\\x00') returning number`,
      [randomUUID()],
    )) as [{ number: number }];
    await ledger.db.query(
      `insert into forgotten (workspace, subject, erasure) select 'acme', s, $1 from unnest($2::bytea[]) s`,
      [number, ['named', 'anonymous'].map((form) => ledger.hash.subject('acme', 7, form as 'named'))],
    );
    const own = await itemsToErase(ledger, number);
    expect(own).toHaveLength(stored / attendees);
    await eraseItems(ledger, number, own);
    expect(await itemsToErase(ledger, number)).toEqual([]);
  });
});

/** Stores attendees with their registrants, and their votes, which a sink received long ago. */
async function fill(db: Database, { hash }: Ledger): Promise<{ pigeonholeNumber: number; sinkId: number }> {
  const [place] = await db.query<{ pigeonholeNumber: number }>(
    `insert into pigeonholes (workspace, pigeonhole_id, next_sequence) values ('acme', 101, ${stored + 1})
       returning pigeonhole_number as "pigeonholeNumber"`,
  );
  const [sink] = await db.query<{ id: number }>(
    `insert into sinks (name, type) values ('archive', 'file') returning id`,
  );
  const [pigeonholeNumber, sinkId] = [place!.pigeonholeNumber, sink!.id];
  await db.query(
    `insert into lanes (sink_id, pigeonhole_number, history_until, watermark) values ($1, $2, 0, ${stored - 20})`,
    [sinkId, pigeonholeNumber],
  );
  await db.script(`
    insert into items (pigeonhole_number, list, key, stream_id, session_id, revision, content_hash, payload, rules,
      visibility, attendee_id, subject, seen_at, last_sequence)
      select ${pigeonholeNumber}, case when n <= ${attendees} then 'attendees'
        else 'votes' end, n::text, 1, 1, 1, '\\x00', '{}', '',
        'named', n % ${attendees}, sha256((n % ${attendees})::text::bytea), now(), n from generate_series(1, ${stored}) n;
    insert into changes (pigeonhole_number, sequence, id, list, key, revision, kind, found_at, snapshot)
      select ${pigeonholeNumber}, n, gen_random_uuid(), case when n <= ${attendees} then 'attendees'
        else 'votes' end, n::text, 1,
        'created', now() - interval '90 days', case when n > ${stored / 2} then '{}'::json end
      from generate_series(1, ${stored}) n;
    update changes set found_at = now() where sequence > ${stored / 2};
    insert into deliveries (sink_id, pigeonhole_number, sequence, list, key, revision, state, configuration, identity)
      select ${sinkId}, ${pigeonholeNumber}, n, case when n <= ${attendees} then 'attendees'
        else 'votes' end, n::text, 1, 'delivered', 1, true from generate_series(1, ${stored - 20}) n;
    insert into imports (id, pigeonhole_number, file, mapping, chunk_size)
      values (gen_random_uuid(), ${pigeonholeNumber}, 'people.csv', '{}', 1000);
    insert into registrants (pigeonhole_number, code_hash, import, row_number, data_hash, profile, names)
      select ${pigeonholeNumber}, sha256(n::text::bytea), 1, n, '', '{}', array[sha256(n::text::bytea)]
        from generate_series(1, ${stored / 3}) n;
    insert into import_rows (import, row_number, profile, outcome, names)
      select 1, n, '{}', 'invalid', array[sha256(n::text::bytea)] from generate_series(1, ${stored / 3}) n;
  `);
  const person = { attendeeCode: 'C-7', Email: 'Seven@example.com' };
  await db.query(
    `update items set payload = $1, names = $2::text::bytea[] where attendee_id = 7 and list = 'attendees'`,
    [JSON.stringify(person), namesOf(hash, person)],
  );
  // Other events, whose entries have the words of the search in other combinations.
  await db.query(
    `insert into search_entries (pigeonhole_number, list, key, words)
     select n, 'attendees', n::text, array[n, n + 1, $1::int8 + n % 1000 + 1] from generate_series(1000, ${stored}) n`,
    [hash.beginning('seven')],
  );
  await db.query(`update items set subject = $1 where attendee_id = 7`, [hash.subject('acme', 7, 'named')]);
  return { pigeonholeNumber, sinkId };
}

/** Analyzes the tables, and then tells the planner that each page holds 200 times as many rows. */
async function pretendMillions(db: Database): Promise<void> {
  await db.script(`
    analyze items; analyze changes; analyze deliveries; analyze registrants; analyze import_rows; analyze search_entries;
    update pg_class set reltuples = reltuples * 200
      where oid = any(array['items', 'changes', 'deliveries', 'registrants', 'import_rows', 'search_entries']::regclass[])
        or oid in (select indexrelid from pg_index where indrelid =
          any(array['items', 'changes', 'deliveries', 'registrants', 'import_rows', 'search_entries']::regclass[]))`);
}
