import { performance } from 'node:perf_hooks';
import { kinds } from '../kit/scenario-kinds.js';
import { act } from '../../operations/act.js';
import { viewQuotas } from '../../operations/status-view.js';
import type { Priority } from '../../requests/quota.js';
import { requestPermission, waitWorkspace } from '../../ledger/workspaces.js';
import { attendee, rating, session } from '../kit/items.js';
import { makeRequests } from '../kit/make-requests.js';
import type { Scene } from '../kit/scene.js';
import { type Stage, useStages } from '../kit/stage.js';
import { starterOf } from '../kit/starter-of.js';
import { statusOf } from '../kit/status-of.js';
import { type WatchedClient, watchedClient } from '../kit/watched-client.js';

const stages = useStages();
const sessions = 8;
const sinks = { archive: '{ type: file, folder: ./archive, lists: [answer_ratings] }' };

/** Opens a service whose ratings need `demand` requests, one a page, in streams that are read concurrently. */
async function busyStage(kind: (typeof kinds)[number], demand: number, pigeonholes = [101]): Promise<Stage> {
  const stage = await stages.open(kind, { pigeonholes: pigeonholes.length });
  await stage.control('PATCH', 'knobs', { maxPerPage: 1 });
  for (const pigeonhole of pigeonholes) {
    const items = [
      ...Array.from({ length: sessions }, (_, n) => ({ list: 'sessions', id: n + 1, item: session(n + 1) })),
      ...Array.from({ length: demand }, (_, n) => ({
        list: 'answer_ratings',
        id: n + 1,
        item: rating(n + 1, 70, 1, (n % sessions) + 1),
      })),
    ];
    const days = { startDate: '2020-01-01', endDate: '2099-01-01' };
    await stage.control('POST', 'mutations', {
      op: 'patch',
      list: 'pigeonholes',
      id: pigeonhole,
      item: { status: 'live', ...days },
    });
    await stage.control(
      'POST',
      'mutations',
      items.map((item) => ({ op: 'insert', pigeonhole, exact: true, ...item })),
    );
  }
  return stage;
}

async function watchedScene(stage: Stage): Promise<{ scene: Scene; client: WatchedClient }> {
  const client = watchedClient(stage.sandbox.baseUrl);
  return { client, scene: await stage.scene({ client, sinks }) };
}

/** Runs cycles until the workspace waits or nothing is due; throws the error of a cycle, like a failed attempt. */
async function readOn(scene: Scene, pigeonholeId = 101): Promise<'waiting' | 'read'> {
  if ((await scene.discover()).state === 'waiting') return 'waiting';
  for (;;) {
    const turn = await scene.read({ workspace: 'acme', pigeonholeId });
    if (turn.state === 'waiting') return 'waiting';
    if (turn.nextDueInMs > 1000) return 'read';
  }
}

/** Starts the next window in the service and by the ledger's clock. */
async function nextWindow(stage: Stage): Promise<void> {
  await stage.control('DELETE', 'quota');
  await stage.db.query(
    `update quotas set reset_at = case when reset_at is not null then now() end,
       ask_at = case when ask_at is not null then now() end`,
  );
  await stage.db.query('update workspaces set wait_until = now() where wait_until is not null');
}

/** Does what `pigeonpost try-now workspace:acme` does. */
async function tryWorkspaceNow({ deps }: Scene): Promise<void> {
  expect(await act({ deps, starter: starterOf(deps) }, { do: 'try-now', kind: 'workspace', name: 'acme' })).toBe(
    'done',
  );
}

async function ratingsRead(stage: Stage): Promise<number> {
  const [row] = await stage.db.query<{ n: number }>(
    `select count(*)::int as n from items where list = 'answer_ratings'`,
  );
  return row!.n;
}

interface ListInterval {
  readonly list: string;
  readonly reason: string;
  readonly everyMs: number;
  readonly dueInS: number;
}

const failed = (stage: Stage) => stage.db.query(`select list, failure from streams where failures > 0`);

const spent = async (stage: Stage): Promise<{ codes: Record<string, number>; total: number }> => {
  const { requests } = (await stage.control('GET', 'state')) as {
    requests: { total: number; byPathAndCode: Record<string, number> };
  };
  const codes: Record<string, number> = {};
  for (const [name, n] of Object.entries(requests.byPathAndCode)) {
    const code = name.split(' ').at(-1)!;
    codes[code] = (codes[code] ?? 0) + n;
  }
  await stage.control('DELETE', 'requests');
  return { codes, total: requests.total };
};

