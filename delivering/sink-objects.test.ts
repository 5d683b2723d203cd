import { kinds, useBothDatabases } from '../ledger/drivers/both-databases.test-kit.js';
import { openLedger } from '../ledger/ledger.js';
import { testKey } from '../ledger/ledger-key.test-kit.js';
import { registerSinks } from '../ledger/sinks.js';
import { objectsOfSink } from './sink-objects.js';

const databases = useBothDatabases();

describe.each(kinds)('the objects of a sink, on %s', (kind) => {
  it('are read from all its lanes, each item once, and from no other sink', async () => {
    const db = databases.of(kind);
    const ledger = await openLedger(db, testKey);
    const sink = { type: 'file', historyMs: null, observing: false };
    await registerSinks(ledger, [
      { ...sink, name: 'one', destination: 'one' },
      { ...sink, name: 'two', destination: 'two' },
    ]);
    await db.query(`insert into pigeonholes (workspace, pigeonhole_id) values ('acme', 1), ('acme', 2), ('acme', 3)`);
    await db.query(
      `insert into sink_objects (sink_id, ref, list, key, object)
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
