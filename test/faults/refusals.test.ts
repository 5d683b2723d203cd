import { deliverToSink } from '../../delivering/deliver-to-sink.js';
import type { Outcome } from '../../sinks/sink.js';
import { attendee } from '../kit/items.js';
import { mortalDatabase, ProcessDied } from '../kit/mortal-database.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { everyone, type Stage, useStages } from '../kit/stage.js';
import { StateSink } from '../kit/state-sink.js';
import { statusOf } from '../kit/status-of.js';

const stages = useStages();
const crm = `{ type: file, folder: ./crm, lists: [sessions, attendees], ${everyone} }`;
const no: Outcome = { kind: 'rejected', cause: 'crm: INVALID', detail: 'the record was refused' };
const never = new AbortController().signal;

const people = (count: number, from = 1) => Array.from({ length: count }, (_, index) => attendee(from + index));
const ids = (stage: Stage): number[] => stage.received('attendees').map(({ key }) => Number(key));

async function sceneWith(stage: Stage, sink: StateSink): Promise<Scene> {
  return await stage.scene({ sinks: { crm }, openSinks: sink.inPlaceOf('crm') });
}

/** Reads new items and delivers due changes, but no waiting ones. */
async function next(stage: Stage, scene: Scene): Promise<void> {
  await stage.pollsAreDue();
  await scene.settle();
}

/** Runs cycles and ends all waits before each. */
async function turns(stage: Stage, scene: Scene, count: number, sink = 'crm'): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await stage.retriesAreDue();
    await scene.deliver(sink);
  }
}

async function parked({ db }: Stage): Promise<unknown[]> {
  return await db.query(`select key, reason from deliveries where state = 'dead' order by key`);
}

async function problems(scene: Scene): Promise<{ code: string; detail: string | null }[]> {
  const status = await statusOf(scene);
  return status.problems.map(({ code, detail }) => ({ code, detail })).filter(({ code }) => code !== 'sink-behind');
}

describe.each(kinds)('a receiver that refuses everything, on %s', (kind) => {
  it.each([400, 404, 422])(
    'loses nothing, is reported as a problem, and receives everything after its deployment (HTTP %d)',
    async (status) => {
      const stage = await stages.open(kind);
      await stage.put('attendees', ...people(40));
      const scene = await stage.webhookScene();
      await scene.settle();
      await stage.planAnswer({ status, count: 100_000 });
      await stage.put('attendees', ...people(40, 41));
      await next(stage, scene);
      await turns(stage, scene, 4, 'hooks');
      expect(await parked(stage)).toEqual([]);
      const tried = `select 1 from deliveries where list = 'attendees' and key::int > 40 and attempts > 0`;
      expect(await stage.db.query(tried)).toEqual([]);
      expect(await problems(scene)).toEqual([
        { code: 'sink-failing', detail: expect.stringContaining(`(HTTP ${status})`) },
      ]);

      await stage.forgetAnswers();
      await stage.retriesAreDue();
      await scene.settle();
      expect(ids(stage).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 80 }, (_, index) => index + 1));
      expect(await problems(scene)).toEqual([]);
    },
  );

  it('loses nothing either if changes arrive one at a time', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(1));
    const scene = await stage.webhookScene();
    await scene.settle();
    await stage.planAnswer({ status: 422, count: 100_000 });
    for (let id = 2; id <= 15; id += 1) {
      await stage.put('attendees', attendee(id));
      await next(stage, scene);
    }
    await turns(stage, scene, 20, 'hooks');
    expect(await parked(stage)).toEqual([]);
    expect(await problems(scene)).toMatchObject([{ code: 'sink-failing' }]);

    await stage.forgetAnswers();
    await stage.retriesAreDue();
    await scene.settle();
    expect(ids(stage)).toHaveLength(15);
  });

  it('is tried by one pigeonhole on behalf of all, and then drained by all', async () => {
    const stage = await stages.open(kind, { pigeonholes: 4, sessions: 8 });
    const scene = await stage.webhookScene();
    await stage.planAnswer({ status: 400, count: 100_000 });
    await scene.settle();
    const tried = `select count(*)::int as n from lanes where failing_since is not null`;
    expect(await stage.db.query('select failing_since is not null as failing from sinks')).toEqual([{ failing: true }]);
    await stage.db.query(`update sinks set retry_at = retry_at + interval '1 hour'`); // longer than the test
    const before = await stage.db.query(tried);
    await scene.deliver('hooks'); // it is not due yet
    expect(await stage.db.query(tried)).toEqual(before);
    expect(await parked(stage)).toEqual([]);

    await stage.forgetAnswers();
    await stage.retriesAreDue();
    await scene.settle();
    expect(await stage.db.query(`select state from deliveries where state <> 'delivered'`)).toEqual([]);
  });

  it('loses nothing even if the process is killed at any instant', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', ...people(30));
    const scene = await stage.webhookScene();
    await scene.discover();
    await scene.read({ workspace: 'acme', pigeonholeId: 101 });
    await stage.planAnswer({ status: 422, count: 100_000 });
    let isKilled = true;
    for (let moments = 1; isKilled; moments += 3) {
      isKilled = false;
      const db = mortalDatabase(scene.ledger.db, ({ n }) => (isKilled ||= n >= moments));
      const deps = { ...scene.deps, ledger: { ...scene.ledger, db } };
      await deliverToSink(deps, 'hooks', never).catch((error: unknown) => {
        if (!(error instanceof ProcessDied)) throw error;
      });
      expect(await parked(stage)).toEqual([]);
      await stage.retriesAreDue();
    }
    await stage.forgetAnswers();
    await scene.settle();
    expect(new Set(ids(stage)).size).toBe(30);
    expect(await stage.db.query(`select state from deliveries where state <> 'delivered'`)).toEqual([]);
  });
});

