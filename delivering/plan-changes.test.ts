import { kinds, useBothDatabases } from '../ledger/drivers/both-databases.test-kit.js';
import type { Database, Queryable } from '../ledger/drivers/database.js';
import { testKey } from '../ledger/ledger-key.test-kit.js';
import { openLedger } from '../ledger/ledger.js';
import type { Consent } from '../ledger/seen-item.js';
import { registerSinks } from '../ledger/sinks.js';
import { Expression } from '../sinks/mapping/expression.js';
import type { Planned } from '../sinks/sink.js';
import { formatPlan, type Weighed, weighedDatabase } from '../test/kit/weighed-database.js';
import { newChanges, type ShownChange, toCandidates } from './candidates.js';
import { curableReasons, mappingReasons } from '../sinks/all-reasons.js';
import { objectsOfSink } from '../ledger/sink-objects.js';
import { planChanges, readSubjects, withHiddenReason } from './plan-changes.js';
import type { SubjectsLane } from './related-items.js';

const databases = useBothDatabases();

const people = 4000;
/** Number of options of one question that each person chose. */
const options = 5;
/** Number of other items of each person in the batch, which the query has to skip. */
const others = 40;
const changes = 100;
/**
 * Upper limit of the rows that the statement may read. If it read the whole list for each change, it would read 2
 * million rows.
 */
const maxRows = 50_000;

/** Stores poll votes of many people, and other items of the people whose votes are in the first changes. */
async function fill(db: Database): Promise<void> {
  await db.query(`insert into pigeonholes (workspace, pigeonhole_id) values ('acme', 101)`);
  await db.script(`
    insert into items (pigeonhole_number, list, key, stream_id, session_id, revision, content_hash, payload, rules,
      visibility, attendee_id, seen_at, last_sequence)
      select 1, 'poll-mcq-votes', n::text, 1, 1, 1, '\\x00', json_build_object('id', n, 'question', json_build_object('id', 7)),
        '', 'named', (n - 1) / ${options}, now(), n
      from generate_series(1, ${people * options}) n;
    insert into items (pigeonhole_number, list, key, stream_id, session_id, revision, content_hash, payload, rules,
      visibility, attendee_id, seen_at, last_sequence)
      select 1, 'votes', n::text, 1, 1, 1, '\\x00', '{}', '', 'named', n % ${changes / options}, now(), 0
      from generate_series(1, ${(others * changes) / options}) n;
    insert into items (pigeonhole_number, list, key, stream_id, revision, content_hash, payload, rules, consent,
      seen_at, last_sequence)
      select 1, 'attendees', n::text, 1, 1, '\\x00', '{}', '', 'obtained', now(), 0 from generate_series(0, ${people - 1}) n;
    insert into items (pigeonhole_number, list, key, stream_id, revision, content_hash, payload, rules, seen_at,
      last_sequence)
      values (1, 'sessions', '1', 1, 1, '\\x00', '{"id": 1, "anonymousResponses": false}', '', now(), 0);
    insert into changes (pigeonhole_number, sequence, id, list, key, revision, kind, session_id, visibility, found_at)
      select 1, n, gen_random_uuid(), 'poll-mcq-votes', n::text, 1, 'created', 1, 'named', now()
      from generate_series(1, ${people * options}) n`);
}

describe.each(kinds)('the answers of a person to one question, on %s', (kind) => {
  it('are read through the index on the person’s items, with and without statistics', async () => {
    const db = databases.of(kind);
    const sink = { name: 'lms', type: 'xapi', destination: 'lms', historyMs: null, observing: false };
    await registerSinks(await openLedger(db, testKey), [sink]);
    await fill(db);
    const lane: SubjectsLane = {
      sinkId: 1,
      pigeonholeNumber: 1,
      place: { workspace: 'acme', pigeonholeId: 101 },
      traits: { siblingLists: new Set(['poll-mcq-votes']) } as unknown as SubjectsLane['traits'],
      accepts: new Set(['obtained']),
      mapping: { type: 'xapi', settings: {} },
    };
    const range = { sinkId: 1, pigeonholeNumber: 1, lists: ['poll-mcq-votes'], after: 0, newest: 1e6 };
    const read = async (): Promise<Weighed[]> => {
      const weighed: Weighed[] = [];
      await weighedDatabase(db, (each) => weighed.push(each)).transaction(async (tx) => {
        const { rows } = await newChanges(tx, { ...range, historyUntil: 0, historySince: null }, changes);
        weighed.length = 0;
        const shown = (await toCandidates(tx, 1, rows)).map((candidate) => ({ ...candidate, identity: true }));
        const subjects = await readSubjects(tx, lane, shown);
        expect(subjects.map(({ siblings }) => siblings?.length)).toEqual(shown.map(() => options - 1));
      });
      return weighed.filter(({ rows, scanned }) => rows > maxRows || scanned.some((table) => large.has(table)));
    };
    const large = new Set(['items', 'changes']);
    const words = ({ sql, rows, plan }: Weighed) => `${rows} rows:\n${sql}\n${formatPlan(plan)}`;
    expect((await read()).map(words)).toEqual([]);
    await db.script('analyze');
    expect((await read()).map(words)).toEqual([]);
  });
});

