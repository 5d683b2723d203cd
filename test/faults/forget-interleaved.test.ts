import { deliverToSink } from '../../delivering/deliver-to-sink.js';
import { forgetAttendee } from '../../delivering/forget-attendee.js';
import type { Collaborators } from '../../cycles/collaborators.js';
import { openLedger } from '../../ledger/ledger.js';
import { testKey } from '../../ledger/ledger-key.test-kit.js';
import { readErasure, receiptsOf } from '../../people/erasures.js';
import { askToForget, forget } from '../kit/forget.js';
import { type HeldDatabase, heldDatabase, type Moment, untilOverOrWaiting } from '../kit/held-database.js';
import { attendee, question, session, vote } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { everyone, pigeonhole, type Stage, useStages } from '../kit/stage.js';
import { until } from '../until.js';

const stages = useStages();
const never = new AbortController().signal;
const said = { question: { id: 21, content: 'MARK-said', status: 'approved' } };
/** The statement with which a delivery records the batch that it will send. */
const beginning = 'insert into intents (sink_id, pigeonhole_number';
const theirs = ['attendees 11', 'questions 21'];

/** Attendee 11 is forgotten; 12 has voted for the question that 11 asked. */
async function fill(stage: Stage): Promise<void> {
  await stage.put('sessions', session(1, { anonymousResponses: false }));
  await stage.put('attendees', attendee(11, { Name: 'MARK-name' }), attendee(12));
  await stage.put('questions', question(21, 11, 1, said));
  await stage.put('votes', vote(21, 12, 1, said));
}

/** Opens another process on the same store whose statements can be held. */
async function holding(
  stage: Stage,
  scene: Scene,
  isMoment: Moment,
): Promise<{ deps: Collaborators; held: HeldDatabase }> {
  const held = heldDatabase(stage.db, isMoment);
  return { deps: { ...scene.deps, ledger: await openLedger(held.db, testKey) }, held };
}

/** Selects the statements of the pigeonhole's lane. The sink's lane of the workspace is delivered at the same time. */
async function ofLane(stage: Stage): Promise<Moment> {
  const rows = await stage.db.query<{ pigeonholeNumber: number }>(
    `select pigeonhole_number as "pigeonholeNumber" from pigeonholes where pigeonhole_id = ${pigeonhole}`,
  );
  return (_, params) => params[1] === rows[0]!.pigeonholeNumber;
}

/** Waits until a delivery of the pigeonhole's lane has read its batch. */
async function beginsBatch(stage: Stage): Promise<Moment> {
  const isOfLane = await ofLane(stage);
  return (sql, params) => sql.startsWith(beginning) && isOfLane(sql, params);
}

/** Waits until a delivery of the pigeonhole's lane has sent its batch. */
async function hasSentBatch(stage: Stage): Promise<Moment> {
  const isOfLane = await ofLane(stage);
  return (sql, params) => stage.received('attendees').length > 0 && isOfLane(sql, params);
}

/** The last change received for each item, as `<list> <key>` and the kind of change. */
function lastOf(stage: Stage): Map<string, string> {
  return new Map(stage.received().map(({ change }) => [`${change.list} ${change.key}`, change.type]));
}

/** Every sink that received the person must receive their deletion, and a receipt must record it. */
async function expectTakenBack(stage: Stage, scene: Scene, erasure: string): Promise<void> {
  const told = stage.received().some((receipt) => JSON.stringify(receipt).includes('MARK'));
  const last = lastOf(stage);
  for (const item of theirs.filter((each) => last.has(each)))
    expect([item, last.get(item)]).toEqual([item, expect.stringMatching(/deleted$/)]);
  const votes = stage.received('votes');
  expect(JSON.stringify(votes.at(-1) ?? null)).not.toContain('MARK');
  const { number, endedAt } = (await readErasure(scene.ledger, erasure))!;
  expect(endedAt).not.toBeNull();
  // No answer of the receiver may be left in the changes that it received before.
  const kept = await stage.db.query(
    `select d.list, d.key, d.state, d.detail from items i
       join deliveries d on d.pigeonhole_number = i.pigeonhole_number and d.list = i.list
       and d.key = i.key and d.sequence < i.last_sequence
     where i.erased and (d.detail is not null or d.state in ('waiting', 'retry', 'dead', 'withheld'))`,
  );
  expect(kept).toEqual([]);
  const places = (await receiptsOf(scene.ledger, number)).map(({ place }) => place);
  expect(places.filter((place) => place.startsWith('sink:'))).toEqual(told ? [`sink:hooks acme/${pigeonhole}`] : []);
}

