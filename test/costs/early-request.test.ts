import type { PigeonholeClient } from '../../pigeonhole/client.js';
import { openLedger } from '../../ledger/ledger.js';
import { testKey } from '../../ledger/ledger-key.test-kit.js';
import { readPigeonhole } from '../../reading/read-pigeonhole.js';
import { heldDatabase } from '../kit/held-database.js';
import { attendee } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import { useStages } from '../kit/stage.js';
import { until } from '../until.js';
import { watchedClient } from '../kit/watched-client.js';

const stages = useStages();
const place = { workspace: 'acme', pigeonholeId: 101 };
const attendees = 20;
const perPage = 4;

describe.each(kinds)('the request for the next page, on %s', (kind) => {
  it('is sent before the current page is stored, and no page is requested twice', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: perPage });
    for (let id = 1; id <= attendees; id += 1) await stage.put('attendees', attendee(id));
    const asked: string[] = [];
    const client = watchedClient(stage.sandbox.baseUrl);
    const page: PigeonholeClient['page'] = async (list, options = {}) => {
      if (list.list === 'attendees') asked.push(options.cursor ?? 'the first');
      return await client.page(list, options);
    };
    const scene = await stage.scene({
      client: { ...client, page },
      sinks: { archive: '{ type: file, folder: ./archive, lists: [attendees] }' },
      sync: 'every: { live: 10m }', // on a busy machine, a shorter interval would end during the test
    });
    while ((await scene.discover()).nextDueInMs === 0);
    const held = heldDatabase(stage.db, (sql, [, list]) => sql.startsWith('insert into items') && list === 'attendees');
    const deps = { ...scene.deps, ledger: await openLedger(held.db, testKey) };
    const reading = readPigeonhole(deps, place, new AbortController().signal);
    await until('the next page is requested while the first is stored', () => held.isHeld() && asked.length === 2);
    held.letGo();
    await reading;
    expect(new Set(asked).size).toBe(attendees / perPage);
    expect(asked).toHaveLength(attendees / perPage);
    expect(await stage.db.query(`select 1 from items where list = 'attendees'`)).toHaveLength(attendees);
  });
});
