import { performance } from 'node:perf_hooks';
import type { Ledger } from '../../ledger/ledger.js';
import { isUnanswered, markUnanswered } from '../../ledger/workspaces.js';
import { ServiceGate } from '../../requests/service-gate.js';
import { forecastNeeds } from '../../reading/demand.js';
import { silentAfterMs } from '../../requests/outages.js';
import { HindranceMemory } from '../../operations/lateness.js';
import { ApiError } from '../../pigeonhole/api-error.js';
import type { PigeonholeClient } from '../../pigeonhole/client.js';
import { HandTimers } from '../kit/hand-timers.js';
import { attendee, session } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { pigeonhole, useStages } from '../kit/stage.js';
import { statusOf } from '../kit/status-of.js';
import { watchedClient } from '../kit/watched-client.js';
import { until } from '../until.js';

const stages = useStages();
const place = { workspace: 'acme', pigeonholeId: pigeonhole };

/** Returns the titles of the problems that the page and `status` show. */
async function shown(scene: Scene, hindrances?: HindranceMemory): Promise<string[]> {
  const { problems } = await statusOf(scene, { hindrances });
  return problems.map(({ title }) => title.replace(/since .*UTC/, 'since T'));
}

function noAnswer(): ApiError {
  return new ApiError(
    { method: 'GET', path: '/v2/pigeonholes' },
    { kind: 'transient', problem: 'no answer within 30 s', mayHaveTakenEffect: false },
  );
}

/** Sends one request of no list that is due, like a check whether the service answers again. */
async function ask({ deps }: Scene): Promise<void> {
  await deps.gate.request(deps, { workspace: 'acme', priority: 'live' }, (client) =>
    client.page({ list: 'pigeonholes' }, { count: 1 }),
  );
}

