import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { requestReplay } from '../../delivering/replays.js';
import { pause } from '../../ledger/pauses.js';
import { hasPostgres } from '../postgres.js';
import { finish, rowsOf, stage as stageImport } from '../imports/importing.js';
import { askToForget, forget } from '../kit/forget.js';
import { attendee, question, session, vote } from '../kit/items.js';
import { useStages } from '../kit/stage.js';

const stages = useStages();
const privacy = readFileSync(join(__dirname, '../../docs/privacy.md'), 'utf8');

/** Everything about the forgotten person contains MARK, also in the statistics that the server collects. */
(hasPostgres() ? describe : describe.skip)('the table files of a PostgreSQL server', () => {
  it('contain nothing of an erased person after the commands in docs/privacy.md', async () => {
    const stage = await stages.open('postgres');
    const said = { question: { id: 21, content: 'MARK-said', status: 'approved' } };
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('attendees', attendee(11, { attendeeCode: 'MARK-code', Name: 'MARK-name' }), attendee(12));
    await stage.put('questions', question(21, 11, 1, said));
    await stage.put('votes', vote(21, 12, 1, said));
    const scene = await stage.scene();
    await scene.settle();
    await finish(scene, await stageImport(scene, rowsOf({ attendeeCode: 'MARK-code', Name: 'MARK-name' })));
    const { ledger } = scene;
    const asked = { pausedBy: 'person', cause: 'asked', fingerprint: null } as const;
    // The server keeps samples of a column with several values.
    for (const name of ['first', 'second', 'third']) {
      await pause(ledger, { ...asked, scope: 'import', name, detail: `MARK-name asked for the ${name}` });
    }
    const reason = 'MARK-name asked';
    await requestReplay(ledger, { id: randomUUID(), lanes: [], lists: null, from: null, by: null, reason });
    await stage.db.script('analyze; checkpoint');
    await forget(stage, scene, await askToForget(scene, { by: 'code', text: 'MARK-code' }));

    const [place] = await stage.db.query<{ folder: string }>(
      `select current_setting('data_directory') || '/base/' || oid as folder from pg_database where datname = current_database()`,
    );
    // The exit code is not checked: grep exits with 2 if the server removes a file while grep searches.
    const filesWithMark = (): string[] =>
      spawnSync('grep', ['-rlas', 'MARK-', place!.folder], { encoding: 'utf8' }).stdout.split('\n').filter(Boolean);
    await stage.db.script('checkpoint');
    expect(filesWithMark()).not.toEqual([]);
    const commands = /```sql\n([^`]*)```/.exec(privacy)?.[1]?.trim().split('\n') ?? [];
    for (const command of commands) await stage.db.script(command);
    await stage.db.script('checkpoint');
    const names = await stage.db.query<{ name: string; file: string }>(
      `select c.relname as name, pg_relation_filepath(c.oid) as file from pg_class c where c.relkind in ('r','t','i')`,
    );
    const left = filesWithMark().map(
      (path) => names.find(({ file }) => file !== null && path.endsWith(file))?.name ?? path,
    );
    expect(left).toEqual([]);
  });
});
