import { tryNow, handleRequest } from '../../operations/act.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Outcome } from '../../sinks/sink.js';
import { attendee } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { everyone, type Stage, useStages } from '../kit/stage.js';
import { StateSink } from '../kit/state-sink.js';

const stages = useStages();
const crm = `{ type: file, folder: ./crm, lists: [sessions, attendees], ${everyone} }`;
const other = crm.replace('./crm', './other');
const later: Outcome = { kind: 'retry', detail: 'not now' };

async function sceneWith(stage: Stage, sink: StateSink): Promise<Scene> {
  return await stage.scene({ sinks: { crm }, openSinks: sink.inPlaceOf('crm') });
}

/** Runs cycles. Ends the waits of lanes and records before each, but not those of the sink's circuit breaker. */
async function turns(stage: Stage, scene: Scene, count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await stage.retriesAreDue();
    await scene.deliver('crm');
  }
}

describe.each(kinds)('a sink at which some pigeonholes always fail, on %s', (kind) => {
  it('receives the changes of all other pigeonholes immediately', async () => {
    const stage = await stages.open(kind, { pigeonholes: 8, sessions: 8 });
    const sink = new StateSink();
    let isDown = true; // otherwise another lane might succeed before the breaker opens, depending on the machine
    const failing = new Set([101, 102]);
    const scene = await sceneWith(stage, sink);
    const send = sink.send.bind(sink);
    sink.send = async (operations, ...rest) => {
      const [lane] = rest as unknown as [{ pigeonholeId: number }];
      if (isDown || failing.has(lane.pigeonholeId)) return { outcomes: operations.map(() => later) };
      return await send(operations);
    };
    await scene.settle();
    isDown = false;
    await turns(stage, scene, 6);
    const passed = `select count(*)::int as n from lanes where delivered > 0`;
    expect(await stage.db.query(passed)).toEqual([{ n: 6 }]);

    for (let change = 0; change < 3; change += 1) {
      const before = sink.sent.length;
      await stage.retriesAreDue();
      await scene.deliver('crm'); // only the failing ones are sent, and fail again
      await stage.control('POST', 'mutations', {
        op: 'patch',
        list: 'sessions',
        pigeonhole: 105,
        id: await sessionOf(stage, 105),
        item: { name: `Other ${change}` },
      });
      await stage.pollsAreDue();
      await scene.settle();
      expect(sink.sent.length).toBe(before + 1);
    }
  });

  it('receives the changes of all other pigeonholes even if one lane always throws an error', async () => {
    const stage = await stages.open(kind, { pigeonholes: 6, sessions: 6 });
    const sink = new StateSink();
    const plan = sink.plan.bind(sink);
    sink.plan = async (subjects) => {
      if (subjects.some(({ change }) => change.pigeonholeId === 101)) throw new TypeError('of Person 1');
      return await plan(subjects);
    };
    const scene = await sceneWith(stage, sink);
    await scene.settle();
    await turns(stage, scene, 2);
    const passed = `select count(*)::int as n from lanes where delivered > 0`;
    expect(await stage.db.query(passed)).toEqual([{ n: 5 }]);
    expect(scene.logText()).toContain('TypeError');
    expect(scene.logText()).not.toContain('Person 1');
  });
});

describe.each(kinds)('a sink whose settings change, on %s', (kind) => {
  it('is not paused by a refusal of its old credentials that arrives later', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(1));
    const [old, sink] = [new StateSink(), new StateSink()];
    let answer: (() => void) | undefined;
    const sending = new Promise<void>((resolve) => {
      old.send = async (operations) => {
        resolve();
        await new Promise<void>((answered) => (answer = answered));
        return { outcomes: operations.map(() => ({ kind: 'pause', cause: 'credential', detail: 'HTTP 401' })) };
      };
    });
    const before = await sceneWith(stage, old);
    await before.discover();
    await before.read({ workspace: 'acme', pigeonholeId: 101 });
    const cycle = before.deliver('crm');
    await sending;
    const scene = await stage.scene({ sinks: { crm: other }, openSinks: sink.inPlaceOf('crm') });
    answer!();
    await cycle;
    await turns(stage, scene, 1);
    expect([...sink.records.keys()]).toEqual(['attendees:1']);
  });

  it('is tried immediately, although the old destination requested a wait of hours', async () => {
    const stage = await stages.open(kind, { pigeonholes: 3, sessions: 3 });
    const sink = new StateSink();
    sink.answer = () => ({ kind: 'retry', afterMs: 6 * 3_600_000, detail: 'HTTP 429' });
    const before = await sceneWith(stage, sink);
    await before.settle();
    sink.answer = () => undefined;
    await before.settle();
    expect(sink.records.size).toBe(0);
    const scene = await stage.scene({ sinks: { crm: other }, openSinks: sink.inPlaceOf('crm') });
    await scene.settle();
    expect(sink.records.size).toBe(9);
  });
});