describe.each(kinds)('the objects of a sink, on %s', (kind) => {
  it('are read from all lanes of the sink, each item once, and from no other sink', async () => {
    const db = databases.of(kind);
    const ledger = await openLedger(db, testKey);
    const sink = { type: 'file', historyMs: null, observing: false };
    await registerSinks(ledger, [
      { ...sink, name: 'one', destination: 'one' },
      { ...sink, name: 'two', destination: 'two' },
    ]);
    await db.query(`insert into pigeonholes (workspace, pigeonhole_id) values ('acme', 1), ('acme', 2), ('acme', 3)`);
    await db.query(
      `insert into sink_objects (sink_id, pigeonhole_number, list, key, object)
       select 1 + g % 2, 1 + g % 3, 'attendees', g::text, json_build_object('id', g) from generate_series(1, 9000) g`,
    );
    const ids = new Set<unknown>();
    let count = 0;
    for await (const { id } of objectsOfSink(ledger, 1)) {
      ids.add(id);
      count += 1;
    }
    expect([count, ids.size, [...ids].every((id) => Number(id) % 2 === 0)]).toEqual([4500, 4500, true]);
  });
});

describe('the plan of changes whose identity is visible or hidden', () => {
  const mapping = { type: 'slack', settings: { messages: [{ from: 'votes', text: new Expression('item.content') }] } };
  const place = { workspace: 'acme', pigeonholeId: 101 };
  const lane = { sinkId: 1, pigeonholeNumber: 1, place, accepts: new Set<Consent>(), mapping };
  const traits = { needsContext: false } as SubjectsLane['traits'];
  const shown = [true, false].map((identity) => ({ list: 'votes', foundAt: new Date(0), identity }) as ShownChange);
  const plan = async (planned: Planned) =>
    await planChanges({} as Queryable, { plan: async () => [planned, planned] }, { ...lane, traits }, shown);

  it('has another reason for a missing value of a hidden person, and the same new mapping decides again', async () => {
    const [named, hidden] = await plan({ kind: 'nothing', reason: 'no-actor' });
    expect([named, hidden]).toEqual([
      { kind: 'nothing', reason: 'no-actor' },
      { kind: 'nothing', reason: 'identity-hidden:no-actor' },
    ]);
    expect(curableReasons).toContain('identity-hidden:no-actor');
    expect(mappingReasons).not.toContain('identity-hidden:no-actor');
  });

  it.each<Planned>([
    { kind: 'nothing', reason: 'condition' },
    { kind: 'nothing', reason: 'unchanged' },
    { kind: 'unplannable', cause: 'mapping', detail: 'x' },
    { kind: 'send', operation: {} as never },
  ])('is otherwise the plan of the sink: %j', async (planned) => {
    expect(await plan(planned)).toEqual([planned, planned]);
  });

  it('is corrected in the same way if a look-up settles it', () => {
    const change = { list: 'votes', identity: false };
    expect(withHiddenReason({ kind: 'nothing', reason: 'no-user' }, change, mapping)).toMatchObject({
      reason: 'identity-hidden:no-user',
    });
  });

  it('keeps the reason if the expression does not read the person', async () => {
    const lacking = { kind: 'nothing', reason: 'no-text' } as const;
    expect(await plan(lacking)).toEqual([lacking, lacking]);
  });
});