describe('a quota of 200 requests a window, reported in headers, with a demand of 600', () => {
  it('is never exceeded, leaves imports their reserve, and suffices to read everything over several windows', async () => {
    const stage = await busyStage(kinds.at(-1)!, 600);
    await stage.control('PATCH', 'knobs', { quota: { limit: 200, windowSeconds: 3600, headers: true } });
    const { scene, client } = await watchedScene(stage);

    expect(await readOn(scene)).toBe('waiting');
    expect(await spent(stage)).toEqual({ total: 180, codes: { 200: 180 } });
    expect(await makeRequests(scene, 22)).toEqual([...Array<string>(20).fill('made'), 'used-up', 'used-up']);
    expect(await spent(stage)).toEqual({ total: 20, codes: { 200: 20 } });
    expect(await readOn(scene)).toBe('waiting');
    expect(await spent(stage)).toEqual({ total: 0, codes: {} });

    let windows = 1;
    for (; windows < 6; windows += 1) {
      await nextWindow(stage);
      const end = await readOn(scene);
      const { codes, total } = await spent(stage);
      expect(codes).toEqual({ 200: total });
      if (end === 'read') break;
      expect(total).toBe(180);
    }
    expect(windows).toBeLessThan(5);
    expect(await ratingsRead(stage)).toBe(600);
    expect(await failed(stage)).toEqual([]);
    expect(client.refusedAt).toEqual([]);
  });
});

describe.each(kinds)('a quota that the service no longer reports, on %s', (kind) => {
  it('causes no further wait, because nobody counts that window any longer', async () => {
    const stage = await busyStage(kind, 60);
    await stage.control('PATCH', 'knobs', { quota: { limit: 40, windowSeconds: 3600, headers: true } });
    const { scene } = await watchedScene(stage);
    expect(await readOn(scene)).toBe('waiting');
    await stage.control('PATCH', 'knobs', { quota: null });
    await nextWindow(stage);
    expect(await readOn(scene)).toBe('read');
    expect(await ratingsRead(stage)).toBe(60);
  });
});

describe.each(kinds)('a quota without a reset header, on %s', (kind) => {
  it('is asked by single requests at growing intervals, and reading continues when one of them succeeds', async () => {
    const stage = await busyStage(kind, 60);
    const limits = { limit: 40, windowSeconds: 3600, headers: 'no-reset' };
    await stage.control('PATCH', 'knobs', { quota: limits });
    const scene = await stage.scene({ sinks, quota: '{ reserve: 0% }' });
    expect(await readOn(scene)).toBe('waiting');
    expect(await waitMs(stage)).toBeLessThanOrEqual(60_000); // not 24 hours
    expect((await spent(stage)).total).toBe(40);
    const waits: number[] = [];
    for (let asks = 0; asks < 4; asks += 1) {
      await waitIsOver(stage);
      expect(await readOn(scene)).toBe('waiting');
      waits.push(await waitMs(stage));
      expect((await spent(stage)).total).toBe(1);
    }
    for (const [n, wait] of waits.slice(1).entries()) expect(wait).toBeGreaterThan(waits[n]!);
    expect(Math.max(...waits)).toBeLessThanOrEqual(15 * 60_000);

    for (let windows = 0; windows < 6 && (await ratingsRead(stage)) < 60; windows += 1) {
      await stage.control('DELETE', 'quota');
      await waitIsOver(stage);
      await readOn(scene);
    }
    expect(await ratingsRead(stage)).toBe(60);
  });

  it.each<Priority>(['live', 'idle'])(
    'is also asked by %s polls if the rest is reserved for imports',
    async (polls) => {
      const stage = await stages.open(kind);
      await stage.control('PATCH', 'knobs', { quota: { limit: 40, windowSeconds: 3600, headers: 'no-reset' } });
      const scene = await stage.scene({ sinks, quota: '{ reserve: 50% }' });
      expect((await makeRequests(scene, 22, polls)).slice(-3)).toEqual([
        'made',
        'kept-for-imports',
        'kept-for-imports',
      ]);
      expect(await waitMs(stage)).toBeLessThanOrEqual(60_000);
      await waitIsOver(stage);
      expect(await makeRequests(scene, 2, polls)).toEqual(['made', 'kept-for-imports']);
      expect(await waitMs(stage)).toBeGreaterThan(60_000); // the second wait lasts two minutes
      expect(await makeRequests(scene, 1)).toEqual(['made']); // an import
      expect(await makeRequests(scene, 1, polls)).toEqual(['kept-for-imports']);
      await stage.control('DELETE', 'quota'); // the next window, which no header announces
      await waitIsOver(stage);
      expect(await makeRequests(scene, 3, polls)).toEqual(['made', 'made', 'made']);
    },
  );
});

