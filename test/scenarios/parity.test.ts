import { sinkParities } from '../../delivering/parity/lane-parity.js';
import { askToForget, forget } from '../kit/forget.js';
import { audit, auditNow, findings, findingTexts, parityCounts, repair, requestAudit, runAudit } from '../kit/audit.js';
import { HeldSink } from '../kit/held-sink.js';
import { attendee, question, session } from '../kit/items.js';
import { seededRandom } from '../kit/random.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { everyone, type Stage, useStages } from '../kit/stage.js';

const stages = useStages();

/** Maximum time of the test with many items. */
const longMs = 120_000;

async function sceneWith(stage: Stage, sink: HeldSink, more = ''): Promise<Scene> {
  return await stage.scene({
    sinks: { crm: `{ type: file, folder: ./crm, lists: [attendees, questions, sessions], ${everyone}${more} }` },
    openSinks: sink.inPlaceOf('crm'),
  });
}

/** Opens a scene whose sink has received people 1 to `people`. */
async function delivered(stage: Stage, sink: HeldSink, people: number): Promise<Scene> {
  await stage.put('attendees', ...Array.from({ length: people }, (_, at) => attendee(at + 1)));
  const scene = await sceneWith(stage, sink);
  await scene.settle();
  return scene;
}

const none = { stale: 0, changed: 0, missing: 0, extra: 0, unreadable: 0, undelivered: 0 };

