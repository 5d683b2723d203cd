import { kinds } from '../../ledger/drivers/both-databases.test-kit.js';
import type { Database } from '../../ledger/drivers/database.js';
import { adoptConfiguration } from '../../delivering/adopt-configuration.js';
import { acquireLane } from '../../ledger/lanes-leased.js';
import { attendee, question, session } from '../kit/items.js';
import { everyone, type Stage, useStages } from '../kit/stage.js';
import { StateSink } from '../kit/state-sink.js';
import { formatPlan, type Weighed, weighedDatabase } from '../kit/weighed-database.js';

/** Number of stored rows of another pigeonhole, which no statement has a reason to read. */
const stored = 20_000;
/** The slices of these statements hold at most 1,000 rows, each with a few look-ups. */
const most = { rows: 8000, pages: 15_000 };
const people = 60;

const stages = useStages();

/** The embedded store has no autovacuum, so its tables have no statistics; those of the server are outdated. */
describe.each(kinds)('each statement after a first load, on %s,', (kind) => {
  it('does not process more rows as the tables grow', async () => {
    const stage = await stages.open(kind);
    const crm = new StateSink({ batchSize: 200 });
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('attendees', ...count(people).map((id) => attendee(id)));
    await stage.put('questions', ...count(people).map((id) => question(1000 + id, id, 1)));
    const heavy: Weighed[] = [];
    let weighs = false;
    const store = weighedDatabase(stage.db, (weighed) => {
      if (weighs && (weighed.rows > most.rows || weighed.pages > most.pages)) heavy.push(weighed);
    });
    const scene = await stage.scene({
      store,
      sync: 'lists: [sessions, attendees, questions]',
      sinks: {
        crm: '{ type: file, folder: ./crm, consent: { accept: [obtained] } }',
        archive: `{ type: file, folder: ./archive, ${everyone} }`,
      },
      openSinks: crm.inPlaceOf('crm'),
    });
    await scene.settle();
    if (kind === 'postgres') await analyze(stage.db);
    await fill(stage);
    weighs = true;

    // Consent is refused, an attendee is deleted, copied texts change, and a session becomes anonymous.
    await stage.patch('questions', 1001, { session: { id: 1, name: 'Another name', type: 'qna' } });
    for (const id of count(20)) await stage.patch('attendees', id, { consent: { obtained: false } });
    await stage.remove('attendees', people);
    await readAgain(stage, scene);
    await stage.patch('sessions', 1, { anonymousResponses: true });
    await readAgain(stage, scene);
    const [done] = await stage.db.query<{ gone: number; hidden: number; asked: number }>(
      `select (select count(*)::int from items where list = 'attendees' and payload is null) as gone,
         (select count(*)::int from items where list = 'questions' and visibility <> 'named') as hidden,
         (select count(*)::int from deliveries where list = 'attendees' and reason = 'consent-refused') as asked`,
    );
    expect(done).toEqual({ gone: 1, hidden: people, asked: 20 });

    const lanes = await stage.db.query<{ id: number; pigeonholeNumber: number }>(
      `select s.id, l.pigeonhole_number as "pigeonholeNumber" from sinks s join lanes l on l.sink_id = s.id
         join pigeonholes p on p.pigeonhole_number = l.pigeonhole_number
       where s.name = 'crm' and p.pigeonhole_id > 0`,
    );
    const lane = { sinkId: lanes[0]!.id, pigeonholeNumber: lanes[0]!.pigeonholeNumber };
    const lease = await acquireLane(scene.ledger, { ...lane, owner: 'test', leaseMs: 60_000 });
    await adoptConfiguration(scene.ledger, lease!, {
      configuration: 99,
      lists: ['sessions', 'attendees', 'questions', 'votes'],
      released: ['consent-refused'],
      settings: lease!.settings,
    });
    const [taken] = await stage.db.query<{ waiting: number }>(
      `select count(*)::int as waiting from deliveries where sink_id = $1 and list = 'votes' and state = 'waiting'`,
      [lane.sinkId],
    );
    expect(taken!.waiting).toBe((stored * 9) / 10); // a tenth was deleted before the sink received any
    expect(
      heavy.map(({ sql, rows, pages, plan }) => `${rows} rows, ${pages} pages:\n${sql}\n${formatPlan(plan)}`),
    ).toEqual([]);
  });
});

async function readAgain(stage: Stage, scene: { settle(): Promise<void> }): Promise<void> {
  await stage.sweepsAreDue();
  await stage.retriesAreDue();
  await scene.settle();
}

/** Stores votes that were read and delivered to the archive long ago. The configuration reads no votes. */
async function fill({ db }: Stage): Promise<void> {
  await db.script(`
    insert into items (pigeonhole_number, list, key, stream_id, session_id, revision, content_hash, payload, rules,
      visibility, attendee_id, seen_at, last_sequence)
      select p.pigeonhole_number, 'votes', n::text, 9001, 9001, 1, '\\x00', case when n % 10 > 0
        then '{}'::json end, '', 'named', 1000000 + n, now(), -n
      from pigeonholes p, generate_series(1, ${stored}) n where p.pigeonhole_id > 0;
    insert into changes (pigeonhole_number, sequence, id, list, key, revision, kind, found_at, snapshot)
      select p.pigeonhole_number, -n, gen_random_uuid(), 'votes', n::text, 1, 'created', now(), '{}'
      from pigeonholes p, generate_series(1, ${stored}) n where p.pigeonhole_id > 0;
    insert into deliveries (sink_id, pigeonhole_number, sequence, list, key, revision, state, configuration, identity)
      select s.id, p.pigeonhole_number, -n, 'votes', n::text, 1, 'delivered', 1, true
      from sinks s, pigeonholes p, generate_series(1, ${stored}) n where s.name = 'archive' and p.pigeonhole_id > 0`);
}

async function analyze(db: Database): Promise<void> {
  await db.script('analyze items; analyze changes; analyze deliveries; analyze pages; analyze missing');
}

function count(upTo: number): number[] {
  return Array.from({ length: upTo }, (_, index) => index + 1);
}