/** Returns the time until one request asks whether there is room again. */
async function waitMs(stage: Stage): Promise<number> {
  const [row] = await stage.db.query<{ ms: number }>(
    `select (extract(epoch from ask_at - now()) * 1000)::float8 as ms from quotas where ask_at is not null`,
  );
  return row!.ms;
}

/** Lets time pass until the wait ends, but not until the window ends. */
async function waitIsOver(stage: Stage): Promise<void> {
  await stage.db.query('update quotas set ask_at = now() where ask_at is not null');
  await stage.db.query('update workspaces set wait_until = now() where wait_until is not null');
}

describe.each(kinds)('a quota without headers, on %s', (kind) => {
  it('is used until it is refused; then nothing is sent until one request asks, and all of it is read', async () => {
    const stage = await busyStage(kind, 350);
    await stage.control('PATCH', 'knobs', { quota: { limit: 100, windowSeconds: 3600, headers: false } });
    const { scene } = await watchedScene(stage);

    for (let windows = 1; ; windows += 1) {
      const end = await readOn(scene);
      const { codes } = await spent(stage);
      expect(codes['8000'] ?? 0).toBeLessThanOrEqual(8); // at most the requests in progress
      if (end === 'read') break;
      expect([windows, codes['200']]).toEqual([windows, 100]);
      expect(await readOn(scene)).toBe('waiting');
      expect((await spent(stage)).total).toBe(0);
      await waitIsOver(stage); // but the window is not over
      expect(await readOn(scene)).toBe('waiting');
      expect(await spent(stage)).toEqual({ total: 1, codes: { 8000: 1 } });
      await nextWindow(stage);
    }
    expect(await ratingsRead(stage)).toBe(350);
    expect(await failed(stage)).toEqual([]);
  });
});

describe.each(kinds)('a key that two processes use, on %s', (kind) => {
  it.each([
    ['with headers', true],
    ['without headers', false],
  ])('has a single quota (%s)', async (_, headers) => {
    const stage = await busyStage(kind, 150, [101, 102]);
    await stage.control('PATCH', 'knobs', { quota: { limit: 100, windowSeconds: 3600, headers } });
    const one = await watchedScene(stage);
    const other = await watchedScene(stage);
    await one.scene.discover();

    await Promise.all([readOn(one.scene, 101), readOn(other.scene, 102)]);
    const { codes } = await spent(stage);
    if (headers) expect(codes).toEqual({ 200: 90 });
    else {
      expect(codes['200']).toBe(100);
      expect(codes['8000']).toBeLessThanOrEqual(8); // once for each stream
    }
    // The other process has learned it from the ledger.
    expect(await Promise.all([readOn(one.scene, 101), readOn(other.scene, 102)])).toEqual(['waiting', 'waiting']);
    expect((await spent(stage)).total).toBe(0);
    for (let window = 0; window < 12; window += 1) {
      await nextWindow(stage);
      const ends = await Promise.all([readOn(one.scene, 101), readOn(other.scene, 102)]);
      if (ends.every((end) => end === 'read')) break;
    }
    expect(await ratingsRead(stage)).toBe(300);
    expect(await failed(stage)).toEqual([]);
  });
});

