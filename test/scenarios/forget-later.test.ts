import { kinds } from '../kit/scenario-kinds.js';
import { deleteItems } from '../../reading/delete-items.js';
import { openErasures } from '../../people/erasures.js';
import { beginImport, startImport } from '../../ledger/imports/imports.js';
import { stageRows } from '../../importing/staging.js';
import { pigeonholeNumberOf } from '../../ledger/pigeonholes.js';
import { bytesOf, deskIn, problemsIn, requestOf } from '../imports/desk.js';
import {
  counts,
  finish,
  people,
  progress,
  registered,
  report,
  rowsOf,
  stage as stageImport,
  turn,
} from '../imports/importing.js';
import { dumpLedger } from '../kit/dump-ledger.js';
import { askToForget, forget } from '../kit/forget.js';
import { attendee, question, session, vote } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { archive, everyone, type Stage, useStages } from '../kit/stage.js';
import { until } from '../until.js';

/** Every text about the forgotten person contains MARK, and so do the votes of others on their questions. */
const stages = useStages();
const said = (id: number) => ({ question: { id, content: 'MARK-said', status: 'approved' } });
const secondImport = '0a7c3f52-7f0c-4c1b-9a53-0d7b7f6c2e11';

describe.each(kinds)('data that arrives after a person was forgotten, on %s', (kind) => {
  it('is not stored: a row of the next file, the attendee with the code, and votes of others on the person’s questions', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('attendees', attendee(12));
    const scene = await stage.scene();
    const readAll = async (): Promise<void> => {
      await stage.pollsAreDue();
      await scene.settle();
    };
    await scene.settle();
    await finish(scene, await stageImport(scene, rowsOf({ attendeeCode: 'MARK-code', Name: 'MARK-name' })));
    const erasure = await askToForget(scene, { by: 'code', text: 'MARK-code' });
    await forget(stage, scene, erasure);
    expect((await dumpLedger(stage.db)).includes('MARK')).toBe(false);

    const about = { id: secondImport, file: 'again.csv', mapping: {}, requestedBy: null, canary: null };
    const number = await beginImport(scene.ledger, {
      ...about,
      pigeonholeNumber: await pigeonholeNumberOf(scene.ledger, 'acme', 101),
    });
    const row = (at: number, attendeeCode: string) => ({
      row: at,
      profile: { attendeeCode, Name: `${attendeeCode}-n` },
    });
    await Promise.all([
      stageRows(scene.ledger, number, [row(2, 'MARK-code'), row(3, 'other')]),
      stageRows(scene.ledger, number, [row(4, 'another'), row(5, 'MARK-code')]),
    ]);
    await startImport(scene.ledger, number, 4);
    await finish(scene, secondImport);
    expect(await counts(scene, secondImport)).toEqual({ created: 2, invalid: 2 });
    const refused = (await report(scene, secondImport)).filter(({ outcome }) => outcome === 'invalid');
    expect(refused.map(({ row: at, profile }) => [at, profile])).toEqual([
      [2, {}],
      [5, {}],
    ]);
    expect((await dumpLedger(stage.db)).includes('MARK')).toBe(false);

    // The attendee's id is unknown until their record arrives. The erasure must find their earlier interactions.
    await stage.put('questions', question(21, 11, 1, said(21)));
    await stage.put('votes', vote(21, 12, 1, said(21)));
    await readAll();
    expect(JSON.stringify(archive(scene))).toContain('MARK');
    await stage.put('attendees', attendee(11, { attendeeCode: 'MARK-code', Name: 'MARK-name' }));
    await readAll();
    expect(await openErasures(scene.ledger)).toEqual([erasure]);
    await forget(stage, scene, erasure);
    expect((await dumpLedger(stage.db)).includes('MARK')).toBe(false);
    expect(JSON.stringify(archive(scene))).not.toContain('MARK');

    // A vote repeats a question of theirs that the ledger never stored.
    await stage.put('votes', vote(22, 12, 1, said(22)));
    await readAll();
    expect((await dumpLedger(stage.db)).includes('MARK')).toBe(true);
    await stage.put('questions', question(22, 11, 1, said(22)));
    await readAll();
    expect(await openErasures(scene.ledger)).toEqual([erasure]);
    await forget(stage, scene, erasure);
    await stage.put('attendees', attendee(13));
    await stage.put('votes', vote(22, 13, 1, said(22)));
    await readAll();
    expect(await openErasures(scene.ledger)).toEqual([]);
    expect((await dumpLedger(stage.db)).includes('MARK')).toBe(false);
    expect(JSON.stringify(archive(scene))).not.toContain('MARK');
    expect(archive(scene).filter(({ list }) => list === 'votes')).toHaveLength(5);
  });

  it('is refused by the check of the next file as well, which reports nothing else about the row', async () => {
    const stage = await stages.open(kind);
    const scene = await stage.scene();
    const desk = deskIn(scene);
    await desk.start(requestOf(), bytesOf('attendeeCode,Name', 'A1,Ada'));
    await forget(stage, scene, await askToForget(scene, { by: 'code', text: 'A1' }));
    const lines = ['attendeeCode,Name', 'A1, Ada ', 'A2,Bo'];
    const check = await desk.check(requestOf(), bytesOf(...lines));
    expect(check).toMatchObject({ counts: { send: 1, invalid: 1, conflict: 0 }, noteCounts: [] });
    expect(check.problems.map(({ row, code }) => [row, code])).toEqual([[2, 'forgotten']]);
    const { id, counts: counted } = await desk.start(requestOf(), bytesOf(...lines));
    expect(counted).toMatchObject({ created: 1, invalid: 1 });
    expect(await problemsIn(desk, id)).toMatchObject(check.problems);
  });

  it('leaves the person’s texts in no deleted vote and in no file of a sink that received only votes', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('attendees', attendee(11), attendee(12), attendee(13));
    await stage.put('questions', question(21, 11, 1, said(21)));
    await stage.put('votes', vote(21, 12, 1, said(21)), vote(21, 13, 1, said(21)));
    const scene = await stage.scene({
      sinks: {
        archive: `{ type: file, folder: ./archive, lists: [votes], ${everyone} }`,
        others: `{ type: file, folder: ./others, lists: [questions], ${everyone} }`,
      },
    });
    await scene.settle();
    const [gone] = await stage.db.query<{
      pigeonholeNumber: number;
      stream_id: number;
      key: string;
      next_sequence: number;
    }>(
      `select i.pigeonhole_number as "pigeonholeNumber", i.stream_id, i.key, p.next_sequence from items i
         join pigeonholes p on p.pigeonhole_number = i.pigeonhole_number
       where i.list = 'votes' and i.attendee_id = 13`,
    );
    const { pigeonholeNumber, stream_id: streamId, key, next_sequence: nextSequence } = gone!;
    const scope = { pigeonholeNumber, workspace: 'acme', pigeonholeId: 101, list: 'votes', streamId, nextSequence };
    await stage.db.transaction((tx) => deleteItems(tx, scope, [key], new Date(Date.now() + 1000)));
    await scene.deliver('archive');
    expect(
      archive(scene)
        .map(({ type }) => type)
        .toSorted(),
    ).toEqual(['votes.created', 'votes.created', 'votes.deleted']);

    await forget(stage, scene, await askToForget(scene, { by: 'id', text: '11' }));
    expect((await dumpLedger(stage.db)).includes('MARK')).toBe(false);
    expect(JSON.stringify(archive(scene))).not.toContain('MARK');
    expect(
      archive(scene)
        .map(({ type }) => type)
        .toSorted(),
    ).toEqual(['votes.created', 'votes.created', 'votes.deleted', 'votes.updated']);
  });

  it('is found by a repeated request if it was stored anyway', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(11, { Name: 'MARK-name' }));
    const scene = await stage.scene();
    await scene.settle();
    await forget(stage, scene, await askToForget(scene, { by: 'id', text: '11' }));
    // Stores the data as a version without erasure would.
    await stage.db.query(
      `update items set erased = false, payload = '{"Name":"MARK-name"}', subject = $1
       where list = 'attendees' and key = '11'`,
      [scene.ledger.hash.subject('acme', 11, 'named')],
    );
    await forget(stage, scene, await askToForget(scene, { by: 'id', text: '11' }));
    expect((await dumpLedger(stage.db)).includes('MARK')).toBe(false);
  });

  // The embedded store has one connection: no other statement can be in progress.
  (kind === 'embedded' ? it.skip : it)('is erased after its page, which is being written, is committed', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(11), attendee(12));
    const scene = await stage.scene();
    await scene.settle();
    await stage.db.query(`delete from deliveries`); // no sink received them, so the erasure waits for nothing else
    const id = await askToForget(scene, { by: 'id', text: '11' });
    await stage.db.query(`update items set erased = true where list = 'attendees' and key = '11'`);
    let begun = (): void => undefined;
    let goOn = (): void => undefined;
    const hasBegun = new Promise<void>((resolve) => (begun = resolve));
    const mayEnd = new Promise<void>((resolve) => (goOn = resolve));
    const page = stage.db.transaction(async (tx) => {
      await tx.query(`select 1 from pigeonholes where pigeonhole_id = 101 for no key update`);
      begun();
      await mayEnd;
      await tx.query(`update items set erased = false where list = 'attendees' and key = '11'`);
    });
    await hasBegun;
    const turns = forget(stage, scene, id);
    const isPast = async (): Promise<boolean> => (await isWaitedFor(stage)) || !(await isOpen(scene, id));
    await until('the erasure waits for the page, or has not waited for it', isPast);
    goOn();
    await page;
    await turns;
    const left = await stage.db.query(
      `select 1 from items where list = 'attendees' and key = '11' and payload is not null`,
    );
    expect(left).toEqual([]);
  });

  it('is erased from a row that an import has created, although the import waits for the quota with other rows', async () => {
    const stage = await stages.open(kind);
    const scene = await stage.scene();
    await stage.fault({ kind: 'error', code: 8000, method: 'POST', skip: 1, next: 1, retryAfterSeconds: 60 });
    // Of the three requests in progress, any may be refused: each has a row with a mark.
    const marked = ['MARK-1', 'MARK-2', 'MARK-3'].map((mark) => ({ attendeeCode: mark, Name: `${mark}-name` }));
    const others = people(2997);
    const rows = marked.flatMap((mark, n) => [mark, ...others.slice(n * 999, (n + 1) * 999)]);
    const id = await stageImport(scene, rowsOf(...rows));
    expect(await turn(scene, id)).toMatchObject({ state: 'waiting', reason: 'quota' });
    const createdRow = (row: { outcome: string; profile: unknown }): boolean =>
      row.outcome === 'created' && JSON.stringify(row.profile).includes('MARK');
    const at = (await report(scene, id)).findIndex(createdRow);
    const mark = marked[at / 1000]!.attendeeCode;
    const before = await counts(scene, id);

    await forget(stage, scene, await askToForget(scene, { by: 'code', text: mark }));
    expect((await dumpLedger(stage.db)).includes(mark)).toBe(false);
    expect(await counts(scene, id)).toEqual(before);
    await stage.db.query('update workspaces set wait_until = now()');
    await stage.db.query('update quotas set ask_at = now()');
    await finish(scene, id);
    expect(await counts(scene, id)).toEqual({ created: 3000 });
    expect((await report(scene, id))[at]).toMatchObject({ outcome: 'created', profile: {}, message: null });
    expect(await registered(stage)).toHaveLength(3000);
  });

  it.each([1, 1200])('is not sent by an import of %d rows whose request the quota has refused', async (rows) => {
    const stage = await stages.open(kind);
    const scene = await stage.scene();
    await stage.fault({ kind: 'error', code: 8000, method: 'POST', next: 3, retryAfterSeconds: 60 });
    const others = people(rows - 1);
    const id = await stageImport(scene, rowsOf({ attendeeCode: 'MARK-code', Name: 'MARK-name' }, ...others));
    expect(await turn(scene, id)).toMatchObject({ state: 'waiting', reason: 'quota' });
    await forget(stage, scene, await askToForget(scene, { by: 'code', text: 'MARK-code' }));
    expect((await dumpLedger(stage.db)).includes('MARK')).toBe(false);
    do {
      await stage.db.query('update workspaces set wait_until = now()');
      await stage.db.query('update quotas set ask_at = now()');
    } while ((await turn(scene, id)).state !== 'finished');
    expect(await registered(stage)).toEqual(others);
    expect(await counts(scene, id)).toEqual({ rejected: 1, ...(rows > 1 ? { created: rows - 1 } : {}) });
  });

  it('does not hide that an import waits for another one, although their row is never sent', async () => {
    const stage = await stages.open(kind);
    const scene = await stage.scene();
    await stageImport(scene, rowsOf({ attendeeCode: 'HELD' })); // an import that makes no progress
    const id = await stageImport(scene, rowsOf({ attendeeCode: 'MARK-code' }, { attendeeCode: 'HELD' }));
    await forget(stage, scene, await askToForget(scene, { by: 'code', text: 'MARK-code' }));
    expect(await turn(scene, id)).toMatchObject({ state: 'waiting', reason: 'otherImport' });
    expect(await progress(scene, id)).toMatchObject({ state: 'waiting', waitReason: 'otherImport' });
    expect(await counts(scene, id)).toEqual({ rejected: 1, waiting: 1 });
  });
});

async function isWaitedFor({ db }: Stage): Promise<boolean> {
  const waiting = await db.query(
    `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database() limit 1`,
  );
  return waiting.length > 0;
}

async function isOpen({ ledger }: Scene, id: string): Promise<boolean> {
  return (await openErasures(ledger)).includes(id);
}