describe.each(kinds)('a service that stops answering, on %s', (kind) => {
  it('is a problem in the status after 5 s and until it answers, when failed reads become due', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('attendees', attendee(1));
    const client = watchedClient(stage.sandbox.baseUrl);
    let held: Promise<void> | undefined;
    let requests = 0;
    const page: PigeonholeClient['page'] = async (list, options) => {
      requests += 1;
      await held;
      return await client.page(list, options);
    };
    const back: string[] = [];
    const timers = new HandTimers();
    const scene = await stage.scene({
      client: { ...client, page },
      gate: { after: timers.after, onDue: (workspace) => void back.push(workspace) },
    });
    await scene.settle();
    let release = (): void => undefined;
    held = new Promise((resolve) => {
      release = resolve;
    });
    await stage.pollsAreDue();
    const before = requests;
    const reading = scene.read(place);
    await until('a list is asked for', () => requests > before);
    timers.pass(silentAfterMs - 1);
    expect(await shown(scene)).toEqual([]);
    timers.pass(1);
    await until('the outage is known', async () => (await shown(scene)).length > 0);
    expect(await shown(scene)).toEqual([
      expect.stringMatching(/^The service has not answered workspace acme since T; \d+ lists wait$/),
    ]);
    await stage.db.query(
      `update streams set failures = 8, due_at = now() + interval '5 minutes' where list = 'sessions'`,
    );
    release();
    held = undefined;
    await reading;
    await until('the workspace is read again', () => back.length > 0);
    expect([await shown(scene), back]).toEqual([[], ['acme']]);
    const late = `select list from streams where failures > 0 and due_at > now()`;
    expect(await stage.db.query(late)).toEqual([]);
  });

  it('is no problem any longer after its first answer, nor are the lists that are read again after it', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('attendees', attendee(1));
    let passedMs = 0;
    const now = (): number => performance.now() + passedMs;
    const scene = await stage.scene({ gate: { now } });
    const hindrances = new HindranceMemory(now);
    await scene.settle();
    await stage.pollsAreDue();
    await scene.discover();
    await scene.read(place);
    expect(await shown(scene, hindrances)).toEqual([]);
    await stage.fault({ kind: 'dropBefore' });
    for (const ms of [3000, 57_000]) {
      await stage.pollsAreDue();
      await scene.discover();
      await scene.read(place);
      await stage.timePasses(ms);
      passedMs += ms;
    }
    expect(await shown(scene, hindrances)).toEqual([expect.stringContaining('The service has not answered')]);
    const failing = 'select list from streams where failures > 0';
    expect((await stage.db.query(failing)).length).toBeGreaterThan(3);

    await stage.control('DELETE', 'faults');
    await ask(scene);
    expect(await shown(scene, hindrances)).toEqual([]);
    const waiting = "select list from streams where due_at > now() and polled_at < now() - interval '1 minute'";
    expect(await stage.db.query(waiting)).toEqual([]);

    await stage.fault({ kind: 'error', code: 5000, list: 'attendees' });
    await scene.read(place);
    await ask(scene);
    await stage.pollsAreDue();
    await scene.read(place);
    expect(await shown(scene, hindrances)).toEqual([expect.stringContaining('cannot read 1 list')]);
  });

  it('leaves no failing list behind if a request that hung fails only after it answers again', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    const client = watchedClient(stage.sandbox.baseUrl);
    let isDown = false;
    let hanging = 0;
    let fail = (): void => undefined;
    const failed = new Promise<void>((resolve) => {
      fail = resolve;
    });
    const page: PigeonholeClient['page'] = async (list, options) => {
      if (!isDown) return await client.page(list, options);
      hanging += 1;
      await failed;
      throw noAnswer();
    };
    const timers = new HandTimers();
    const scene = await stage.scene({ client: { ...client, page }, gate: { after: timers.after } });
    await scene.settle();
    isDown = true;
    await stage.pollsAreDue();
    const reading = scene.read(place);
    await until('a list is asked for', () => hanging > 0);
    timers.pass(silentAfterMs);
    await until('the outage is known', async () => (await shown(scene)).length > 0);
    expect(await shown(scene)).toEqual([expect.stringContaining('The service has not answered')]);

    isDown = false;
    await ask(scene);
    fail();
    await reading;
    expect(await stage.db.query('select list from streams where failures > 0')).toEqual([]);
    expect(await shown(scene)).toEqual([]);
  });

  it('makes failed reads due immediately even if a process ends just when the service answers again', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    const scene = await stage.scene({});
    await scene.settle();
    const { ledger, log } = scene.deps;
    await markUnanswered(ledger, 'acme', { forMs: 60_000, reason: 'no answer' });
    const wait = `update streams set failures = 8, due_at = now() + interval '5 minutes' where list = 'sessions'`;
    await stage.db.query(wait);
    const ends: Ledger['db']['query'] = async (sql, params) => {
      if (sql.startsWith('update streams set due_at')) throw new Error('the process ended');
      return await ledger.db.query(sql, params);
    };
    const db = new Proxy(ledger.db, { get: (all, name) => (name === 'query' ? ends : Reflect.get(all, name)) });
    await new ServiceGate({ ...ledger, db }, log, forecastNeeds).outages.answered('acme').catch(() => undefined);
    await new ServiceGate(ledger, log, forecastNeeds).outages.answered('acme');
    expect(await stage.db.query('select list from streams where failures > 0 and due_at > now()')).toEqual([]);
    expect(await isUnanswered(ledger, 'acme')).toBe(false);
  });

  it('is a problem after three refused connections in a row, but not if all are refused at the same moment', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    let passedMs = 0;
    const scene = await stage.scene({ gate: { now: () => passedMs } });
    await scene.settle();
    await stage.fault({ kind: 'dropBefore' });
    for (const isKnown of [false, false, true]) {
      passedMs += 1500;
      await stage.pollsAreDue();
      await scene.read(place);
      const failed = await stage.db.query('select 1 from streams where failures > 0');
      expect(failed.length).toBeGreaterThan(1);
      const sentence = expect.stringContaining('The service has not answered workspace acme since T');
      expect(await shown(scene)).toEqual(isKnown ? [sentence] : []); // in particular, no list is blamed
    }
    const [row] = await stage.db.query<{ reason: string }>('select unanswered_reason as reason from workspaces');
    expect(row!.reason).toMatch(/^the connection failed with \w+$/);
  });

  it('is asked whether it answers again by one request, although its lists wait for minutes', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    let passedMs = 0;
    const scene = await stage.scene({ gate: { now: () => passedMs } });
    await scene.settle();
    await scene.deps.gate.askBack(scene.deps);
    await stage.requests();
    await stage.fault({ kind: 'dropBefore' });
    for (let n = 0; n < 3; n += 1) {
      passedMs += 1500;
      await stage.pollsAreDue();
      await scene.read(place);
    }
    expect(await shown(scene)).toEqual([expect.stringContaining('The service has not answered')]);
    await scene.deps.gate.askBack(scene.deps);
    expect(await shown(scene)).toHaveLength(1);
    await stage.control('DELETE', 'faults');
    await stage.requests();
    await scene.deps.gate.askBack(scene.deps);
    expect((await stage.requests()).map(({ path }) => path)).toEqual(['/v2/pigeonholes']);
    expect(await shown(scene)).toEqual([]);
  });
});

describe.each(kinds)('a list that fails while the service answers other requests, on %s', (kind) => {
  it('is a problem after its second failure', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('attendees', attendee(1));
    const client = watchedClient(stage.sandbox.baseUrl);
    let isFaulty = false;
    const page: PigeonholeClient['page'] = async (list, options) => {
      if (!isFaulty || list.list !== 'attendees') return await client.page(list, options);
      throw noAnswer();
    };
    const scene = await stage.scene({ client: { ...client, page } });
    await scene.settle();
    isFaulty = true;
    for (let n = 0; n < 2; n += 1) {
      await stage.pollsAreDue();
      await scene.read(place);
      await ask(scene);
    }
    expect(await shown(scene)).toEqual(['pigeonpost cannot read 1 list of pigeonhole acme/101']);
  });
});