describe.each(kinds)('repeated use of "try now" for a sink, on %s', (kind) => {
  it('reaches every pigeonhole even if the first one always fails', async () => {
    const stage = await stages.open(kind, { pigeonholes: 3, sessions: 3 });
    const sink = new StateSink();
    let isDown = true;
    const scene = await sceneWith(stage, sink);
    const send = sink.send.bind(sink);
    sink.send = async (operations, ...rest) => {
      const [lane] = rest as unknown as [{ pigeonholeId: number }];
      if (isDown || lane.pigeonholeId === 101) return { outcomes: operations.map(() => later) };
      return await send(operations);
    };
    await scene.settle();
    await turns(stage, scene, 2);
    isDown = false;
    for (let time = 0; time < 3; time += 1) {
      await stage.db.query(`update lanes set retry_at = retry_at + interval '10 minutes' where retry_at is not null`);
      await tryNow(scene.ledger, { kind: 'sink', name: 'crm', key: null });
      await scene.deliver('crm');
    }
    const passed = `select p.pigeonhole_id as id from lanes l
      join pigeonholes p on p.pigeonhole_number = l.pigeonhole_number
      where l.delivered > 0 and p.pigeonhole_id > 0 order by 1`;
    expect(await stage.db.query(passed)).toEqual([{ id: 102 }, { id: 103 }]);
  });
});

async function sessionOf(stage: Stage, pigeonhole: number): Promise<number> {
  const [row] = await stage.db.query<{ key: string }>(
    `select i.key from items i join pigeonholes p on p.pigeonhole_number = i.pigeonhole_number
       where p.pigeonhole_id = $1 and i.list = 'sessions' limit 1`,
    [pigeonhole],
  );
  return Number(row!.key);
}

