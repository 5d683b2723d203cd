import { act, handleRequest } from '../../operations/act.js';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { kinds } from '../kit/scenario-kinds.js';
import { finishRetention } from '../kit/finish-retention.js';
import { reopenErasures } from '../../people/erasure-states.js';
import { openErasures, readErasure, receiptsOf } from '../../people/erasures.js';
import { requestReplay } from '../../delivering/replays.js';
import { forgetAttendeeId } from '../../workflows/ids.js';
import { finish, rowsOf, stage as stageImport } from '../imports/importing.js';
import { readArchive } from '../kit/archive.js';
import { dumpLedger } from '../kit/dump-ledger.js';
import { askToForget, forget, forgetTurn } from '../kit/forget.js';
import { attendee, question, session, vote } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { starterOf } from '../kit/starter-of.js';
import { archive, everyone, type Stage, useStages } from '../kit/stage.js';

/** Every text about the forgotten person contains MARK, and so do the votes of others on their question. */
const stages = useStages();
const said = { question: { id: 21, content: 'MARK-said', status: 'approved' } };
const file = (folder: string): string => `{ type: file, folder: ./${folder}, ${everyone} }`;

/** Attendee 11 is erased, 12 has voted for the question of 11, and 13 is not involved. */
async function fill(stage: Stage): Promise<void> {
  await stage.put('sessions', session(1, { anonymousResponses: false }), session(2));
  await stage.put(
    'attendees',
    attendee(11, { Name: 'MARK-name', attendeeCode: 'MARK-code' }),
    attendee(12),
    attendee(13),
  );
  await stage.put('questions', question(21, 11, 1, said), question(22, 11, 2, anonymous), question(23, 13, 1));
  await stage.put('votes', vote(21, 12, 1, said));
}
const anonymous = { question: { id: 22, content: 'MARK-unsigned', status: 'approved' } };

async function askForReplay({ deps, ledger }: Scene): Promise<void> {
  const pigeonholeNumbers = await ledger.db.query<{ pigeonholeNumber: number }>(
    'select pigeonhole_number as "pigeonholeNumber" from pigeonholes where pigeonhole_id = 101',
  );
  const lanes = [...deps.sinks.values()].flatMap(({ id }) =>
    pigeonholeNumbers.map(({ pigeonholeNumber }) => ({ sinkId: id, pigeonholeNumber, total: 1 })),
  );
  await requestReplay(ledger, { id: randomUUID(), lanes, lists: null, from: null, by: null, reason: null });
}

async function outcomesOf({ ledger }: Scene, id: string): Promise<Record<string, string>> {
  const { number } = (await readErasure(ledger, id))!;
  return Object.fromEntries((await receiptsOf(ledger, number)).map(({ place, outcome }) => [place, outcome]));
}

/** Returns the ledger's rows that contain MARK, shortened. */
async function marked({ db }: Stage): Promise<string[]> {
  const rows = (await dumpLedger(db)).split('\n');
  return rows.filter((row) => row.includes('MARK')).map((row) => row.slice(0, 60));
}

