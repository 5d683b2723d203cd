import { randomUUID } from 'node:crypto';
import { deliverToSink } from '../../delivering/deliver-to-sink.js';
import { type ReplayRequest, type ReplayResult, startReplay } from '../../operations/start-replay.js';
import { explain } from '../../api/why.js';
import { sinkLines } from '../../cli/status/sink-lines.js';
import type { TextLine } from '../../cli/text-line.js';
import { timeline } from '../../cli/commands/items.js';
import { outcomeCounts } from '../../delivering/read-lanes.js';
import { kinds } from '../kit/scenario-kinds.js';
import { replayedChangeId } from '../../ledger/keyed-hash.js';
import { attendee, question, session, vote } from '../kit/items.js';
import { mortalDatabase, ProcessDied } from '../kit/mortal-database.js';
import type { Scene } from '../kit/scene.js';
import { archive, everyone, pigeonhole, type Stage, useStages } from '../kit/stage.js';
import { starterOf } from '../kit/starter-of.js';
import { StateSink } from '../kit/state-sink.js';
import { statusOf } from '../kit/status-of.js';
import { recount } from '../../ledger/kept-counts.js';
import { deleteItem } from '../kit/tombstone.js';

const stages = useStages();
const never = new AbortController().signal;
const place = { workspace: 'acme', pigeonholeId: pigeonhole };

type Line = ReturnType<typeof archive>[number] & { readonly replay?: string };

async function replay(scene: Scene, wanted: Partial<ReplayRequest> = {}): Promise<ReplayResult> {
  const all = { id: randomUUID(), sink: null, lists: null, pigeonhole: null, from: null, dryRun: false };
  return await startReplay({ deps: scene.deps, starter: starterOf(scene.deps) }, { ...all, ...wanted });
}

function idOf(result: ReplayResult): string {
  if ('unknown' in result) throw new Error(result.unknown);
  return result.id;
}

function replayed(scene: Scene, id: string): Line[] {
  return (archive(scene) as Line[]).filter((line) => line.replay === id);
}

async function filled(stage: Stage, people = 20): Promise<void> {
  await stage.put('sessions', session(1, { anonymousResponses: false }));
  await stage.put('attendees', ...Array.from({ length: people }, (_, index) => attendee(index + 1)));
  await stage.put('questions', question(11, 1, 1), question(12, 2, 1));
  await stage.put('votes', vote(11, 3, 1), vote(12, 4, 1));
}

function textOf(line: TextLine): string {
  return line.map(({ text }) => text).join('');
}

const both = { sinks: { archive: `{ type: file, folder: ./archive, ${everyone} }` } };