describe.each(kinds)('an audit, on %s', (kind) => {
  it(
    'finds every planted difference among 10,000 items and invents none, and its repair touches nothing else',
    async () => {
      const people = 10_000;
      const stage = await stages.open(kind);
      const sink = new HeldSink({ batchSize: 500 });
      for (let first = 1; first <= people; first += 1000) {
        await stage.put('attendees', ...Array.from({ length: 1000 }, (_, at) => attendee(first + at)));
      }
      const scene = await sceneWith(stage, sink);
      await scene.settle();
      const behind = sink.records.get('attendees:3')!;
      await stage.patch('attendees', 3, { Name: 'Renamed' });
      await stage.remove('attendees', 4);
      await stage.sweepsAreDue();
      await scene.settle();
      await stage.sweepsAreDue();
      await scene.settle();
      await forget(stage, scene, await askToForget(scene, { by: 'id', text: '5' }));
      await audit(scene, 'crm');
      expect(await findingTexts(scene, 'crm')).toEqual([]);
      expect(await parityCounts(scene, 'crm')).toEqual({ ...none, same: people });

      sink.records.delete('attendees:1'); // deleted by a colleague
      sink.edit('attendees:2', { Name: 'Edited', Email: 'edited@example.com' });
      sink.records.set('attendees:3', behind); // one revision behind
      sink.records.set('attendees:4', { ...behind, name: 'attendees:4' }); // restored after its deletion
      sink.records.set('attendees:5', { ...behind, name: 'attendees:5' }); // restored after its person was erased
      sink.copies.set('attendees:6', ['501', '502']); // duplicated by a colleague
      await audit(scene, 'crm');
      expect(await findingTexts(scene, 'crm')).toEqual([
        'changed attendees:2 Email,Name',
        'extra attendees:4 record',
        'extra attendees:5 record',
        'extra attendees:6 501',
        'extra attendees:6 502',
        'missing attendees:1',
        'stale attendees:3 Name',
      ]);
      expect(await parityCounts(scene, 'crm')).toEqual({
        ...none,
        stale: 1,
        changed: 1,
        missing: 1,
        extra: 4,
        same: people - 5,
      });

      sink.sent.length = 0;
      const { actions, byHand } = await repair(scene, 'crm');
      expect([actions, byHand]).toEqual([{ send: 3, remove: 2, 'remove-copy': 2 }, 0]);
      expect(sink.sent.map(({ name, data }) => `${data === null ? 'removes' : 'sends'} ${name}`).toSorted()).toEqual([
        'removes attendees:4',
        'removes attendees:5',
        'sends attendees:1',
        'sends attendees:2',
        'sends attendees:3',
      ]);
      expect(sink.removed.toSorted()).toEqual(['501', '502']);
      expect(await findingTexts(scene, 'crm')).toEqual([]);
      await audit(scene, 'crm');
      expect(await parityCounts(scene, 'crm')).toEqual({ ...none, same: people });
    },
    longMs,
  );

  it('keeps no value in the ledger, whatever differs', async () => {
    const stage = await stages.open(kind);
    const sink = new HeldSink();
    const scene = await delivered(stage, sink, 3);
    sink.edit('attendees:2', { Name: 'MARK-name' });
    await audit(scene, 'crm');
    expect(await findingTexts(scene, 'crm')).toEqual(['changed attendees:2 Name']);
    const rows = await stage.db.query('select p::text as p, f::text as f from parity_passes p, parity_findings f');
    expect(JSON.stringify(rows)).not.toContain('MARK');
    expect(scene.logText()).not.toContain('MARK');
  });

  it('counts only lanes to which the configuration sends', async () => {
    const stage = await stages.open(kind);
    const sink = new HeldSink();
    const scene = await delivered(stage, sink, 2);
    sink.records.delete('attendees:2');
    await audit(scene, 'crm');
    expect(await sinkParities(scene.ledger, scene.deps.config)).toMatchObject([
      { sink: 'crm', compared: 2, missing: 1 },
    ]);
    expect(await sinkParities(scene.ledger, { syncs: {} })).toEqual([]);
  });

  it('continues where a process that was killed left it', async () => {
    const stage = await stages.open(kind);
    const sink = new HeldSink();
    const scene = await delivered(stage, sink, 95);
    sink.records.delete('attendees:17');
    await requestAudit(scene, 'crm');
    await runAudit(scene, 'crm', 4);
    sink.onRead = () => Promise.reject(new Error('the process ends'));
    await expect(runAudit(scene, 'crm')).rejects.toThrow('the process ends');
    sink.onRead = () => Promise.resolve();
    await stage.retriesAreDue(); // the lease of the ended process is over
    const next = await sceneWith(stage, sink);
    await runAudit(next, 'crm');
    expect(await findingTexts(next, 'crm')).toEqual(['missing attendees:17']);
    expect(await parityCounts(next, 'crm')).toEqual({ ...none, missing: 1, same: 94 });
    expect(sink.read.toSorted()).toEqual([...sink.records.keys(), 'attendees:17'].toSorted()); // each item was read once
  });

  it('does not read a lane that another process is writing, and waits for what is not settled', async () => {
    const stage = await stages.open(kind);
    const sink = new HeldSink();
    const scene = await delivered(stage, sink, 20);
    const other = await sceneWith(stage, sink);
    sink.answer = ({ name }) => (name === 'attendees:9' ? { kind: 'retry', detail: 'later' } : undefined);
    await stage.patch('attendees', 9, { Name: 'Nine' });
    await stage.patch('attendees', 8, { Name: 'Eight' });
    await stage.sweepsAreDue();
    await scene.settle();
    await requestAudit(other, 'crm');
    await stage.db.query(`update lanes set owner = 'another', lease_expires_at = now() + interval '1 hour'`);
    await runAudit(other, 'crm');
    expect(sink.read).toEqual([]);
    await stage.db.query('update lanes set owner = null, lease_expires_at = null');
    await runAudit(other, 'crm');
    expect(await findingTexts(other, 'crm')).toEqual(['undelivered attendees:9']);
    sink.answer = () => undefined;
    await stage.retriesAreDue();
    await audit(other, 'crm');
    expect(await parityCounts(other, 'crm')).toEqual({ ...none, same: 20 });
  });

  it('never reports a difference because of a delivery, however changes and audits interleave', async () => {
    const stage = await stages.open(kind);
    const sink = new HeldSink({ batchSize: 3 });
    const [reader, auditor] = [await delivered(stage, sink, 12), await sceneWith(stage, sink)];
    const random = seededRandom(7);
    for (let round = 0; round < 12; round += 1) {
      const id = 1 + Math.floor(random() * 12);
      await stage.patch('attendees', id, { Name: `Round ${round}` });
      await stage.sweepsAreDue();
      await requestAudit(auditor, 'crm');
      await Promise.all([reader.settle(), runAudit(auditor, 'crm', 1 + Math.floor(random() * 6))]);
      expect((await findings(auditor, 'crm')).filter((each) => each.class !== 'undelivered')).toEqual([]);
    }
    await reader.settle();
    await audit(auditor, 'crm');
    expect(await parityCounts(auditor, 'crm')).toEqual({ ...none, same: 12 });
  });

  it('believes no difference right after a delivery, because destinations show writes late', async () => {
    const stage = await stages.open(kind);
    const sink = new HeldSink();
    const scene = await delivered(stage, sink, 12);
    await audit(scene, 'crm');
    await stage.patch('attendees', 2, { Name: 'Two' });
    await stage.patch('attendees', 3, { Name: 'Three' });
    await stage.sweepsAreDue();
    await scene.settle();
    sink.answerRead = (name) => (name === 'attendees:2' ? { kind: 'missing' } : undefined); // not searchable yet
    sink.records.delete('attendees:4');
    await auditNow(scene, 'crm');
    expect(await findingTexts(scene, 'crm')).toEqual(['missing attendees:4', 'undelivered attendees:2']);
    expect(await parityCounts(scene, 'crm')).toEqual({ ...none, missing: 1, undelivered: 1, same: 10 });
    const { actions, byHand } = await repair(scene, 'crm');
    expect([actions, byHand]).toEqual([{ send: 1, remove: 0, 'remove-copy': 0 }, 0]);
    expect(await findingTexts(scene, 'crm')).toEqual(['undelivered attendees:2']); // the repair is verified at once
    await audit(scene, 'crm');
    expect(await findingTexts(scene, 'crm')).toEqual(['missing attendees:2']);
  });

  it('finds what an erased person left at a destination that only an operator can change', async () => {
    const stage = await stages.open(kind);
    const sink = new HeldSink({ needsContext: true });
    const scene = await delivered(stage, sink, 3);
    const byHand = { kind: 'unplannable', cause: 'crm:forget-by-hand', detail: 'remove the person by hand' } as const;
    sink.planned = ({ removal }) => (removal === null ? undefined : byHand);
    await forget(stage, scene, await askToForget(scene, { by: 'id', text: '2' }));
    await audit(scene, 'crm');
    expect(await findingTexts(scene, 'crm')).toEqual(['extra attendees:2']); // not only a dead letter
    const plan = await repair(scene, 'crm');
    expect([plan.actions, plan.byHand]).toEqual([{ send: 0, remove: 0, 'remove-copy': 0 }, 1]);
    sink.records.delete('attendees:2');
    await audit(scene, 'crm');
    expect(await parityCounts(scene, 'crm')).toEqual({ ...none, same: 3 });
  });

  it.each([
    ['a dead letter', { kind: 'unplannable', cause: 'crm:forget-by-hand', detail: 'remove the person by hand' }],
    ['a reason', { kind: 'nothing', reason: 'forget-by-hand' }],
  ] as const)(
    'finds what a person left who withdrew consent, if the sink leaves it to an operator with %s',
    async (_, plan) => {
      const stage = await stages.open(kind);
      const sink = new HeldSink({ needsContext: true });
      await stage.put('attendees', ...[1, 2, 3, 4].map((id) => attendee(id)));
      const crm =
        '{ type: file, folder: ./crm, lists: [attendees], consent: { accept: [obtained] }, onConsentWithdrawn: forget }';
      const scene = await stage.scene({ sinks: { crm }, openSinks: sink.inPlaceOf('crm') });
      await scene.settle();
      sink.planned = ({ removal, object }) =>
        removal === null ? undefined : object === null ? { kind: 'nothing', reason: 'never-sent' } : plan;
      const withdrawn = { consent: { obtained: false } };
      await stage.put('attendees', attendee(5, withdrawn)); // was never sent
      await stage.patch('attendees', 2, withdrawn);
      await stage.sweepsAreDue();
      await scene.settle();
      await audit(scene, 'crm');
      expect(await findingTexts(scene, 'crm')).toEqual(['extra attendees:2']);
      const { actions, byHand } = await repair(scene, 'crm');
      expect([actions, byHand]).toEqual([{ send: 0, remove: 0, 'remove-copy': 0 }, 1]);
      sink.records.delete('attendees:2');
      await audit(scene, 'crm');
      expect(await parityCounts(scene, 'crm')).toEqual({ ...none, same: 4 });
      await stage.patch('attendees', 2, attendee(2));
      await stage.sweepsAreDue();
      await scene.settle();
      await audit(scene, 'crm');
      expect(await parityCounts(scene, 'crm')).toEqual({ ...none, same: 4 }); // consents again
    },
  );

  it('keeps to the waits that the destination requests', async () => {
    const stage = await stages.open(kind);
    const sink = new HeldSink();
    const scene = await delivered(stage, sink, 25);
    sink.answerRead = (name) =>
      name === 'attendees:20' ? { kind: 'retry', afterMs: 60_000, detail: 'too many requests' } : undefined;
    await audit(scene, 'crm');
    const reads = sink.read.length;
    await runAudit(scene, 'crm');
    expect(sink.read).toHaveLength(reads);
    const [wait] = await stage.db.query<{ ms: number; failure: string }>(
      `select extract(epoch from due_at - now())::float8 * 1000 as ms, failure from parity_passes where failure is not null`,
    );
    expect(wait!.failure).toBe('too many requests');
    expect(wait!.ms).toBeGreaterThan(50_000);
    sink.answerRead = () => undefined;
    await stage.db.query('update parity_passes set due_at = now() where due_at is not null');
    await runAudit(scene, 'crm');
    expect(await parityCounts(scene, 'crm')).toEqual({ ...none, same: 25 });
  });

  it('is not held up by one item that can never be read', async () => {
    const stage = await stages.open(kind);
    const sink = new HeldSink();
    const scene = await delivered(stage, sink, 5);
    sink.answerRead = (name) => (name === 'attendees:2' ? { kind: 'retry', detail: 'broken' } : undefined);
    await requestAudit(scene, 'crm');
    for (let attempt = 0; attempt < 12; attempt += 1) {
      await runAudit(scene, 'crm');
      await stage.db.query('update parity_passes set due_at = now() where due_at is not null');
    }
    expect(await parityCounts(scene, 'crm')).toEqual({ ...none, unreadable: 1, same: 4 });
  });

  it('compares what was delivered last, also if a later change was withheld', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('attendees', attendee(1));
    await stage.put('questions', question(21, 1, 1));
    const sink = new HeldSink();
    const scene = await sceneWith(stage, sink);
    await scene.settle();
    sink.planned = ({ change }) =>
      change.list === 'questions' && change.revision > 1 ? { kind: 'nothing', reason: 'condition' } : undefined;
    await stage.patch('questions', 21, { question: { id: 21, content: 'Other?', status: 'approved' } });
    await stage.sweepsAreDue();
    await scene.settle();
    await audit(scene, 'crm');
    expect(await findingTexts(scene, 'crm')).toEqual([]);
    sink.records.delete('questions:21');
    await audit(scene, 'crm');
    expect(await findingTexts(scene, 'crm')).toEqual(['missing questions:21']);
  });

  it('audits a sink automatically after the interval, and more rarely while nothing is delivered', async () => {
    const stage = await stages.open(kind);
    const sink = new HeldSink();
    const scene = await delivered(stage, sink, 2);
    const day = 24 * 3_600_000;
    const readsAfter = async (ms: number): Promise<number> => {
      sink.read.length = 0;
      await stage.timePasses(ms);
      await runAudit(scene, 'crm');
      return sink.read.length;
    };
    expect(await readsAfter(day / 2)).toBe(0);
    expect(await readsAfter(day)).toBe(2);
    expect(await readsAfter(day)).toBe(0); // nothing was delivered for a day and a half
    expect(await readsAfter(day)).toBe(2);
    expect(await readsAfter(3 * day)).toBe(0);
    expect(await readsAfter(day)).toBe(2);
  });

  it('of a log compares every revision, and sends missing ones as a replay', async () => {
    const stage = await stages.open(kind);
    const sink = new LogSink();
    const scene = await delivered(stage, sink, 3);
    await stage.patch('attendees', 2, { Name: 'Two' });
    await stage.sweepsAreDue();
    await scene.settle();
    await audit(scene, 'crm');
    expect(await parityCounts(scene, 'crm')).toEqual({ ...none, same: 4 });
    sink.records.delete('attendees:2 1');
    await audit(scene, 'crm');
    expect(await findingTexts(scene, 'crm')).toEqual(['missing attendees:2']);
    sink.sent.length = 0;
    await repair(scene, 'crm');
    expect(sink.sent.map(({ name, changeId }) => [name, changeId !== ''])).toEqual([['attendees:2 1', true]]);
    expect(await parityCounts(scene, 'crm')).toEqual({ ...none, same: 4 });
  });

  it('of a log reads findings again after it accepted the destination, and sends only what still differs', async () => {
    const stage = await stages.open(kind);
    const sink = new LogSink();
    const scene = await delivered(stage, sink, 25);
    const whole = new Map(sink.records);
    whole.delete('attendees:7 1');
    sink.records.clear(); // the manifest was lost
    await audit(scene, 'crm');
    expect(await parityCounts(scene, 'crm')).toEqual({ ...none, missing: 25, same: 0 });
    sink.onAccept = () => {
      for (const [name, record] of whole) sink.records.set(name, record);
    };
    sink.sent.length = 0;
    const { actions } = await repair(scene, 'crm');
    expect(actions.send).toBe(25);
    expect(sink.sent.map(({ name }) => name)).toEqual(['attendees:7 1']);
    expect(await parityCounts(scene, 'crm')).toEqual({ ...none, same: 25 });
  });
});

/** A log: one record for each revision. */
class LogSink extends HeldSink {
  onAccept: () => void = () => undefined;

  constructor() {
    super({ revisions: 'every' });
    this.planned = ({ change, object }) => ({
      kind: 'send',
      operation: {
        changeId: change.id,
        name: `${change.list}:${change.key} ${change.revision}`,
        revision: change.revision,
        data: change.data,
        person: null,
        object,
      },
    });
  }

  acceptHeld(): Promise<{ kind: 'delivered' }> {
    this.onAccept();
    return Promise.resolve({ kind: 'delivered' });
  }
}