describe.each(kinds)('a record that always fails, on %s', (kind) => {
  it('does not delay later records at a sink with batches of one, and is parked after all attempts', async () => {
    const stage = await stages.open(kind);
    const sink = new StateSink({ batchSize: 1 });
    sink.answer = ({ name }) => (name === 'attendees:1' ? later : undefined);
    await stage.put('attendees', ...[1, 2, 3, 4].map((id) => attendee(id)));
    const scene = await sceneWith(stage, sink);
    await scene.settle();
    await turns(stage, scene, 10);
    expect([...sink.records.keys()].toSorted()).toEqual(['attendees:2', 'attendees:3', 'attendees:4']);
    await turns(stage, scene, 25);
    expect(await stage.db.query(`select reason from deliveries where key = '1'`)).toEqual([
      { reason: 'attempts-exhausted' },
    ]);
  });

  it('does not delay later records even if more records fail than fit in a batch', async () => {
    const stage = await stages.open(kind);
    const sink = new StateSink();
    sink.answer = ({ name }) => (Number(name.split(':')[1]) <= 25 ? later : undefined);
    await stage.put('attendees', ...Array.from({ length: 40 }, (_, index) => attendee(index + 1)));
    const scene = await sceneWith(stage, sink);
    await scene.settle();
    await turns(stage, scene, 12);
    expect(sink.records.size).toBe(15);
  });

  it('does not keep a sink from restarting after an outage, even if each pigeonhole starts with a failing item', async () => {
    const stage = await stages.open(kind, { pigeonholes: 3, sessions: 5 });
    const sink = new StateSink();
    let isDown = true;
    const first = new Map<number, string>();
    const send = sink.send.bind(sink);
    sink.send = async (operations, ...rest) => {
      const [lane] = rest as unknown as [{ pigeonholeId: number }];
      if (isDown) {
        if (!first.has(lane.pigeonholeId)) first.set(lane.pigeonholeId, operations[0]!.name);
        return { outcomes: operations.map(() => later) };
      }
      sink.answer = ({ name }) => (name === first.get(lane.pigeonholeId) ? later : undefined);
      return await send(operations);
    };
    const scene = await sceneWith(stage, sink);
    await scene.settle();
    await turns(stage, scene, 3);
    isDown = false;
    await turns(stage, scene, 20);
    expect(first.size).toBeGreaterThan(1); // an outage, and not one pigeonhole's own failure
    const left = `select count(*)::int as n from deliveries where state not in ('delivered', 'superseded')`;
    const [{ n }] = (await stage.db.query<{ n: number }>(left)) as [{ n: number }];
    expect(n).toBeLessThanOrEqual(3);
  });

  it('is sent immediately when an operator resumes the sink, even if its Retry-After was long', async () => {
    const stage = await stages.open(kind);
    const sink = new StateSink();
    await stage.put('attendees', attendee(1), attendee(2));
    sink.answer = ({ name }) =>
      name === 'attendees:1'
        ? { kind: 'retry', afterMs: 3_600_000, detail: 'in an hour' }
        : { kind: 'unsent', afterMs: 3_600_000 }; // the sink did not ask again
    const scene = await sceneWith(stage, sink);
    await scene.settle();
    sink.answer = () => undefined;
    await scene.deliver('crm');
    expect(sink.records.size).toBe(0);
    await handleRequest(scene.ledger, { kind: 'sink', name: 'crm' }, { do: 'resume' });
    await scene.deliver('crm');
    expect(sink.records.size).toBe(2);
  });

  it.each([
    [1, 'it is parked even if nothing else is left in its pigeonhole'],
    [12, 'they are kept, because the cause must be outside of the records'],
  ])('is judged by its number after another pigeonhole succeeded (%s records): %s', async (count, _) => {
    const stage = await stages.open(kind, { pigeonholes: 2, sessions: 0 });
    const sink = new StateSink({ batchSize: 1 });
    sink.answer = ({ name }) => (Number(name.split(':')[1]) < 1000 ? later : undefined);
    const put = async (pigeonhole: number, ...items: readonly Record<string, unknown>[]): Promise<void> => {
      const each = items.map((item) => ({
        op: 'insert',
        list: 'attendees',
        pigeonhole,
        id: item['id'],
        item,
        exact: true,
      }));
      await stage.control('POST', 'mutations', each);
    };
    const scene = await sceneWith(stage, sink);
    await put(101, ...Array.from({ length: count }, (__, index) => attendee(index + 1)));
    await scene.settle();
    await put(102, attendee(1001));
    await stage.pollsAreDue();
    await scene.settle();
    await turns(stage, scene, 30);
    const lane = `select l.failure from lanes l join pigeonholes p on p.pigeonhole_number = l.pigeonhole_number
      where p.pigeonhole_id = 101`;
    const dead = await stage.db.query(`select key, reason from deliveries where state = 'dead'`);
    expect([dead, await stage.db.query(lane)]).toEqual(
      count === 1
        ? [[{ key: '1', reason: 'attempts-exhausted' }], [{ failure: null }]]
        : [[], [{ failure: 'not now' }]],
    );
  });

  it.each([
    [2, 1, 'parked after all attempts'],
    [2, 12, 'kept as in an outage, because several records wait'],
    [4, 1, 'kept as in an outage, because the failure is recent'],
  ])(
    'is judged by its age at a sink without other changes (%s of 5 days left, %s records): %s',
    async (daysLeft, count, _) => {
      const stage = await stages.open(kind);
      const sink = new StateSink();
      sink.answer = () => later;
      await stage.put('attendees', ...Array.from({ length: count }, (__, index) => attendee(index + 1)));
      const scene = await sceneWith(stage, sink);
      await scene.settle();
      await stage.db.query(
        `update lanes set failing_since = now() - $1 * interval '1 day' where failing_since is not null`,
        [5 - daysLeft],
      );
      await turns(stage, scene, 25);
      const isParked = daysLeft === 2 && count === 1;
      expect(await stage.db.query(`select distinct state, reason from deliveries`)).toEqual([
        isParked ? { state: 'dead', reason: 'attempts-exhausted' } : { state: 'retry', reason: null },
      ]);
    },
  );

  it('uses no attempts during an outage', async () => {
    const stage = await stages.open(kind);
    const sink = new StateSink({ batchSize: 1 });
    await stage.put('attendees', ...[1, 2, 3].map((id) => attendee(id)));
    sink.answer = () => later;
    const scene = await sceneWith(stage, sink);
    await scene.settle();
    await turns(stage, scene, 12);
    expect(await stage.db.query('select 1 from deliveries where attempts > 0')).toEqual([]);
  });
});
