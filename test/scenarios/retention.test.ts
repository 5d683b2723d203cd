import { randomUUID } from 'node:crypto';
import { keepRetention } from '../../people/retention.js';
import { startReplay } from '../../operations/start-replay.js';
import { kinds } from '../kit/scenario-kinds.js';
import { dumpLedger } from '../kit/dump-ledger.js';
import { finishRetention } from '../kit/finish-retention.js';
import { delayedDatabase } from '../kit/held-database.js';
import { attendee, question, session } from '../kit/items.js';
import { archived, everyone, useStages } from '../kit/stage.js';
import { starterOf } from '../kit/starter-of.js';

const stages = useStages();
afterEach(() => jest.restoreAllMocks());
const sinks = { archive: `{ type: file, folder: ./archive, ${everyone} }` };

describe.each(kinds)('the retention of texts, on %s', (kind) => {
  it('removes them after the period since the end of the event, and reading them again is no change', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('attendees', attendee(11, { Name: 'MARK-name' }));
    await stage.put(
      'questions',
      question(21, 11, 1, { question: { id: 21, content: 'MARK-said', status: 'approved' } }),
    );
    const scene = await stage.scene({ sinks });
    const retention = {
      listsMs: { attendees: 10 * 86_400_000, questions: 3650 * 86_400_000 },
      changesMs: 86_400_000,
      attemptsMs: 86_400_000,
    };
    const deps = { ...scene.deps, config: { ...scene.deps.config, retention } };
    await scene.settle();
    await stage.patch('attendees', 11, { Name: 'MARK-changed' });
    await stage.pollsAreDue();
    await scene.settle();
    const before = archived(scene, 'attendees').length;

    await finishRetention(deps);
    expect(await dumpLedger(stage.db)).toContain('MARK-name'); // the event continues
    await stage.db.query(
      `update pigeonholes set ended_at = now() - interval '20 days', created_at = now() - interval '40 days'`,
    );
    await stage.db.query(`update changes set found_at = found_at - interval '25 days'`);
    await stage.db.query('delete from retention_passes');
    await finishRetention(deps);
    const dump = await dumpLedger(stage.db);
    expect(dump).not.toContain('MARK-name');
    expect(dump).not.toContain('MARK-changed');
    expect(dump).toContain('MARK-said');
    const replay = { id: randomUUID(), sink: 'archive', pigeonhole: null, from: null, dryRun: true };
    expect(
      await startReplay({ deps, starter: starterOf(deps) }, { ...replay, lists: ['attendees', 'questions'] }),
    ).toMatchObject({
      counts: [{ list: 'questions', items: 1 }], // a replay does not send what has expired
    });

    await stage.db.query('update pages set digest = null');
    await stage.sweepsAreDue();
    await scene.settle();
    expect(archived(scene, 'attendees')).toHaveLength(before);
    expect(await dumpLedger(stage.db)).not.toContain('MARK-changed');

    await stage.patch('attendees', 11, { Name: 'MARK-later' });
    await stage.sweepsAreDue();
    await scene.settle();
    expect(archived(scene, 'attendees', 11).map(({ type, revision }) => `${type} ${revision}`)).toEqual([
      'attendees.created 1',
      'attendees.updated 2',
      'attendees.updated 3',
    ]);
  });

  it('keeps earlier revisions for their own period, regardless of the event', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(11, { Name: 'MARK-first' }));
    const scene = await stage.scene({ sinks });
    await scene.settle();
    await stage.patch('attendees', 11, { Name: 'MARK-second' });
    await stage.pollsAreDue();
    await scene.settle();
    const deps = {
      ...scene.deps,
      config: { ...scene.deps.config, retention: { listsMs: {}, changesMs: 86_400_000, attemptsMs: 86_400_000 } },
    };
    await finishRetention(deps);
    expect(await dumpLedger(stage.db)).toContain('MARK-first');
    await stage.db.query(`update pigeonholes set created_at = created_at - interval '2 days'`);
    await stage.db.query(`update changes set found_at = found_at - interval '2 days'`);
    await stage.db.query('delete from retention_passes');
    await finishRetention(deps);
    const dump = await dumpLedger(stage.db);
    expect(dump).not.toContain('MARK-first');
    expect(dump).toContain('MARK-second');
  });

  it('continues in each cycle even if the store takes longer to find the lists than a cycle may take', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(11, { Name: 'MARK-first' }));
    let passedMs = 0;
    const store = delayedDatabase(stage.db, async (sql) => {
      if (sql.includes('left join retention_passes')) passedMs += 60_000;
    });
    const scene = await stage.scene({ store, sinks });
    await scene.settle();
    await stage.db.query(`update pigeonholes set ended_at = now() - interval '20 days'`);
    const retention = { listsMs: { attendees: 10 * 86_400_000 }, changesMs: 3650 * 86_400_000, attemptsMs: 86_400_000 };
    const deps = { ...scene.deps, config: { ...scene.deps.config, retention } };
    const startedAt = performance.now();
    jest.spyOn(performance, 'now').mockImplementation(() => startedAt + passedMs);
    await keepRetention(deps, 'acme', new AbortController().signal);
    expect(await dumpLedger(stage.db)).not.toContain('MARK-first');
  });

  it('counts the period of an earlier revision from its own change, not from the change that replaced it', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(11, { Name: 'MARK-first' }));
    const scene = await stage.scene({ sinks });
    await scene.settle();
    await stage.db.query(`update pigeonholes set created_at = created_at - interval '2 days'`);
    await stage.db.query(`update changes set found_at = found_at - interval '2 days'`);
    for (const Name of ['MARK-second', 'MARK-third']) {
      await stage.patch('attendees', 11, { Name });
      await stage.pollsAreDue();
      await scene.settle();
    }
    const deps = {
      ...scene.deps,
      config: { ...scene.deps.config, retention: { listsMs: {}, changesMs: 86_400_000, attemptsMs: 86_400_000 } },
    };
    await finishRetention(deps);
    const dump = await dumpLedger(stage.db);
    expect(dump).not.toContain('MARK-first');
    expect(dump).toContain('MARK-second');
  });

  it('keeps one change of each item and one delivery at each sink, with the counts, once the earlier ones have expired', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(11), attendee(12));
    const scene = await stage.scene({ sinks });
    await scene.settle();
    const edit = async (Name: string): Promise<void> => {
      await stage.patch('attendees', 11, { Name });
      await stage.pollsAreDue();
      await scene.settle();
    };
    for (const Name of ['second', 'third', 'fourth']) await edit(Name);
    const counts = `select list, state, changes::int, dropped::int from delivery_counts where list = 'attendees' and changes > 0 order by 1, 2`;
    const rows = `select c.key, c.revision, c.previous_sequence is not null as linked, d.revision as delivered
      from changes c left join deliveries d on d.pigeonhole_number = c.pigeonhole_number and d.sequence = c.sequence
      where c.list = 'attendees' order by 1, 2`;
    const [full] = await stage.db.query<{ changes: number; dropped: number }>(counts);
    expect(full).toMatchObject({ changes: 5, dropped: 0 });
    await stage.db.query(`update pigeonholes set created_at = created_at - interval '2 days'`);
    await stage.db.query(`update changes set found_at = found_at - interval '2 days' where revision < 4`);
    const deps = {
      ...scene.deps,
      config: { ...scene.deps.config, retention: { listsMs: {}, changesMs: 86_400_000, attemptsMs: 86_400_000 } },
    };
    await finishRetention(deps);
    // the last change is young, so only what is before the third has gone
    expect(await stage.db.query(rows)).toEqual([
      { key: '11', revision: 3, linked: false, delivered: 3 },
      { key: '11', revision: 4, linked: true, delivered: 4 },
      { key: '12', revision: 1, linked: false, delivered: 1 },
    ]);
    expect(await stage.db.query(counts)).toEqual([{ ...full, dropped: 2 }]);

    await edit('fifth');
    expect(archived(scene, 'attendees').map(({ key, revision }) => `${key} ${revision}`)).toEqual(
      expect.arrayContaining(['11 1', '11 2', '11 3', '11 4', '11 5', '12 1']),
    );
    await stage.db.query('delete from retention_passes');
    await stage.db.query(`update changes set found_at = found_at - interval '2 days'`);
    await finishRetention(deps);
    expect(await stage.db.query(rows)).toMatchObject([{ revision: 5, linked: false, delivered: 5 }, { key: '12' }]);
    await edit('sixth');
    expect(archived(scene, 'attendees').at(-1)).toMatchObject({ key: '11', revision: 6, data: { Name: 'sixth' } });
  });
});
