import { type Database } from '../../ledger/drivers/database.js';
import { openPostgres } from '../../ledger/drivers/postgres.js';
import { audit, findingTexts, parityCounts, repair } from '../kit/audit.js';
import { askToForget, forget } from '../kit/forget.js';
import { attendee, pollVote, question, session, vote } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import { everyone, useStages } from '../kit/stage.js';
import { useLentDatabases } from '../lend-database.js';
import { hasPostgres } from '../postgres.js';

const stages = useStages();
const emptyDatabase = useLentDatabases();
const none = { stale: 0, changed: 0, missing: 0, extra: 0, unreadable: 0, undelivered: 0 };

/** Returns all rows of the tables as text, by table, without the instants of the writes. */
async function contentsOf(db: Database): Promise<string> {
  const rows: unknown[] = [];
  for (const table of ['attendees', 'questions', 'sessions', 'votes', 'poll_mcq_votes']) {
    const select = `select (to_jsonb(t) - 'updated_at')::text as row from engagement.${table} t order by 1`;
    rows.push(...(await db.query<{ row: string }>(select)).map(({ row }) => `${table} ${row}`));
  }
  return rows.join('\n');
}

(hasPostgres() ? describe.each(kinds) : describe.skip.each(kinds))('an audit of tables, on %s', (kind) => {
  it('agrees with what was written, finds every change, and repairs it', async () => {
    const url = await emptyDatabase();
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, { anonymousResponses: false, startDate: '2026-11-21T09:00:00+02:00' }));
    await stage.put(
      'attendees',
      attendee(11),
      attendee(12, { Odd: 'a\u0000b', Big: 1e21 }),
      attendee(13),
      attendee(14),
    );
    await stage.put('questions', question(21, 11, 1), question(22, 12, 1));
    await stage.put('votes', vote(21, 12, 1));
    await stage.put('poll-mcq-votes', pollVote(31, { id: 13 }, 1));
    const tables = `{ type: postgres, url: "\${TABLES}", schema: engagement, ${everyone} }`;
    const scene = await stage.scene({ sinks: { tables }, environment: { TABLES: url } });
    await scene.settle();
    const db = await openPostgres({ url });
    try {
      await stage.remove('questions', 22);
      await stage.patch('attendees', 11, { Name: 'Renamed' });
      await stage.sweepsAreDue();
      await scene.settle();
      await stage.sweepsAreDue();
      await scene.settle();
      await forget(stage, scene, await askToForget(scene, { by: 'id', text: '14' }));
      await audit(scene, 'tables');
      expect(await findingTexts(scene, 'tables')).toEqual([]);
      const { same } = await parityCounts(scene, 'tables');
      expect(same).toBeGreaterThan(8);

      const before = await contentsOf(db);
      await db.query(`delete from engagement.votes`);
      await db.query(`update engagement.questions set question_content = 'Edited by a colleague' where key = '21'`);
      await db.query(`update engagement.questions set deleted_at = null where key = '22'`);
      await db.query(`update engagement.attendees set raw = '{"Name": "Person 14"}' where key = '14'`);
      await audit(scene, 'tables');
      expect(await findingTexts(scene, 'tables')).toEqual([
        'changed questions:21 question_content',
        'extra attendees:14 raw',
        'extra questions:22 deleted_at',
        expect.stringMatching(/^missing votes:/),
      ]);
      await repair(scene, 'tables');
      expect(await findingTexts(scene, 'tables')).toEqual([]);
      expect(await contentsOf(db)).toBe(before);
      expect(await parityCounts(scene, 'tables')).toEqual({ ...none, same });
    } finally {
      await db.close();
    }
  });

  it('shows nothing of a failed read but its reason', async () => {
    const url = await emptyDatabase();
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(11));
    const tables = `{ type: postgres, url: "\${TABLES}", schema: engagement, ${everyone} }`;
    const scene = await stage.scene({ sinks: { tables }, environment: { TABLES: url } });
    await scene.settle();
    const db = await openPostgres({ url });
    try {
      await db.query('drop table engagement.attendees');
      await audit(scene, 'tables');
      const failures = await stage.db.query<{ failure: string }>(
        'select failure from parity_passes where failure is not null',
      );
      expect(failures).toEqual([{ failure: expect.stringContaining('SQLSTATE 42P01') }]);
    } finally {
      await db.close();
    }
  });
});
