import { randomUUID } from 'node:crypto';
import { requestReplay } from '../../delivering/replays.js';
import { beginImport, startImport } from '../../ledger/imports/imports.js';
import { stageRows } from '../../importing/staging.js';
import { storeInvalidRows } from '../../ledger/imports/rows.js';
import { pigeonholeNumberOf } from '../../ledger/pigeonholes.js';
import { countPerson, exportPerson } from '../../people/export-person.js';
import { findPerson } from '../../people/find-person.js';
import { finish, rowsOf } from '../imports/importing.js';
import { dumpLedger } from '../kit/dump-ledger.js';
import { finishRetention } from '../kit/finish-retention.js';
import { askToForget, forget } from '../kit/forget.js';
import { attendee } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { everyone, useStages } from '../kit/stage.js';
import { deleteItem } from '../kit/tombstone.js';

const stages = useStages();

/** Imports MARK, and rows that cannot be used: one of MARK without a code, and one of a person at table 42. */
async function importPeople({ ledger }: Scene): Promise<string> {
  const id = randomUUID();
  const about = { id, file: 'people.csv', mapping: {}, requestedBy: null, canary: null };
  const number = await beginImport(ledger, {
    ...about,
    pigeonholeNumber: await pigeonholeNumberOf(ledger, 'acme', 101),
  });
  await stageRows(ledger, number, rowsOf({ attendeeCode: '42', Name: 'MARK-name', Email: 'MARK@example.com' }));
  const problems = [{ field: 'Email', problem: 'invalid' }];
  await storeInvalidRows(ledger, number, [
    { row: 7, values: { Name: 'MARK-name', Email: 'mark@EXAMPLE.com' }, problems },
    { row: 8, values: { attendeeCode: '43', Name: 'Grace', Table: '42' }, problems },
  ]);
  await startImport(ledger, number, 3);
  return id;
}

describe.each(kinds)('a stored person, on %s', (kind) => {
  it('is exported and erased with every row of the file that is about them, and no other', async () => {
    const stage = await stages.open(kind);
    const scene = await stage.webhookScene(`${everyone}, lists: [registrants]`);
    await scene.settle();
    await finish(scene, await importPeople(scene));
    await scene.settle();
    expect(stage.received('registrants')).toHaveLength(1);

    const name = { by: 'email', text: 'mark@example.com' } as const;
    const places = await findPerson(scene.ledger, { ...name, workspace: null });
    for (const asked of ['mark@example.com', 'email:mark@example.com']) {
      const { items, importRows } = await exportPerson(scene.ledger, places, asked);
      expect(items).toMatchObject([
        { list: 'registrants', data: { Name: 'MARK-name' }, sent: [{ sink: 'hooks', state: 'delivered' }] },
      ]);
      expect(importRows.map(({ row }) => row)).toEqual([2, 7]);
      expect(await countPerson(scene.ledger, places, asked)).toEqual({
        items: { registrants: 1 },
        importRows: 2,
        sinks: ['hooks'],
      });
    }

    await forget(stage, scene, await askToForget(scene, { ...name, asked: 'email:mark@example.com' }));
    const left = await dumpLedger(stage.db);
    expect(left.toLowerCase()).not.toContain('mark');
    expect(left).toContain('Grace');
  });

  it.each(['was deleted in the service', 'has expired'])(
    'is exported and erased by the id of their attendee record, even if that record %s',
    async (what) => {
      const stage = await stages.open(kind);
      await stage.put('attendees', attendee(5, { attendeeCode: '42', Name: 'MARK-name' }));
      const scene = await stage.scene();
      await scene.settle();
      await finish(scene, await importPeople(scene));
      if (what === 'has expired') {
        await stage.db.query(`update pigeonholes set ended_at = now() - interval '20 days'`);
        const retention = { listsMs: { attendees: 86_400_000 }, changesMs: 86_400_000, attemptsMs: 86_400_000 };
        const deps = { ...scene.deps, config: { ...scene.deps.config, retention } };
        await finishRetention(deps);
      } else {
        await deleteItem(scene.ledger, { pigeonholeId: 101, list: 'attendees', key: '5' });
      }

      const name = { by: 'id', text: '5' } as const;
      const places = await findPerson(scene.ledger, { ...name, workspace: null });
      const { importRows } = await exportPerson(scene.ledger, places, 'id:5');
      expect(importRows.map(({ row }) => row)).toEqual([2]);
      await stage.remove('attendees', 5);
      await forget(stage, scene, await askToForget(scene, { ...name, asked: 'id:5' }));
      const [left] = await stage.db.query<{ n: number }>(
        `select count(*)::int as n from registrants where profile::text like '%MARK%'`,
      );
      expect(left).toEqual({ n: 0 });
    },
  );

  it('is found by each code and e-mail address of their record, and of its earlier revisions while these are stored', async () => {
    const stage = await stages.open(kind);
    const person = attendee(5, { attendeeCode: 'C-1', Email: 'MARK@example.com', Second: ' two@EXAMPLE.org ' });
    await stage.put('attendees', person, attendee(6, { attendeeCode: 'C-2', Email: 'other@example.com' }));
    const scene = await stage.scene();
    await scene.settle();
    await stage.patch('attendees', 5, { Email: 'new@example.com', attendeeCode: 'C-3' });
    await stage.sweepsAreDue();
    await scene.settle();
    const found = async (by: 'code' | 'email', text: string): Promise<readonly number[]> =>
      (await findPerson(scene.ledger, { by, text, workspace: null })).flatMap(({ attendeeIds }) => attendeeIds);
    for (const address of ['mark@example.com', 'New@Example.com', 'two@example.org'])
      expect(await found('email', address)).toEqual([5]);
    for (const code of ['C-1', 'C-3']) expect(await found('code', code)).toEqual([5]);
    expect([await found('email', 'C-1'), await found('code', 'c-1'), await found('email', 'm@example.com')]).toEqual([
      [],
      [],
      [],
    ]);

    await stage.db.query('update changes set snapshot = null');
    expect([await found('email', 'mark@example.com'), await found('email', 'new@example.com')]).toEqual([[], [5]]);
    await forget(stage, scene, await askToForget(scene, { by: 'email', text: 'new@example.com' }));
    const named = 'select key from items where names is not null';
    expect(await stage.db.query(named)).toEqual([{ key: '6' }]);
    await stage.db.query(`update pigeonholes set ended_at = now() - interval '20 days'`);
    const retention = { listsMs: { attendees: 86_400_000 }, changesMs: 86_400_000, attemptsMs: 86_400_000 };
    await finishRetention({ ...scene.deps, config: { ...scene.deps.config, retention } });
    expect(await stage.db.query(named)).toEqual([]);
  });

  it('is erased from the reasons that name them, even if their record was deleted in the service', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(5, { Name: 'MARK-name' }));
    const scene = await stage.scene();
    await scene.settle();
    await deleteItem(scene.ledger, { pigeonholeId: 101, list: 'attendees', key: '5' });
    await stage.remove('attendees', 5);
    const replay = { id: randomUUID(), lanes: [], lists: null, from: null, by: null, reason: 'MARK-name asked' };
    await requestReplay(scene.ledger, replay);
    await forget(stage, scene, await askToForget(scene, { by: 'id', text: '5', asked: 'id:5' }));
    expect(await stage.db.query('select reason from replays')).toEqual([{ reason: null }]);
  });
});
