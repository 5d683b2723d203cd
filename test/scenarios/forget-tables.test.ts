import { kinds } from '../kit/scenario-kinds.js';
import { openPostgres } from '../../ledger/drivers/postgres.js';
import { askToForget, forget } from '../kit/forget.js';
import { attendee, question, session, vote } from '../kit/items.js';
import { everyone, useStages } from '../kit/stage.js';
import { useLentDatabases } from '../lend-database.js';
import { hasPostgres } from '../postgres.js';

const stages = useStages();
const emptyDatabase = useLentDatabases();

const said = { question: { id: 21, content: 'MARK-said', status: 'approved' } };

(hasPostgres() ? describe.each(kinds) : describe.skip.each(kinds))('tables of an erased person, on %s', (kind) => {
  it('keep an empty row marked as deleted, or none, and no text of the person in the votes of others', async () => {
    const url = await emptyDatabase();
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('attendees', attendee(11, { Name: 'MARK-name' }), attendee(12));
    await stage.put('questions', question(21, 11, 1, said));
    await stage.put('votes', vote(21, 12, 1, said));
    const scene = await stage.scene({
      sinks: {
        emptied: `{ type: postgres, url: "\${TABLES}", schema: emptied, ${everyone} }`,
        removed: `{ type: postgres, url: "\${TABLES}", schema: removed, onForget: delete, ${everyone} }`,
      },
      environment: { TABLES: url },
    });
    await scene.settle();
    const db = await openPostgres({ url });
    try {
      const tables = await db.query<{ place: string }>(
        `select schemaname || '.' || quote_ident(tablename) as place from pg_tables where schemaname in ('emptied', 'removed')`,
      );
      const rowsWith = async (text: string): Promise<number> => {
        let rows = 0;
        for (const { place } of tables) {
          const [found] = await db.query<{ n: number }>(
            `select count(*)::int as n from ${place} t where position($1 in t::text) > 0`,
            [text],
          );
          rows += found!.n;
        }
        return rows;
      };
      expect(await rowsWith('MARK')).toBe(6);
      await forget(stage, scene, await askToForget(scene, { by: 'id', text: '11' }));
      expect(await rowsWith('MARK')).toBe(0);
      const people = async (schema: string): Promise<number> =>
        (await db.query<{ n: number }>(`select count(*)::int as n from ${schema}.attendees`))[0]!.n;
      expect([await people('emptied'), await people('removed')]).toEqual([2, 1]);
    } finally {
      await db.close();
    }
  });
});