const onServer = kinds.filter((kind) => kind === 'postgres'); // the embedded store has one connection, so statements cannot interleave

(onServer.length > 0 ? describe : describe.skip)('an erasure beside a delivery, on two connections', () => {
  it.each<[string, (stage: Stage) => Promise<Moment>]>([
    ['has read a batch', beginsBatch],
    ['has sent a batch and not committed the outcome', hasSentBatch],
  ])('reaches the sink if the delivery %s', async (_, momentOf) => {
    const stage = await stages.open('postgres');
    await fill(stage);
    const scene = await stage.webhookScene();
    await stage.planAnswer({ status: 422, list: 'questions', key: '21', store: true });
    await scene.discover();
    await scene.read({ workspace: 'acme', pigeonholeId: pigeonhole });
    const { deps, held } = await holding(stage, scene, await momentOf(stage));
    const delivering = deliverToSink(deps, 'hooks', never);
    await until('the delivery is held', () => held.isHeld());
    const erasure = await askToForget(scene, { by: 'id', text: '11' });
    const erasing = forgetAttendee(scene.deps, erasure, never);
    await untilOverOrWaiting(stage.db, 'the erasure is done, or waits', erasing);
    held.letGo();
    await Promise.all([delivering, erasing]);

    await forget(stage, scene, erasure);
    await scene.settle();
    expect(stage.received().length).toBeGreaterThan(0);
    await expectTakenBack(stage, scene, erasure);
  });

  it('reaches the sink if the delivery has read a vote that repeats the erased question', async () => {
    const stage = await stages.open('postgres');
    await fill(stage);
    const scene = await stage.webhookScene();
    await scene.discover();
    await scene.read({ workspace: 'acme', pigeonholeId: pigeonhole });
    const erasure = await askToForget(scene, { by: 'id', text: '11' });
    // The items are erased, but the votes that repeat their texts are not yet.
    const eraser = await holding(stage, scene, (sql) =>
      sql.startsWith('select distinct i.pigeonhole_number as "pigeonholeNumber" from forgotten'),
    );
    const erasing = forgetAttendee(eraser.deps, erasure, never);
    await until('the erasure is held', () => eraser.held.isHeld());
    const sender = await holding(stage, scene, await beginsBatch(stage));
    const delivering = deliverToSink(sender.deps, 'hooks', never);
    await until('the delivery is held', () => sender.held.isHeld());
    eraser.held.letGo();
    await untilOverOrWaiting(stage.db, 'the erasure is done, or waits', erasing);
    sender.held.letGo();
    await Promise.all([delivering, erasing]);

    await forget(stage, scene, erasure);
    await scene.settle();
    expect(JSON.stringify(stage.received('votes')[0])).toContain('MARK');
    await expectTakenBack(stage, scene, erasure);
  });

  it('reaches a sink whose lane starts a batch before the erasure is committed', async () => {
    const stage = await stages.open('postgres');
    await fill(stage);
    const alone = await stage.scene({ sinks: { archive: `{ type: file, folder: ./archive }` } });
    await alone.discover();
    await alone.read({ workspace: 'acme', pigeonholeId: pigeonhole });
    const scene = await stage.webhookScene(everyone);
    const erasure = await askToForget(scene, { by: 'id', text: '11' });
    const { deps, held } = await holding(stage, scene, (sql) => sql.startsWith('insert into changes'));
    const erasing = forgetAttendee(deps, erasure, never);
    await until('the erasure is held', () => held.isHeld());
    const delivering = scene.deliver('hooks');
    await untilOverOrWaiting(stage.db, 'the delivery is done, or waits', delivering);
    held.letGo();
    await Promise.all([delivering, erasing]);

    await forget(stage, scene, erasure);
    await scene.settle();
    await expectTakenBack(stage, scene, erasure);
  });
});
