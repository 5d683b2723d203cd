import type { PigeonholeDetails, StreamView } from '../../api/pigeonholes.js';
import type { Overview } from '../../api/syncs.js';
import type { Status } from '../../operations/status-view.js';
import { act } from '../../operations/act.js';
import type { ActionResult } from '../../operations/action.js';
import { apiOf } from '../kit/api-of.js';
import { pause } from '../../ledger/pauses.js';
import { kinds } from '../kit/scenario-kinds.js';
import { attendee, question, session } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { pigeonhole, type Stage, useStages } from '../kit/stage.js';
import { starterOf } from '../kit/starter-of.js';
import { until } from '../until.js';

const stages = useStages();
const hoursFromNow = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();

/** Returns all reports of the freshness: status, page and metric. */
async function told(scene: Scene) {
  const get = apiOf(scene);
  const status = JSON.parse(await get('/api/status')) as Status;
  const page = JSON.parse(await get(`/api/pigeonholes/acme/${pigeonhole}`)) as PigeonholeDetails;
  const streams = JSON.parse(await get(`/api/pigeonholes/acme/${pigeonhole}/streams`)) as { items: StreamView[] };
  const metrics = await get('/metrics');
  const figure = (name: string): number =>
    Number(new RegExp(`^${name}\\{sync="events"\\} (.*)$`, 'm').exec(metrics)![1]);
  const { freshness, rehearsal } = status.workspaces[0]!.pigeonholes.find(({ id }) => id === pigeonhole)!;
  expect(page.freshness).toEqual({ ...freshness, lateSeconds: expect.any(Number) });
  return {
    freshness,
    rehearsal,
    streams: streams.items,
    cadenceOf: (list: string) => streams.items.find((stream) => stream.list === list)?.cadence,
    readAge: figure('pigeonpost_read_age_seconds'),
    lateSeconds: figure('pigeonpost_read_late_seconds'),
    troubles: page.troubles.map(({ code }) => code),
  };
}

/** Opens a live event: one session runs, one ended two hours ago, and one has a type without votes. */
async function liveEvent(stage: Stage, sync?: string): Promise<Scene> {
  await stage.put(
    'sessions',
    session(1, { type: 'qna', startDate: hoursFromNow(-1), endDate: hoursFromNow(1) }),
    session(2, { type: 'qna', startDate: hoursFromNow(-4), endDate: hoursFromNow(-2) }),
    session(3, { type: 'poll_quiz', startDate: hoursFromNow(-1), endDate: hoursFromNow(1) }),
  );
  await stage.put('attendees', attendee(1));
  await stage.put('questions', question(1, 1, 1));
  const scene = await stage.scene(sync === undefined ? {} : { sync });
  await scene.settle();
  return scene;
}

/** Counts the reads of the last minutes from now, because on a slow machine, a list is late after 20 s without a read. */
async function readJustNow(stage: Stage): Promise<void> {
  await stage.db.query(`update streams set polled_at = now() where polled_at > now() - interval '5 minutes'`);
}