describe.each(kinds)('a quota that grows, on %s', (kind) => {
  it('no longer delays a stream as soon as a response to that stream reports it', async () => {
    const stage = await stages.open(kind);
    await stage.patch('pigeonholes', 101, { startDate: '2020-01-01', endDate: '2099-01-01' });
    await stage.control('PATCH', 'knobs', { quota: { limit: 100, windowSeconds: 3600, headers: true } });
    await stage.put('attendees', attendee(1));
    const attendees = { archive: '{ type: file, folder: ./archive, lists: [attendees] }' };
    await (await stage.scene({ sinks: attendees })).settle();
    const scene = await stage.scene({ sinks: attendees }); // its forecast knows the streams
    // Not the time until the next read, because reads start at ticks: that time depends on the clock.
    const intervalInS = async (): Promise<number> => {
      const [row] = await stage.db.query<{ s: number }>(
        `select every_ms::float8 / 1000 as s from streams where list = 'attendees'`,
      );
      return row!.s;
    };
    await stage.pollsAreDue();
    await scene.read({ workspace: 'acme', pigeonholeId: 101 });
    expect(await intervalInS()).toBeGreaterThan(30); // 720 polls do not fit into the quota

    await stage.control('PATCH', 'knobs', { quota: { limit: 1_000_000, windowSeconds: 3600, headers: true } });
    await stage.pollsAreDue();
    await scene.read({ workspace: 'acme', pigeonholeId: 101 });
    expect(await intervalInS()).toBe(5);
  });

  /**
   * Opens a live event that was read with a quota of 100 requests, which do not suffice for the configured intervals.
   */
  const stretchedScene = async () => {
    const stage = await stages.open(kind);
    await stage.patch('pigeonholes', 101, { startDate: '2020-01-01', endDate: '2099-01-01' });
    await stage.control('PATCH', 'knobs', { quota: { limit: 100, windowSeconds: 3600, headers: true } });
    await stage.put('attendees', attendee(1));
    await stage.put('sessions', session(1));
    await (await stage.scene()).settle();
    const due: string[] = [];
    const scene = await stage.scene({ gate: { onDue: (workspace) => void due.push(workspace) } });
    await stage.pollsAreDue();
    await scene.read({ workspace: 'acme', pigeonholeId: 101 });
    const lists = async () =>
      await stage.db.query<ListInterval>(
        `select s.list, s.every_reason as reason, s.every_ms::int as "everyMs",
           (extract(epoch from s.due_at - now()))::float8 as "dueInS"
         from streams s join pigeonholes p on p.pigeonhole_number = s.pigeonhole_number where s.wanted
           and p.pigeonhole_id = 101`,
      );
    const grows = async (): Promise<void> => {
      await stage.control('PATCH', 'knobs', { quota: { limit: 1_000_000, windowSeconds: 3600, headers: true } });
    };
    return { stage, scene, due, lists, grows };
  };
  /** Returns the live lists that are not read at their configured interval of 5 s. */
  const delayed = (lists: readonly ListInterval[]): ListInterval[] =>
    lists.filter(({ reason, dueInS }) => reason === 'live' && dueInS > 6.25); // reads start at ticks
  /** Returns the live lists whose interval is longer than the configured 5 s. */
  const slowed = (lists: readonly ListInterval[]): ListInterval[] =>
    lists.filter(({ reason, everyMs }) => reason === 'live' && everyMs > 5000);

  it('no longer delays any list as soon as a response to one list reports it', async () => {
    const { stage, scene, due, lists, grows } = await stretchedScene();
    const before = await lists();
    const live = before.filter(({ reason }) => reason === 'live');
    expect(live.length).toBeGreaterThan(3);
    expect(delayed(before)).toEqual(live);

    await grows();
    await stage.db.query(`update streams set due_at = now() where list = 'attendees'`);
    await scene.read({ workspace: 'acme', pigeonholeId: 101 });
    expect(delayed(await lists())).toEqual([]);
    expect(due).toEqual(['acme']); // the workflows of all its pigeonholes are woken
    await stage.timePasses(5000);
    await scene.read({ workspace: 'acme', pigeonholeId: 101 });
    expect(slowed(await lists())).toEqual([]);
  });

  it('lengthens the intervals within seconds of the first start, although its first forecast knows no streams', async () => {
    const stage = await stages.open(kind);
    await stage.patch('pigeonholes', 101, { startDate: '2020-01-01', endDate: '2099-01-01' });
    await stage.control('PATCH', 'knobs', { quota: { limit: 100, windowSeconds: 3600, headers: true } });
    await stage.put('attendees', attendee(1));
    const scene = await stage.scene();
    const offsetMs = performance.now() - Date.now();
    const seconds = { passed: 0 };
    const shiftedNow = (): number => Date.now() + offsetMs + seconds.passed * 1000;
    const clock = jest.spyOn(performance, 'now').mockImplementation(shiftedNow);
    try {
      await scene.discover();
      await scene.read({ workspace: 'acme', pigeonholeId: 101 });
      seconds.passed = 2;
      await stage.pollsAreDue();
      await scene.read({ workspace: 'acme', pigeonholeId: 101 });
    } finally {
      clock.mockRestore();
    }
    const live = await stage.db.query<{ everyMs: number }>(
      `select every_ms::int as "everyMs" from streams where every_reason = 'live' and wanted`,
    );
    expect(live.length).toBeGreaterThan(0);
    expect(live.filter(({ everyMs }) => everyMs <= 5000)).toEqual([]);
  });

  it('makes no list late: a list that has to wait for its share is read at a longer interval', async () => {
    const { stage, scene } = await stretchedScene();
    await stage.db.query('update quotas set remaining = 40, used = 60, used_idle = 20');
    await stage.db.query(
      `update streams set polled_at = now() - interval '70 s', due_at = now() where list = 'pigeonholes'`,
    );
    const waiting = await stage.scene();
    await waiting.discover();
    await stage.db.query(
      `update streams set polled_at = now(), due_at = now() + interval '1 h' where list <> 'pigeonholes'`,
    );
    await stage.timePasses(55_000); // without its share, the list is due after a minute
    await stage.db.query(`update streams set polled_at = now() where list <> 'pigeonholes'`);
    const [list] = await stage.db.query<{ s: number }>(
      `select every_ms::float8 / 1000 as s from streams where list = 'pigeonholes'`,
    );
    expect(list!.s).toBeGreaterThanOrEqual(130);
    const quotas = () => viewQuotas(waiting.deps.config, scene.ledger, Date.now());
    const { problems } = await statusOf(waiting, { quotas });
    expect(problems.map(({ code }) => code)).toEqual(['quota-short']);
    expect(problems[0]!.text).toContain('pigeonpost lengthens the intervals of live lists');
  });

  it('stays as it is known if a try of the operator shows that it has not grown', async () => {
    const { scene, due, lists } = await stretchedScene();
    const before = delayed(await lists());
    await tryWorkspaceNow(scene);
    await scene.discover();
    expect(delayed(await lists()).map(({ list }) => list)).toEqual(before.map(({ list }) => list));
    expect(due).toEqual([]);
  });

  it.each([
    ['while requests are left', `update quotas set remaining = 40, used = 60, used_idle = 20`],
    ['when only the reserve for imports is left', `update quotas set remaining = 10, used = 90`],
    ['when it is used up', `update quotas set remaining = 0, used = 100`],
  ])('ends all waits after a try of the operator %s', async (_, left) => {
    const { stage, scene, due, lists, grows } = await stretchedScene();
    await stage.db.query(left);
    const waiting = await stage.scene({ gate: { onDue: (workspace) => void due.push(workspace) } });
    await stage.db.query(
      `update streams set polled_at = polled_at - interval '70 s', due_at = now() where list = 'pigeonholes'`,
    );
    await waiting.discover();
    await stage.pollsAreDue();
    await waiting.read({ workspace: 'acme', pigeonholeId: 101 });
    // The only permit of `try-now` goes to whichever list of the workspace is due.
    await stage.db.query(
      `update streams set due_at = now() + interval '8 minutes' where every_reason = 'live' or list = 'subscriptions'`,
    );
    await stage.requests();

    await grows();
    await tryWorkspaceNow(waiting);
    await waiting.discover();
    expect((await stage.requests()).map(({ path }) => path)).toContain('/v2/pigeonholes');
    expect(delayed(await lists())).toEqual([]);
    expect(due).toContain('acme');
    await stage.timePasses(5000);
    expect((await waiting.read({ workspace: 'acme', pigeonholeId: 101 })).state).toBe('working');
    const quotas = () => viewQuotas(waiting.deps.config, scene.ledger, Date.now());
    const { problems } = await statusOf(waiting, { quotas });
    expect(problems.map(({ title }) => title)).toEqual([]);
    expect(slowed(await lists())).toEqual([]);
  });

  it('ends the waits of all workspaces with its key as soon as a response reports it', async () => {
    const { stage, due, grows } = await stretchedScene();
    await stage.db.query('update quotas set remaining = 10, used = 90');
    const scene = await stage.scene({ gate: { onDue: (workspace) => void due.push(workspace) } });
    const { config, clients } = scene.deps;
    const acme = config.workspaces['acme']!;
    const shared = {
      ...scene.deps,
      config: { ...config, workspaces: { acme, other: acme } },
      clients: new Map([...clients, ['other', clients.get('acme')!]]),
    };
    await waitWorkspace(scene.ledger, 'other', { reason: 'quota', waitMs: 3_600_000, count: 1 });
    await stage.pollsAreDue();
    await scene.read({ workspace: 'acme', pigeonholeId: 101 });
    expect((await scene.read({ workspace: 'acme', pigeonholeId: 101 })).state).toBe('waiting');

    await grows();
    expect(await makeRequests({ ...scene, deps: shared }, 1)).toEqual(['made']);
    expect(due.toSorted()).toEqual(['acme', 'other']);
    expect((await scene.read({ workspace: 'acme', pigeonholeId: 101 })).state).toBe('working');
    expect((await requestPermission(scene.ledger, 'other')).kind).toBe('ask');
  });
});