describe.each(kinds)('the erasure of a person, on %s', (kind) => {
  it('removes the person from running and later replays, and leaves no dead letter about them', async () => {
    const stage = await stages.open(kind);
    await fill(stage);
    const scene = await stage.webhookScene(everyone, { sinks: { archive: file('archive') } });
    await stage.planAnswer({ status: 422, list: 'questions', key: '22', count: 99 });
    await scene.settle();
    expect(await stage.db.query(`select key from deliveries where state = 'dead'`)).toEqual([{ key: '22' }]);

    await askForReplay(scene); // for `archive`, nothing is sent yet; for `hooks`, everything was tried and waits
    await stage.planAnswer({ status: 503, count: 99 });
    await scene.deliver('hooks');
    const waiting = await stage.db.query(
      `select key from deliveries where replay > 0 and state in ('retry', 'waiting') and key in ('11', '21')`,
    );
    expect(waiting.length).toBeGreaterThan(0);
    const before = stage.received().length;
    const erasure = await askToForget(scene, { by: 'id', text: '11' });
    await forgetTurn(scene, erasure);
    await stage.forgetAnswers();
    await forget(stage, scene, erasure);
    await stage.retriesAreDue();
    await scene.settle();
    await askForReplay(scene);
    await scene.settle();

    const later = stage.received().slice(before);
    expect(later.filter((receipt) => JSON.stringify(receipt).includes('MARK'))).toEqual([]);
    expect(JSON.stringify(later)).toContain('Person 13');
    expect(JSON.stringify(archive(scene))).not.toContain('MARK');
    expect(archive(scene).filter(({ key, type }) => key === '11' && type !== 'attendees.deleted')).toEqual([]);
    expect(await stage.db.query(`select key from deliveries where state in ('dead', 'retry', 'waiting')`)).toEqual([]);
    expect(await marked(stage)).toEqual([]);
  });

  it('sends nothing about the person to a new sink, and removes the person from a restored one', async () => {
    const stage = await stages.open(kind);
    await fill(stage);
    await (await stage.webhookScene()).settle();
    const alone = await stage.scene({ sinks: { between: file('between') } });
    const erasure = await askToForget(alone, { by: 'id', text: '11' });
    await forget(stage, alone, erasure);
    expect((await outcomesOf(alone, erasure))['sink:hooks acme/101']).toBe('by-hand');
    expect(await reopenErasures(alone.ledger)).toBe(0);

    const before = stage.received().length;
    const again = await stage.webhookScene(everyone, { sinks: { late: file('late') } });
    await stage.sweepsAreDue();
    await again.settle();
    const theirs = stage
      .received()
      .slice(before)
      .filter(({ change }) => ['11', '21', '22'].includes(change.key));
    expect(theirs.map(({ change }) => change.type).toSorted()).toEqual([
      'attendees.deleted',
      'questions.deleted',
      'questions.deleted',
    ]);
    expect(JSON.stringify(stage.received().slice(before))).not.toContain('MARK');
    const late = readArchive(join(again.folder, 'late'));
    expect(late.filter(({ key }) => key === '13')).toHaveLength(1);
    expect(late.filter(({ key }) => ['11', '21', '22'].includes(key))).toEqual([]);

    expect(await reopenErasures(again.ledger)).toBe(1);
    await forget(stage, again, erasure);
    expect((await outcomesOf(again, erasure))['sink:hooks acme/101']).toBe('told');
    expect(await reopenErasures(again.ledger)).toBe(0);
    expect(await stage.db.query('select 1 from erasing')).toEqual([]);
  });

  it('finds the person before retention runs, and retention restores nothing about them afterwards', async () => {
    const stage = await stages.open(kind);
    await fill(stage);
    const scene = await stage.scene();
    await scene.settle();
    await finish(scene, await stageImport(scene, rowsOf({ attendeeCode: 'MARK-code', Name: 'MARK-name' })));
    await stage.pollsAreDue();
    await scene.settle();
    const retention = {
      listsMs: { attendees: 86_400_000, registrants: 86_400_000 },
      changesMs: 86_400_000,
      attemptsMs: 86_400_000,
    };
    const deps = { ...scene.deps, config: { ...scene.deps.config, retention } };
    await stage.db.query(`update pigeonholes set ended_at = now() - interval '20 days'`);
    await finishRetention(deps);
    expect(await dumpLedger(stage.db)).not.toContain('MARK-name');
    expect(await dumpLedger(stage.db)).toContain('MARK-unsigned');

    const erasure = await askToForget(scene, { by: 'code', text: 'MARK-code' });
    await forget(stage, scene, erasure);
    expect(await marked(stage)).toEqual([]);
    expect(JSON.stringify(archive(scene))).not.toContain('MARK');
    const receipts = await outcomesOf(scene, erasure);
    expect(receipts['ledger']).toBe('erased');

    await stage.db.query('delete from retention_passes');
    await finishRetention(deps);
    await stage.db.query('update pages set digest = null');
    await stage.sweepsAreDue();
    await scene.settle();
    expect(await marked(stage)).toEqual([]);
    expect(JSON.stringify(archive(scene))).not.toContain('MARK');
    expect(await outcomesOf(scene, erasure)).toEqual(receipts);
    expect(await openErasures(scene.ledger)).toEqual([]);
  });

  it('is checked often again when a sink is resumed after days, and the log counts every place', async () => {
    const stage = await stages.open(kind);
    await fill(stage);
    const scene = await stage.scene();
    await scene.settle();
    await handleRequest(scene.ledger, { kind: 'sink', name: 'archive' }, { do: 'pause' });
    const erasure = await askToForget(scene, { by: 'id', text: '11' });
    await forgetTurn(scene, erasure);
    await stage.db.query(`update erasures set requested_at = requested_at - interval '2 days'`);
    await stage.db.query(`update erasure_receipts set at = at - interval '2 days'`);
    expect(await forgetTurn(scene, erasure)).toMatchObject({ open: 1, nextDueInMs: 60_000 });
    const woken: string[] = [];
    const starter = {
      ...starterOf(scene.deps),
      wakeSinks: async (names: readonly string[]) => void woken.push(...names),
      wakeWorkflow: async ({ id }: { readonly id: string }) => woken.push(id) > 0,
    };
    await act({ deps: scene.deps, starter }, { do: 'resume', kind: 'sink', name: 'archive' });
    expect(woken).toEqual(['archive', forgetAttendeeId(erasure)]);
    expect(await forgetTurn(scene, erasure)).toMatchObject({ open: 1, nextDueInMs: 1000 });
    await forget(stage, scene, erasure);
    const places = Object.keys(await outcomesOf(scene, erasure)).length;
    expect(places).toBe(4);
    expect(scene.logText()).toContain(`"erased a person everywhere","erasure":"${erasure}","places":${places}`);
  });

  it('keeps and counts another person with the same address; a request by address erases everyone who has it', async () => {
    const stage = await stages.open(kind);
    const Email = 'Shared@example.com';
    await stage.put('attendees', attendee(11, { Email }), attendee(12, { Email: 'shared@EXAMPLE.com ' }), attendee(13));
    const scene = await stage.scene();
    await scene.settle();
    await finish(scene, await stageImport(scene, rowsOf({ attendeeCode: 'P1', Email }, { attendeeCode: 'P2' })));
    const kept = async (): Promise<string[]> => {
      const rows = await stage.db.query<{ key: string }>(
        `select key from items where list = 'attendees' and payload is not null order by key`,
      );
      return rows.map(({ key }) => key);
    };
    const one = await askToForget(scene, { by: 'id', text: '11' });
    await forget(stage, scene, one);
    expect(await kept()).toEqual(['12', '13']);
    const { number } = (await readErasure(scene.ledger, one))!;
    const others = (await receiptsOf(scene.ledger, number)).find(({ place }) => place === 'others');
    expect(others).toMatchObject({ count: 2, outcome: 'by-hand' });

    const all = await askToForget(scene, { by: 'email', text: 'SHARED@example.com' });
    await forget(stage, scene, all);
    expect(await kept()).toEqual(['13']);
    expect((await dumpLedger(stage.db)).toLowerCase()).not.toContain('shared@');
    expect(await outcomesOf(scene, all)).not.toHaveProperty('others');

    // A new record with a new id and a new code: a person may return under the same address.
    await stage.put('attendees', attendee(14, { Email }));
    await stage.pollsAreDue();
    await scene.settle();
    expect(await kept()).toEqual(['13', '14']);
  });

  it('does not count as done by a second request while the first erasure is open', async () => {
    const stage = await stages.open(kind);
    await fill(stage);
    const scene = await stage.scene();
    await scene.settle();
    await handleRequest(scene.ledger, { kind: 'sink', name: 'archive' }, { do: 'pause' });
    const [first, second] = [
      await askToForget(scene, { by: 'id', text: '11' }),
      await askToForget(scene, { by: 'code', text: 'MARK-code' }),
    ];
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await forgetTurn(scene, second)).toMatchObject({ items: 0, open: 1, state: 'working' });
      expect(await outcomesOf(scene, second)).toMatchObject({ ledger: 'waiting', [`erasure:${first}`]: 'waiting' });
    }
    expect(await forgetTurn(scene, first)).toMatchObject({ state: 'working' });
    expect(await forgetTurn(scene, second)).toMatchObject({ state: 'working' });
    await handleRequest(scene.ledger, { kind: 'sink', name: 'archive' }, { do: 'resume' });
    await forget(stage, scene, first);
    await forget(stage, scene, second);
    const { number } = (await readErasure(scene.ledger, second))!;
    const places = await receiptsOf(scene.ledger, number);
    expect(places.find(({ place }) => place === `erasure:${first}`)).toMatchObject({ count: 3, outcome: 'erased' });
    expect(await outcomesOf(scene, second)).toMatchObject({ ledger: 'erased' });
  });
});
