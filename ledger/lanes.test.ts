import { kinds, useBothDatabases } from './drivers/both-databases.test-kit.js';
import { openLedger } from './ledger.js';
import { testKey } from './ledger-key.test-kit.js';
import { laneWork } from './lanes.js';
import { releaseLane, acquireLane } from './lanes-leased.js';

const databases = useBothDatabases();
const items = 30_000;

describe.each(kinds)('a lane on %s', (kind) => {
  it('is released in one pass over the queue, and is due with the first delivery that no earlier delivery of its item blocks', async () => {
    const ledger = await openLedger(databases.of(kind), testKey);
    const { db } = ledger;
    const [place] = await db.query<{ pigeonholeNumber: number }>(
      `insert into pigeonholes (workspace, pigeonhole_id) values ('acme', 1)
         returning pigeonhole_number as "pigeonholeNumber"`,
    );
    const [sink] = await db.query<{ id: number }>(`insert into sinks (name, type) values ('crm', 'file') returning id`);
    const [pigeonholeNumber, sinkId] = [place!.pigeonholeNumber, sink!.id];
    // Each item has an earlier change that is due in an hour, and a later one that is due now. Only the earlier change
    // of item 7 is due in a minute.
    await db.query(
      `insert into deliveries (sink_id, pigeonhole_number, sequence, list, key, revision, state, configuration, due_at)
       select $1, $2, n, 'votes', (n % ${items})::text, 1 + n / ${items}, 'waiting', 1,
         case when n >= ${items} then null when n = 7 then timestamptz '2100-01-01 00:01Z' else '2100-01-01 01:00Z' end
       from generate_series(0, ${2 * items - 1}) n`,
      [sinkId, pigeonholeNumber],
    );
    const lease = await acquireLane(ledger, { sinkId, pigeonholeNumber, owner: 'one', leaseMs: 60_000 });
    await releaseLane(ledger, lease!, 'item'); // a look-up for each row would take minutes
    expect(await db.query('select owner, due_at from lanes')).toEqual([
      { owner: null, due_at: new Date('2100-01-01T00:01:00Z') },
    ]);
  });

  it('of a sink that keeps the order of a pigeonhole waits for its first delivery, even during a replay', async () => {
    const ledger = await openLedger(databases.of(kind), testKey);
    const { db } = ledger;
    const [place] = await db.query<{ pigeonholeNumber: number }>(
      `insert into pigeonholes (workspace, pigeonhole_id, next_sequence) values ('acme', 2, 2)
       returning pigeonhole_number as "pigeonholeNumber"`,
    );
    const [sink] = await db.query<{ id: number }>(
      `insert into sinks (name, type) values ('bucket', 's3') returning id`,
    );
    const [pigeonholeNumber, sinkId] = [place!.pigeonholeNumber, sink!.id];
    await db.query(
      `insert into lanes (sink_id, pigeonhole_number, history_until, watermark, configuration, due_at)
       values ($1, $2, 0, 1, 1, now() + interval '1 hour')`,
      [sinkId, pigeonholeNumber],
    );
    await db.query(
      `with r as (insert into replays (id) values ('0190a5b2-0000-7000-8000-000000000001') returning number)
       insert into replay_lanes (replay, sink_id, pigeonhole_number, until, total) select number, $1, $2, 1, 1 from r`,
      [sinkId, pigeonholeNumber],
    );
    const due = async (order: 'item' | 'pigeonhole'): Promise<number | null> => {
      const [work] = await laneWork(ledger, { sinkId, pigeonholeNumbers: [pigeonholeNumber], configuration: 1, order });
      return work!.dueInMs;
    };
    // if the lane were due now, each cycle would find nothing to do and start again
    expect(await due('pigeonhole')).toBeGreaterThan(1_800_000);
    expect(await due('item')).toBeLessThanOrEqual(0);
  });
});