describe.each(kinds)('a quota that is nearly used up, on %s', (kind) => {
  it('is used up by concurrent requests, none of which the service refuses', async () => {
    const stage = await busyStage(kind, 400);
    await stage.control('PATCH', 'knobs', { latencyMs: 5, quota: { limit: 60, windowSeconds: 3600, headers: true } });
    const scene = await stage.scene({ sinks, quota: '{ reserve: 0% }' });
    expect(await readOn(scene)).toBe('waiting');
    expect(await spent(stage)).toEqual({ total: 60, codes: { 200: 60 } });
  });

  it('serves live polls before idle ones, and those before sweeps, except for a minimum share', async () => {
    const stage = await busyStage(kind, 16);
    await stage.control('PATCH', 'knobs', { quota: { limit: 1000, windowSeconds: 36_000, headers: true } });
    const scene = await stage.scene({ sinks });
    await scene.settle();
    await stage.db.query(`update quotas set remaining = 600, used = 400, used_idle = 49, used_sweeps = 49`);
    const fresh = await stage.scene({ sinks }); // reads the new counts; live polls will need thousands of requests
    expect(await makeRequests(fresh, 2, 'sweep')).toEqual(['made', 'kept-for-others']);
    expect(await makeRequests(fresh, 2, 'idle')).toEqual(['made', 'kept-for-others']);
    expect(await makeRequests(fresh, 2, 'live')).toEqual(['made', 'made']);
    const stretch = await fresh.deps.gate.stretchOf(fresh.deps, 'acme');
    expect(stretch.live).toBeGreaterThan(1);
  });

  it('and has no room for sweeps does not stop live polls', async () => {
    const stage = await stages.open(kind);
    const days = { startDate: '2020-01-01', endDate: '2099-01-01' };
    await stage.patch('pigeonholes', 101, days);
    await stage.control('PATCH', 'knobs', {
      maxPerPage: 10,
      quota: { limit: 10_000, windowSeconds: 600, headers: true },
    });
    await stage.put('attendees', ...Array.from({ length: 25 }, (_, n) => attendee(n + 1)));
    await (await stage.scene()).settle();
    // Six live lists need 720 polls in these ten minutes. That is left besides the reserve, and nothing for sweeps.
    await stage.db.query(`update quotas set remaining = 1725, used = 8275, used_idle = 500, used_sweeps = 500`);
    await stage.put('attendees', attendee(26));
    await stage.sweepsAreDue();
    await stage.requests();
    const scene = await stage.scene();
    await scene.read({ workspace: 'acme', pigeonholeId: 101 });

    const asked = (await stage.requests()).filter(({ path }) => path.endsWith('/attendees'));
    expect(asked).toHaveLength(1); // the poll, but no page of the rolling sweep
    const [stream] = await stage.db.query(
      `select failures, (extract(epoch from due_at - now()))::float8 < 15 as soon,
         (select count(*)::int from items where list = 'attendees') as people from streams where list = 'attendees'`,
    );
    expect(stream).toEqual({ failures: 0, soon: true, people: 26 });
  });
});