describe.each(kinds)('a replay, on %s', (kind) => {
  it('sends the latest revision of each item again, marked and with a new id, and moves no watermark', async () => {
    const stage = await stages.open(kind);
    await filled(stage);
    const scene = await stage.webhookScene(everyone, both);
    await scene.settle();
    await stage.patch('attendees', 1, { Name: 'Renamed' });
    await stage.sweepsAreDue();
    await scene.settle();
    const before = archive(scene) as Line[];
    const watermarks = await stage.db.query('select sink_id, pigeonhole_number, watermark from lanes order by 1, 2');
    const receipts = stage.received().length;

    const id = idOf(await replay(scene));
    await scene.settle();
    const lines = replayed(scene, id);
    const latest = new Map(before.map((line) => [`${line.pigeonholeId} ${line.list} ${line.key}`, line]));
    expect(lines.map((line) => `${line.pigeonholeId} ${line.list} ${line.key}`).toSorted()).toEqual(
      [...latest.keys()].toSorted(),
    );
    for (const line of lines) {
      const original = latest.get(`${line.pigeonholeId} ${line.list} ${line.key}`)!;
      expect(line).toEqual({ ...original, id: replayedChangeId(id, original.id), replay: id });
    }
    expect(archive(scene)).toHaveLength(before.length + lines.length);
    expect(stage.received().length - receipts).toBe(lines.length);
    expect(await stage.db.query('select sink_id, pigeonhole_number, watermark from lanes order by 1, 2')).toEqual(
      watermarks,
    );
  });

  it('covers the requested sinks and period', async () => {
    const stage = await stages.open(kind);
    await filled(stage);
    const scene = await stage.webhookScene(everyone, both);
    await scene.settle();
    await stage.db.query(`update changes set found_at = found_at - interval '1 day' where key <> '11'`);
    const receipts = stage.received().length;

    const old = idOf(await replay(scene, { sink: 'archive', lists: ['questions', 'votes'], pigeonhole: 'acme/101' }));
    await scene.settle();
    expect(
      replayed(scene, old)
        .map(({ list }) => list)
        .toSorted(),
    ).toEqual(['questions', 'questions', 'votes', 'votes']);
    expect(stage.received()).toHaveLength(receipts);

    const from = new Date(Date.now() - 3_600_000).toISOString();
    const late = idOf(await replay(scene, { sink: 'archive', lists: ['questions'], from }));
    await scene.settle();
    expect(replayed(scene, late).map(({ key }) => key)).toEqual(['11']);
  });

  it('only counts if requested, and reports unknown names', async () => {
    const stage = await stages.open(kind);
    await filled(stage, 3);
    await stage.put('attendees', attendee(9, { consent: { obtained: false } }));
    const scene = await stage.scene({ sinks: { archive: '{ type: file, folder: ./archive }' } });
    await scene.settle();
    const lines = archive(scene).length;
    const result = await replay(scene, { dryRun: true, lists: ['attendees', 'questions'] });
    expect(result).toMatchObject({
      dryRun: true,
      counts: [
        { sink: 'archive', list: 'attendees', items: 3, withheld: { 'consent-refused': 1 } },
        { sink: 'archive', list: 'questions', items: 2, withheld: {} },
      ],
    });
    await scene.settle();
    expect(archive(scene)).toHaveLength(lines);
    expect(await replay(scene, { sink: 'nobody' })).toEqual({ unknown: 'no sink nobody is known' });
    expect(await replay(scene, { pigeonhole: 'acme/777' })).toEqual({
      unknown: 'no pigeonhole acme/777 is read for any sink',
    });
  });

  it('is counted as delivered, and replaces withheld and dead deliveries of the same items', async () => {
    const stage = await stages.open(kind);
    await filled(stage, 5);
    const crm = new StateSink();
    crm.planned = ({ change }) =>
      change.list !== 'attendees'
        ? undefined
        : change.key === '1'
          ? { kind: 'unplannable', cause: 'mapping: x', detail: 'it failed' }
          : { kind: 'nothing', reason: 'no-match' };
    const scene = await stage.scene({
      sinks: { crm: `{ type: file, folder: ./crm, ${everyone} }` },
      openSinks: crm.inPlaceOf('crm'),
    });
    await scene.settle();
    const sinkNow = async () => (await statusOf(scene)).sinks[0]!;
    const first = await sinkNow();
    expect(first).toMatchObject({ withheld: { 'no-match': 4 }, dead: { 'mapping: x': 1 } });
    crm.planned = ({ change }) => (change.key === '5' ? { kind: 'nothing', reason: 'no-match' } : undefined);
    const id = idOf(await replay(scene, { lists: ['attendees'] }));
    await scene.settle();
    expect(await sinkNow()).toMatchObject({ delivered: first.delivered + 4, withheld: { 'no-match': 1 }, dead: {} });
    expect(
      (await outcomeCounts(scene.ledger, { sink: 'crm', workspace: null, behind: [] })).map(({ state, changes }) => [
        state,
        changes,
      ]),
    ).toEqual([['withheld', 1]]);
    const counted = (await statusOf(scene, { withCounts: true })).counts!.deliveries.filter(
      ({ list }) => list === 'attendees',
    );
    expect(counted.map(({ state, changes }) => [state, changes])).toEqual([
      ['delivered', 4],
      ['withheld', 1],
    ]);
    const [why] = await explain(scene.ledger, { list: 'attendees', key: '2', pigeonhole: null });
    expect(timeline(why!).filter((line) => line.includes('delivered'))).toEqual([
      expect.stringMatching(/crm: not delivered at first, but later by a replay; configuration 1$/),
      expect.stringMatching(new RegExp(`crm: delivered by a replay;.* replay ${id}$`)),
    ]);
    // A later revision replaces a withheld one, so an item is counted once.
    crm.planned = ({ change }) => (change.list === 'attendees' ? { kind: 'nothing', reason: 'no-match' } : undefined);
    await stage.patch('attendees', 5, { Name: 'Renamed' });
    await stage.sweepsAreDue();
    await scene.settle();
    expect((await sinkNow()).withheld).toEqual({ 'no-match': 1 });
    expect(await recount(scene.ledger)).toEqual([]);
  });

  it('runs once if it is requested twice with the same id', async () => {
    const stage = await stages.open(kind);
    await filled(stage, 3);
    const scene = await stage.scene();
    await scene.settle();
    const id = randomUUID();
    await replay(scene, { id, lists: ['attendees'] });
    await replay(scene, { id, lists: ['attendees'] });
    await scene.settle();
    expect(replayed(scene, id)).toHaveLength(3);
  });

  it('omits deleted items, and sends an item that changes in the meantime only once', async () => {
    const stage = await stages.open(kind);
    await filled(stage, 5);
    const scene = await stage.scene();
    await scene.settle();
    await deleteItem(scene.ledger, { ...place, list: 'attendees', key: '5' });
    const id = idOf(await replay(scene, { lists: ['attendees'] }));
    await stage.patch('attendees', 2, { Name: 'Renamed' });
    await stage.sweepsAreDue();
    await scene.read(place);
    await scene.settle();
    expect(replayed(scene, id).map(({ key }) => key)).toEqual(['1', '3', '4']);
    const second = (archive(scene) as Line[]).filter(({ list, key }) => list === 'attendees' && key === '2');
    expect(second.map(({ revision, replay: mark }) => [revision, mark])).toEqual([
      [1, undefined],
      [2, undefined],
    ]);
  });

  it('applies the current consent, and sends no person who has refused since', async () => {
    const stage = await stages.open(kind);
    await filled(stage, 4);
    const scene = await stage.webhookScene('consent: { accept: [obtained] }');
    await scene.settle();
    await stage.patch('attendees', 3, { consent: { obtained: false } });
    await stage.sweepsAreDue();
    await scene.settle();
    const before = stage.received().length;
    const id = idOf(await replay(scene, { lists: ['attendees', 'votes'] }));
    await scene.settle();
    const bodies = stage
      .received()
      .slice(before)
      .map(({ change }) => change as unknown as Line);
    expect(bodies.every((line) => line.replay === id)).toBe(true);
    expect(
      bodies
        .filter(({ list }) => list === 'attendees')
        .map(({ key }) => key)
        .toSorted(),
    ).toEqual(['1', '2', '4']);
    const votes = bodies.filter(({ list }) => list === 'votes');
    expect(new Set(votes.map(({ data }) => data!['attendeeId']))).toEqual(new Set([4, undefined]));
    // A delivery that a replay withheld is never released. The change itself is.
    expect(await stage.db.query(`select 1 from deliveries where state = 'withheld' and replay > 0`)).toHaveLength(1);
  });

  it('waits for an earlier undelivered change of the item', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('attendees', attendee(1), attendee(2));
    const scene = await stage.webhookScene();
    await scene.settle();
    await stage.planAnswer({ list: 'attendees', key: '1', status: 500, count: 1000 });
    await stage.patch('attendees', 1, { Name: 'Second' });
    await stage.patch('attendees', 2, { Name: 'Second' });
    await stage.sweepsAreDue();
    await scene.read(place);
    const id = idOf(await replay(scene, { lists: ['attendees'] }));
    await scene.settle();
    const open = await stage.db.query<{ replay: number; state: string }>(
      `select replay, state from deliveries where list = 'attendees' and key = '1' and state in ('waiting', 'retry')
       order by replay`,
    );
    expect(open).toEqual([
      { replay: 0, state: 'retry' },
      { replay: 1, state: 'waiting' },
    ]);
    await stage.forgetAnswers();
    await stage.retriesAreDue();
    await scene.settle();
    const first = stage
      .received('attendees')
      .filter(({ key }) => key === '1') // the log contains only accepted changes
      .map(({ change }) => change as unknown as Line);
    expect(first.map(({ revision, replay: mark }) => [revision, mark])).toEqual([
      [1, undefined],
      [2, undefined],
      [2, id],
    ]);
  });

  it('sends each item once to the file and the same bytes to the webhook if it is killed at any instant', async () => {
    const stage = await stages.open(kind);
    await filled(stage, 6);
    const scene = await stage.webhookScene(everyone, both);
    await scene.settle();
    const receipts = stage.received().length;
    const id = idOf(await replay(scene));
    for (let moments = 1; moments < (kind === 'embedded' ? 60 : 120); moments += 1) {
      for (const sink of ['archive', 'hooks']) {
        const db = mortalDatabase(scene.ledger.db, ({ n }) => n >= moments);
        const deps = { ...scene.deps, ledger: { ...scene.ledger, db } };
        await deliverToSink(deps, sink, never).catch((error: unknown) => {
          if (!(error instanceof ProcessDied)) throw error;
        });
      }
      await stage.db.query('update lanes set lease_expires_at = now() where owner is not null');
    }
    await stage.retriesAreDue();
    await scene.settle();
    const lines = replayed(scene, id).map(({ pigeonholeId, list, key }) => `${pigeonholeId} ${list} ${key}`);
    const items = new Set((archive(scene) as Line[]).map((line) => `${line.pigeonholeId} ${line.list} ${line.key}`));
    expect(lines.toSorted()).toEqual([...items].toSorted());
    const bytes = new Map<string, string>();
    for (const { id: changeId, sha256 } of stage.received().slice(receipts)) {
      expect(bytes.get(changeId) ?? sha256).toBe(sha256);
      bytes.set(changeId, sha256);
    }
    expect(bytes.size).toBe(items.size);
    expect(await stage.db.query('select sum(total)::int as total, sum(sent)::int as sent from replay_lanes')).toEqual([
      { total: 2 * items.size, sent: 2 * items.size },
    ]);
  });

  it('shows how many of its items were sent, out of the number that its request counted', async () => {
    const stage = await stages.open(kind);
    await filled(stage, 6);
    await stage.patch('attendees', 3, { consent: { obtained: false } });
    const scene = await stage.webhookScene('consent: { accept: [obtained] }');
    await scene.settle();
    const sinkNow = async () => (await statusOf(scene)).sinks[0]!;
    const before = await sinkNow();
    await stage.planAnswer({ list: 'attendees', key: '1', status: 500, count: 1000 });
    const result = await replay(scene, { lists: ['attendees', 'questions'] });
    if ('unknown' in result) throw new Error(result.unknown);
    const total = result.counts.reduce((sum, { items }) => sum + items, 0);
    expect([total, result.counts[0]]).toEqual([7, expect.objectContaining({ withheld: { 'consent-refused': 1 } })]);
    expect((await sinkNow()).replays).toMatchObject([{ total, sent: 0, taken: 0, open: 0 }]);
    await scene.settle();
    const during = await sinkNow();
    expect(during.replays).toMatchObject([{ total, sent: 6, taken: total, open: 1 }]);
    expect(during.delivered - before.delivered).toBe(6);
    expect(sinkLines([during], { now: new Date(), columns: 120, says: 'state' }).map(textOf)).toContainEqual(
      expect.stringMatching(/^ {2}replay .*: 6 of 7 sent again, 1 in progress$/),
    );
    await stage.forgetAnswers();
    await stage.retriesAreDue();
    await scene.settle();
    expect(await sinkNow()).toMatchObject({ replays: [], delivered: before.delivered + total });
  });

  it('shows its progress, and reports the work as unsettled until it is done', async () => {
    const stage = await stages.open(kind);
    await filled(stage, 4);
    const scene = await stage.scene();
    await scene.settle();
    expect((await statusOf(scene)).settled).toBe(true);
    const id = idOf(await replay(scene, { by: 'ana', reason: 'new mapping' }));
    const status = await statusOf(scene);
    expect(status.settled).toBe(false);
    expect(status.sinks[0]!.replays).toMatchObject([{ id, requestedBy: 'ana', reason: 'new mapping', taken: 0 }]);
    const counted = (await statusOf(scene, { withCounts: true })).counts!.deliveries;
    await scene.settle();
    const over = await statusOf(scene, { withCounts: true });
    expect([over.settled, over.sinks[0]!.replays]).toEqual([true, []]);
    expect(over.counts!.deliveries).toEqual(counted); // an item is counted once, even if it is sent several times
  });
});