describe.each(kinds)('the freshness of a live event, on %s', (kind) => {
  it('depends on the live lists, each of which is late only by its own interval', async () => {
    const stage = await stages.open(kind);
    const scene = await liveEvent(stage);
    // The list of a session without votes is not read again within half an hour. The others are.
    await stage.timePasses(25 * 60_000);
    await stage.db.query(`update streams set due_at = now() where every_reason <> 'unfilled'`);
    await scene.settle();
    await readJustNow(stage);
    const healthy = await told(scene);
    expect(healthy.freshness).toMatchObject({ state: 'current', lateLists: 0, late: null });
    expect(Date.now() - Date.parse(healthy.freshness.readAt!)).toBeLessThan(60_000);
    expect(healthy.readAge).toBeLessThan(60);
    expect([healthy.lateSeconds, healthy.troubles]).toEqual([0, []]);
    const cadences = healthy.streams.map(({ list, sessionId, cadence }) => `${list} ${sessionId ?? '-'} ${cadence}`);
    expect(cadences).toEqual(
      expect.arrayContaining([
        'questions - every 5 s: the event is live',
        'votes 1 every 5 s: the event is live',
        expect.stringMatching(/^votes 2 every \d+ s: no session runs$/),
        expect.stringMatching(/^votes 3 every \d+ min: sessions of this type never produce this data$/),
      ]),
    );

    await stage.timePasses(60_000); // nothing is read in the meantime
    const late = await told(scene);
    expect(late.freshness).toMatchObject({
      state: 'late',
      late: expect.stringMatching(/ \(every 5 s: the event is live\) and \d+ more$/),
    });
    expect(late.troubles).toEqual(['reading-late']);
    expect(late.lateSeconds).toBeGreaterThan(50);
    expect(late.readAge).toBeGreaterThan(55);
    expect(late.streams.find(({ list, sessionId }) => list === 'votes' && sessionId === 3)!.lateSeconds).toBe(0);
  });

  it.each([
    { scope: 'workspace', name: 'acme' },
    { scope: 'pigeonhole', name: `acme/${pigeonhole}` },
  ] as const)('has no late list while the $scope is paused', async (place) => {
    const stage = await stages.open(kind);
    const scene = await liveEvent(stage);
    await stage.timePasses(60_000);
    const isLate = ({ streams }: { streams: readonly StreamView[] }) =>
      streams.some(({ lateSeconds }) => lateSeconds > 0);
    expect(isLate(await told(scene))).toBe(true);
    await pause(scene.ledger, { ...place, pausedBy: 'person', cause: 'asked', detail: 'a test', fingerprint: null });
    const paused = await told(scene);
    expect([paused.freshness.state, isLate(paused)]).toEqual(['paused', false]);
  });

  it('has as many live lists in the overview as in the status, even while the service refuses the key', async () => {
    const stage = await stages.open(kind);
    const scene = await liveEvent(stage);
    const get = apiOf(scene);
    const live = async () => {
      const { workspaces } = JSON.parse(await get('/api/status')) as Status;
      const { syncs } = JSON.parse(await get('/api/overview')) as Overview;
      const status = workspaces[0]!.pigeonholes.find(({ id }) => id === pigeonhole)!.freshness;
      const { freshness: overview } = syncs[0]!;
      return { states: [status.state, overview.state], liveLists: [status.liveLists, overview.liveLists] };
    };
    await readJustNow(stage);
    const before = await live();
    expect(before).toEqual({ states: ['current', 'current'], liveLists: [before.liveLists[1], expect.any(Number)] });
    expect(before.liveLists[0]).toBeGreaterThan(0);

    await stage.control('POST', 'keys', { accepted: ['another-key'] });
    await stage.pollsAreDue();
    await scene.read({ workspace: 'acme', pigeonholeId: pigeonhole });
    expect(await live()).toEqual({ states: ['paused', 'paused'], liveLists: before.liveLists });
  });

  it('follows the interval from the file even if no session runs', async () => {
    const stage = await stages.open(kind);
    const scene = await liveEvent(stage, 'every: { live: 7s }');
    await stage.timePasses(25 * 60_000);
    await stage.pollsAreDue();
    await scene.settle();
    const { streams } = await told(scene);
    const [votes] = streams.filter(({ list, sessionId }) => list === 'votes' && sessionId === 2);
    expect(votes).toMatchObject({ everyMs: 7000, cadence: 'every 7 s: the configuration sets this interval' });
    expect(Date.parse(votes!.dueAt) - Date.parse(votes!.polledAt!)).toBeLessThan(10_000);
  });

  it('slows down to the interval that the file sets for the time without a session, and says why', async () => {
    const stage = await stages.open(kind);
    const scene = await liveEvent(stage, 'every: { live: 7s, quiet: 40s }');
    for (let reads = 0; reads < 4; reads += 1) {
      await stage.timePasses(10 * 60_000);
      await stage.pollsAreDue();
      await scene.settle();
    }
    const { streams, freshness } = await told(scene);
    const votesOf = (session: number) =>
      streams.find(({ list, sessionId }) => list === 'votes' && sessionId === session);
    expect(votesOf(1)).toMatchObject({ everyMs: 7000, cadence: 'every 7 s: the event is live' });
    expect(votesOf(2)).toMatchObject({ everyMs: 40_000, cadence: 'every 40 s: no session runs' });
    expect(freshness.groups.map(({ cadence }) => cadence)).toContain('every 40 s: no session runs');
  });

  it('says until when reading waits for a used-up quota, and that nothing is read before', async () => {
    const stage = await stages.open(kind);
    const scene = await liveEvent(stage);
    await stage.control('PATCH', 'knobs', { quota: { limit: 1, windowSeconds: 1800, headers: true } });
    await stage.pollsAreDue();
    await until(
      'the workspace waits',
      async () => (await scene.read({ workspace: 'acme', pigeonholeId: pigeonhole })).state === 'waiting',
    );
    const { freshness } = await told(scene);
    expect(freshness.waits).toEqual({ for: 'quota', until: expect.any(String), everySeconds: null });
    const end = freshness.waits!.until!;
    expect(Date.parse(end) - Date.now()).toBeGreaterThan(60_000);
    expect([freshness.nextAt, ...freshness.groups.map(({ nextAt }) => nextAt! >= end)]).toEqual([
      end,
      ...freshness.groups.map(() => true),
    ]);
  });

  it('follows the live interval during a rehearsal, even after a restart', async () => {
    const stage = await stages.open(kind);
    await stage.patch('pigeonholes', pigeonhole, { status: 'upcoming' });
    const scene = await liveEvent(stage);
    expect((await told(scene)).cadenceOf('questions')).toBe('every 5 min: the event is upcoming');

    const starter = starterOf(scene.deps);
    const name = `acme/${pigeonhole}`;
    const rehearse = (forSeconds: number): Promise<ActionResult> =>
      act({ deps: scene.deps, starter }, { do: 'poll-now', kind: 'pigeonhole', name, forSeconds, by: 'ana' });
    expect(await rehearse(7200)).toBe('done');
    await scene.settle();
    const restarted = await stage.scene();
    await stage.put('questions', question(2, 1, 1));
    await until('the question is found', async () => {
      await restarted.settle();
      return (await stage.db.query(`select 1 from items where list = 'questions' and key = '2'`)).length > 0;
    });
    const rehearsed = await told(restarted);
    expect(rehearsed.cadenceOf('questions')).toBe('every 5 s: a rehearsal is in progress');
    expect(rehearsed.rehearsal).toMatchObject({ by: 'ana' });
    expect(Date.parse(rehearsed.rehearsal!.until) - Date.now()).toBeGreaterThan(7_000_000);

    expect(await rehearse(0)).toBe('done');
    await restarted.settle();
    const over = await told(restarted);
    expect([over.rehearsal, over.cadenceOf('questions')]).toEqual([null, 'every 5 min: the event is upcoming']);
    expect(await rehearse(0)).toEqual({ note: `no rehearsal of pigeonhole ${name} was in progress` });
  });
});
