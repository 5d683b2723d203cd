import { tryNow, handleRequest } from '../../operations/act.js';
import { apiOf } from '../kit/api-of.js';
import { kinds } from '../kit/scenario-kinds.js';
import { failingAccess } from '../../sinks/file/failing-access.test-kit.js';
import { createFileSink } from '../../sinks/file/file.js';
import { attendee, pollVote, session } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { archive, archived, everyone, useStages } from '../kit/stage.js';
import { statusOf } from '../kit/status-of.js';
import { environmentOf } from '../../sinks/sink-environment.test-kit.js';

const stages = useStages();
const people = (count: number, from = 1) => Array.from({ length: count }, (_, index) => attendee(from + index));
const attempts = `select key, revision, state, attempts, reason from deliveries where list = 'attendees' order by sequence`;

describe.each(kinds)('a sink that fails, on %s', (kind) => {
  it('accepts 99 of 100 records, and the refused one is parked', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', ...people(100));
    const scene = await stage.webhookScene();
    await stage.planAnswer({ status: 422, list: 'attendees', key: '50', count: 99 });
    await scene.settle();

    expect(stage.received('attendees')).toHaveLength(99);
    const parked = await stage.db.query(`select key, reason, attempts from deliveries where state = 'dead'`);
    expect(parked).toEqual([{ key: '50', reason: 'http:422', attempts: 1 }]);
    expect(await stage.db.query(`select 1 from deliveries where state not in ('delivered', 'dead')`)).toEqual([]);
  });

  it('uses no attempts during an outage, keeps the backlog, and then drains it in the order of each item', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', ...people(90));
    const scene = await stage.webhookScene();
    await stage.planAnswer({ status: 503, count: 100_000 });
    await scene.settle();
    for (let tries = 0; tries < 4; tries += 1) {
      await stage.patch('attendees', 7, { Name: `Name ${tries}` });
      await stage.pollsAreDue();
      await scene.settle();
      await stage.retriesAreDue();
      await scene.deliver('hooks');
    }
    expect(stage.received()).toEqual([]);
    expect(await stage.db.query('select 1 from deliveries where attempts > 0')).toEqual([]);

    await stage.forgetAnswers();
    await stage.retriesAreDue();
    await scene.settle();
    const changes = stage.received('attendees').map(({ key, revision }) => `${key} ${revision}`);
    expect(changes).toHaveLength(94);
    expect(changes.filter((change) => change.startsWith('7 '))).toEqual(['7 1', '7 2', '7 3', '7 4', '7 5']);
  });

  it('is tried immediately when an operator requests it, despite a Retry-After of 30 minutes', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', ...people(3));
    const forgets: string[] = [];
    const scene = await stage.webhookScene(undefined, {
      openSinks: (made) =>
        new Map(
          [...made].map(([name, open]) => [
            name,
            { ...open, sink: { ...open.sink, tryNow: () => void forgets.push(name) } },
          ]),
        ),
    });
    await stage.planAnswer({ status: 429, retryAfter: '1800', count: 100_000 });
    await scene.settle();
    await stage.forgetAnswers();
    await scene.deliver('hooks');
    expect([stage.received(), forgets]).toEqual([[], []]); // its time has not come

    expect(await tryNow(scene.ledger, { kind: 'sink', name: 'hooks', key: null })).toBeUndefined();
    await scene.settle();
    expect([stage.received('attendees').length, forgets]).toEqual([3, ['hooks']]);
    expect(await stage.db.query('select 1 from lanes where failure is not null or filling_at is not null')).toEqual([]);

    await handleRequest(scene.ledger, { kind: 'sink', name: 'hooks' }, { do: 'pause' });
    expect(await tryNow(scene.ledger, { kind: 'sink', name: 'hooks', key: null })).toMatch(
      /pigeonpost resume sink:hooks/,
    );
  });

  it('is no longer a problem once nothing is left to send to it, even after a restart', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(1));
    const consent = 'consent: { accept: [obtained] }';
    const scene = await stage.webhookScene(consent);
    await stage.planAnswer({ status: 429, retryAfter: '1800', list: 'attendees', count: 100_000 });
    await scene.settle();
    const codes = async (of: Scene): Promise<string[]> => (await statusOf(of)).problems.map(({ code }) => code);
    expect(await codes(scene)).toEqual(['sink-failing']);
    await stage.patch('attendees', 1, { consent: { obtained: false } });
    await stage.pollsAreDue();
    await scene.settle();
    await stage.retriesAreDue();
    await scene.settle();
    expect(await codes(scene)).toEqual([]);
    const restarted = await stage.webhookScene(consent);
    await restarted.settle();
    expect(await codes(restarted)).toEqual([]);
    expect(await apiOf(restarted)('/metrics')).toMatch(/^pigeonpost_sink_failing\{sink="hooks"\} 0$/m);
    expect(stage.received('attendees')).toEqual([]);
  });

  it('is tried by only one pigeonhole during an outage, and drains all of them afterwards', async () => {
    const stage = await stages.open(kind, { pigeonholes: 4, sessions: 8 });
    const scene = await stage.webhookScene();
    await stage.planAnswer({ status: 503, retryAfter: '1800', count: 100_000 });
    await scene.settle();
    const standing = `select failing_since is not null as failing from sinks`;
    const tried = `select count(*)::int as n from lanes where failing_since is not null`;
    expect(await stage.db.query(standing)).toEqual([{ failing: true }]);
    const before = await stage.db.query(tried);
    await scene.deliver('hooks'); // its time has not come
    expect(await stage.db.query(tried)).toEqual(before);
    expect(stage.received()).toEqual([]);

    await stage.forgetAnswers();
    await stage.retriesAreDue();
    await scene.settle();
    expect(await stage.db.query(standing)).toEqual([{ failing: false }]);
    expect(await stage.db.query(`select state from deliveries where state <> 'delivered'`)).toEqual([]);
    expect(new Set(stage.received('sessions').map(({ change }) => change.pigeonholeId)).size).toBe(4);
  });

  it('holds back later revisions of an item whose earlier revision is retried, and no other items', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', ...people(3));
    const scene = await stage.webhookScene();
    await stage.planAnswer({ status: 500, list: 'attendees', key: '2', count: 1000 });
    await scene.settle();
    for (const id of [1, 2, 3]) await stage.patch('attendees', id, { Name: 'Other' });
    await stage.pollsAreDue();
    await scene.settle();

    const received = (): string[] => stage.received('attendees').map(({ key, revision }) => `${key} ${revision}`);
    expect(received().toSorted()).toEqual(['1 1', '1 2', '3 1', '3 2']);
    expect(await stage.db.query(attempts)).toContainEqual({
      key: '2',
      revision: 2,
      state: 'waiting',
      attempts: 0,
      reason: null,
    });

    await stage.forgetAnswers();
    await stage.retriesAreDue();
    await scene.settle();
    expect(received().slice(4)).toEqual(['2 1', '2 2']);
  });

  it('counts attempts only for the failing record, which does not delay later ones', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', ...people(2));
    const scene = await stage.webhookScene();
    await stage.planAnswer({ status: 500, retryAfter: '1800', list: 'attendees', key: '2', count: 1000 });
    await scene.settle();
    await stage.retriesAreDue();
    await scene.settle(); // sent in a batch of its own, it fails again
    expect(await stage.db.query(attempts)).toContainEqual({
      key: '2',
      revision: 1,
      state: 'retry',
      attempts: 2,
      reason: null,
    });

    await stage.put('attendees', attendee(3));
    await stage.pollsAreDue();
    await scene.settle();
    expect(stage.received('attendees').map(({ key }) => key)).toEqual(['1', '3']);
  });

  it('writes each revision to a file once although the disk was full and a line was cut short', async () => {
    const stage = await stages.open(kind);
    const { access, faults } = failingAccess();
    await stage.put('attendees', ...people(40));
    const scene = await stage.scene({
      openSinks: (made) =>
        new Map(
          [...made].map(([name, open]) => {
            const environment = environmentOf(name, { baseFolder: stage.folder });
            return [name, { ...open, sink: createFileSink({ folder: './archive' }, environment, access) }];
          }),
        ),
    });
    faults.push({ call: 'write', code: 'ENOSPC', partialBytes: 30, path: '/attendees/' });
    await scene.settle();
    expect(archived({ folder: stage.folder }, 'attendees')).toEqual([]);
    expect(await stage.db.query(`select failure from lanes where failure is not null`)).toHaveLength(1);
    for (const id of [3, 4]) await stage.patch('attendees', id, { Name: 'Other' });
    await stage.pollsAreDue();
    await scene.settle();

    faults.length = 0;
    await stage.retriesAreDue();
    await scene.settle();
    const lines = archive({ folder: stage.folder }).map(({ list, key, revision }) => `${list} ${key} ${revision}`);
    expect(lines).toHaveLength(new Set(lines).size);
    expect(archived({ folder: stage.folder }, 'attendees')).toHaveLength(42);
    expect(await stage.db.query(`select 1 from deliveries where state <> 'delivered' or attempts <> 1`)).toEqual([]);
  });

  it('is paused by HTTP 410, receives nothing, and continues from there when an operator resumes it', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', ...people(5));
    const scene = await stage.webhookScene();
    await stage.planAnswer({ status: 410, count: 1 });
    await scene.settle();
    const before = stage.received().length;
    expect(await scene.deliver('hooks')).toMatchObject({ state: 'paused', reason: 'gone' });
    await stage.put('attendees', attendee(6));
    await stage.pollsAreDue();
    await scene.settle();
    await stage.retriesAreDue();
    await scene.deliver('hooks');
    expect(stage.received()).toHaveLength(before);

    await handleRequest(scene.ledger, { kind: 'sink', name: 'hooks' }, { do: 'resume' });
    await stage.retriesAreDue();
    await scene.settle();
    expect(
      stage
        .received('attendees')
        .map(({ key }) => Number(key))
        .toSorted((a, b) => a - b),
    ).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('does not delay other sinks', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('attendees', ...people(3));
    await stage.put('poll-mcq-votes', pollVote(51, { id: 1, anonymous: false }, 1));
    await stage.planAnswer({ status: 503, count: 100_000 });
    const scene = await stage.webhookScene(everyone, {
      sinks: { archive: `{ type: file, folder: ./archive, ${everyone} }` },
    });
    await scene.settle();
    expect(stage.received()).toEqual([]);
    expect(archived(scene, 'attendees')).toHaveLength(3);
    expect(archived(scene, 'poll-mcq-votes')).toHaveLength(1);
  });
});
