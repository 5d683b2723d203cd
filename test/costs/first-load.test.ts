import { readPresent } from '../../api/status.js';
import { kinds } from '../../ledger/drivers/both-databases.test-kit.js';
import type { Database } from '../../ledger/drivers/database.js';
import { archived, pigeonhole, useStages } from '../kit/stage.js';
import { formatPlan, type Weighed, weighedDatabase } from '../kit/weighed-database.js';

/**
 * A statement that processes more than this takes at least 200 ms on a small machine: the embedded store was measured
 * at four million rows and pages a second. The largest batch needs a third of it, regardless of what is stored.
 */
const most = { rows: 60_000, pages: 60_000 };

/** The statement that writes a delivery a second time, after it was written as being sent. */
const settlesRow = /^update deliveries d set state = 'delivered'/;

const stages = useStages();

describe.each(kinds)('each statement of a first load into a file, on %s,', (kind) => {
  it.each([
    { items: 30_000, tables: 'nobody has analyzed', prepare: async () => undefined },
    { items: 6000, tables: 'have the statistics of other pigeonholes', prepare: fillOtherPigeonhole },
  ])(
    'does not process more rows as the tables grow, and writes each delivery once, where tables $tables',
    async ({ items, prepare }) => {
      const stage = await stages.open(kind, { attendees: items });
      await prepare(stage.db);
      const heavy: Weighed[] = [];
      const written: string[] = [];
      const db = weighedDatabase(stage.db, (weighed) => {
        if (weighed.sql.includes('into deliveries') || settlesRow.test(weighed.sql)) written.push(weighed.sql);
        if (weighed.rows > most.rows || weighed.pages > most.pages) heavy.push(weighed);
      });
      const scene = await stage.scene({ store: db, sync: 'lists: [attendees]' });
      const sources = {
        ledger: scene.ledger,
        config: scene.deps.config,
        configuration: scene.deps.configuration,
        trouble: () => null,
        quotas: async () => new Map(),
      };
      await scene.discover();
      for (let left = true; left;) {
        const read = await scene.read({ workspace: 'acme', pigeonholeId: pigeonhole });
        const present = await readPresent(sources, null);
        const sent = await scene.deliver('archive');
        left = read.created > 0 || sent.delivered > 0 || !present.status.settled;
      }
      expect(archived(scene, 'attendees')).toHaveLength(items);
      expect(written.filter((sql) => sql.startsWith('update'))).toEqual([]);
      expect(written).not.toEqual([]);
      expect(
        heavy.map(({ sql, rows, pages, plan }) => `${rows} rows, ${pages} pages:\n${sql}\n${formatPlan(plan)}`),
      ).toEqual([]);
    },
  );
});

/** Gives the planner statistics of a used store before a pigeonhole is read that they do not cover. */
async function fillOtherPigeonhole(db: Database): Promise<void> {
  await db.script(`
    insert into items (pigeonhole_number, list, key, stream_id, revision, content_hash, payload, rules, seen_at,
      last_sequence)
      select 9001, 'attendees', n::text, 9001, 1, '\\x00', '{}', '', now(), n from generate_series(1, 20000) n;
    insert into changes (pigeonhole_number, sequence, id, list, key, revision, kind, found_at)
      select 9001, n, gen_random_uuid(), 'attendees', n::text, 1, 'created', now() from generate_series(1, 20000) n;
    insert into deliveries (sink_id, pigeonhole_number, sequence, list, key, revision, state, configuration, identity)
      select 9001, 9001, n, 'attendees', n::text, 1, 'delivered', 1, true from generate_series(1, 20000) n;
    analyze items; analyze changes; analyze deliveries`);
}