describe.each(kinds)('a record that is refused, on %s', (kind) => {
  it('becomes a dead letter after another one was delivered, and delays nothing until then', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(1));
    const scene = await stage.webhookScene();
    await scene.settle();
    await stage.planAnswer({ status: 422, list: 'attendees', key: '2', count: 100_000 });
    await stage.put('attendees', attendee(2));
    await next(stage, scene);
    expect(await parked(stage)).toEqual([]);
    expect(await problems(scene)).toEqual([]); // one record does not prove that the sink is broken
    await stage.put('attendees', attendee(3));
    await next(stage, scene);
    expect(ids(stage)).toEqual([1, 3]);
    await turns(stage, scene, 1, 'hooks');
    expect(await parked(stage)).toEqual([{ key: '2', reason: 'http:422' }]);
  });

  it('is a problem if it is the first one that a sink receives, and a dead letter after another one was delivered', async () => {
    const stage = await stages.open(kind);
    const sink = new StateSink();
    sink.answer = ({ name }) => (name === 'attendees:1' ? no : undefined);
    await stage.put('attendees', attendee(1));
    const scene = await sceneWith(stage, sink);
    await scene.settle();
    await turns(stage, scene, 20);
    expect(await parked(stage)).toEqual([]);
    expect(await problems(scene)).toEqual([
      { code: 'sink-failing', detail: 'the record was refused; every change is refused' },
    ]);

    await stage.put('attendees', attendee(2), attendee(3));
    await stage.pollsAreDue();
    await scene.discover();
    await scene.read({ workspace: 'acme', pigeonholeId: 101 });
    await turns(stage, scene, 2);
    expect([...sink.records.keys()].toSorted()).toEqual(['attendees:2', 'attendees:3']);
    expect(await parked(stage)).toEqual([{ key: '1', reason: 'crm: INVALID' }]);
    expect(await problems(scene)).toMatchObject([{ code: 'dead-letters' }]);
  });

  it('is parked if no other change was due for an hour', async () => {
    const stage = await stages.open(kind);
    const sink = new StateSink();
    await stage.put('attendees', attendee(1));
    const scene = await sceneWith(stage, sink);
    await scene.settle();
    sink.answer = () => no;
    await stage.put('attendees', attendee(2));
    await stage.pollsAreDue();
    await scene.read({ workspace: 'acme', pigeonholeId: 101 });
    await turns(stage, scene, 15);
    expect(await parked(stage)).toEqual([]);
    await turns(stage, scene, 1);
    expect(await parked(stage)).toEqual([{ key: '2', reason: 'crm: INVALID' }]);
    expect(await problems(scene)).toMatchObject([{ code: 'dead-letters' }]);
  });

  it('is sent with its correction in the next revision', async () => {
    const stage = await stages.open(kind);
    const sink = new StateSink();
    await stage.put('attendees', attendee(1));
    const scene = await sceneWith(stage, sink);
    await scene.settle();
    sink.answer = ({ name, revision }) => (name === 'attendees:2' && revision === 1 ? no : undefined);
    await stage.put('attendees', attendee(2));
    await next(stage, scene);
    await stage.patch('attendees', 2, { Name: 'Corrected' });
    await next(stage, scene);
    await turns(stage, scene, 2);
    expect(sink.records.get('attendees:2')).toMatchObject({ revision: 2 });
    expect(await stage.db.query(`select state from deliveries where key = '2' order by revision`)).toEqual([
      { state: 'superseded' },
      { state: 'delivered' },
    ]);
  });

  it('does not delay later records at a sink with batches of one, even if many are refused', async () => {
    const stage = await stages.open(kind);
    const sink = new StateSink({ batchSize: 1 });
    sink.answer = ({ name }) => (Number(name.split(':')[1]) <= 12 ? no : undefined);
    await stage.put('attendees', ...people(16));
    const scene = await sceneWith(stage, sink);
    await scene.settle();
    await turns(stage, scene, 30);
    expect(sink.records.size).toBe(4);
    expect(await parked(stage)).toHaveLength(12);
    expect(await problems(scene)).toMatchObject([{ code: 'dead-letters' }]);
  });

  it('is parked with a problem of its pigeonhole if all records there are refused while others are delivered', async () => {
    const stage = await stages.open(kind, { pigeonholes: 2, sessions: 0 });
    const sink = new StateSink();
    sink.answer = ({ name }) => (Number(name.split(':')[1]) < 1000 ? no : undefined);
    const put = async (pigeonhole: number, ...items: readonly Record<string, unknown>[]): Promise<void> => {
      const each = { op: 'insert', list: 'attendees', pigeonhole, exact: true };
      await stage.control(
        'POST',
        'mutations',
        items.map((item) => ({ ...each, id: item['id'], item })),
      );
    };
    const scene = await sceneWith(stage, sink);
    await put(101, ...people(3));
    await scene.settle();
    expect(await parked(stage)).toEqual([]);
    await put(102, attendee(1001));
    await next(stage, scene);
    await turns(stage, scene, 3);
    expect(await parked(stage)).toHaveLength(3);
    expect(sink.records.size).toBe(1);
  });

  it('becomes a dead letter immediately if the sink knows that the record itself is the cause', async () => {
    const stage = await stages.open(kind);
    const sink = new StateSink();
    sink.answer = () => ({ ...no, about: 'record' });
    await stage.put('attendees', ...people(15));
    const scene = await sceneWith(stage, sink);
    await scene.settle();
    expect(await parked(stage)).toHaveLength(15);
    expect(await problems(scene)).toMatchObject([{ code: 'dead-letters' }]);
  });
});
