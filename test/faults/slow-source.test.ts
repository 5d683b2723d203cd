import { performance } from 'node:perf_hooks';
import { createDeferred } from '../../base/deferred.js';
import { attendee, pollVote, qnaQuestion, session } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { SceneOptions } from '../kit/scene.js';
import { pigeonhole, type Stage, useStages } from '../kit/stage.js';
import { watchedClient } from '../kit/watched-client.js';
import { until } from '../until.js';

const stages = useStages();

/** Longer than a test, so that no list is due twice in a slow cycle. */
const oncePerCycle = 'every: { live: 1h }';

/**
 * A scene whose requests take a set time by the clock of `performance`, and what it requested when. The clock stands
 * still otherwise, so that the results do not depend on the speed of the machine.
 */
async function slowScene(stage: Stage, options: Pick<SceneOptions, 'sync'> = {}) {
  const waits = { ms: 0 };
  const byId: number[] = [];
  const asked: { list: string; at: number }[] = [];
  let passedMs = 0;
  const startedAt = performance.now();
  jest.spyOn(performance, 'now').mockImplementation(() => startedAt + passedMs);
  const client = watchedClient(stage.sandbox.baseUrl);
  const scene = await stage.scene({
    ...options,
    client: {
      ...client,
      async getPigeonhole(id, call) {
        byId.push(id);
        passedMs += waits.ms;
        return await client.getPigeonhole(id, call);
      },
      async page(list, options) {
        asked.push({ list: list.list, at: passedMs });
        passedMs += waits.ms;
        return await client.page(list, options);
      },
    },
  });
  const pass = (ms: number): void => void (passedMs += ms);
  return { scene, asked, byId, waits, pass };
}

afterEach(() => jest.restoreAllMocks());

describe.each(kinds)('a service that takes seconds for a page, on %s', (kind) => {
  it('delays other lists by at most half a minute during the first walk of the attendees', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 1 });
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('attendees', ...Array.from({ length: 90 }, (_, n) => attendee(n + 1)));
    await stage.put('poll-mcq-votes', ...[1, 2].map((id) => pollVote(id, { id, anonymous: false }, 1)));
    const { scene, asked, waits, pass } = await slowScene(stage, { sync: oncePerCycle });
    waits.ms = 2000;
    await scene.discover();
    const turn = await scene.read({ workspace: 'acme', pigeonholeId: pigeonhole });
    const first = (name: string): number => asked.find(({ list }) => list === name)!.at;
    // 30 s of this step, two lists and a slice at 2 s a page; each of the two walks may request a page or two ahead.
    expect(first('poll-mcq-votes') - first('attendees')).toBeLessThanOrEqual(46_000);
    expect(asked.filter(({ list }) => list === 'attendees').length).toBeLessThan(30); // of 90: those of this step, and a slice beside the other lists
    expect(turn.nextDueInMs).toBe(0); // it is continued immediately

    pass(60_000);
    await scene.settle();
    const [people] = await stage.db.query(`select count(*)::int as n from items where list = 'attendees'`);
    expect(people).toEqual({ n: 90 });
  });

  it('keeps nothing waiting for its look-ups of missing items for longer than that, and makes all of them', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 6, order: 'unordered' });
    const ids = Array.from({ length: 60 }, (_, n) => n + 1);
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('qna-questions', ...ids.map((id) => qnaQuestion(id, { id, anonymous: false }, 1)));
    await stage.put('poll-mcq-votes', ...[1, 2].map((id) => pollVote(id, { id, anonymous: false }, 1)));
    const { scene, asked, waits } = await slowScene(stage, { sync: oncePerCycle });
    await scene.settle();
    for (const id of ids.slice(0, 10)) await stage.remove('qna-questions', id); // by ten attendees: ten filtered sets
    await stage.sweepsAreDue();
    asked.length = 0;
    waits.ms = 2000;
    await scene.read({ workspace: 'acme', pigeonholeId: pigeonhole });
    // The list is the last of the cycle: the other lists are read again when the cycle ends.
    const from = asked.findIndex(({ list }) => list === 'qna-questions');
    expect(asked.at(-1)!.at - asked[from]!.at).toBeLessThanOrEqual(36_000);
    for (let cycles = 0; cycles < 12; cycles += 1) {
      await stage.timePasses(31_000);
      await stage.sweepsAreDue();
      await scene.read({ workspace: 'acme', pigeonholeId: pigeonhole });
    }
    const [gone] = await stage.db.query(
      `select count(*)::int as n from items where list = 'qna-questions' and payload is null`,
    );
    expect(gone).toEqual({ n: 10 });
  });

  it('keeps no new event waiting for those that its list does not show, and requests all of them in turn', async () => {
    const stage = await stages.open(kind);
    const hidden = Array.from({ length: 30 }, (_, n) => 700 + n);
    const sync = `pigeonholes: [${pigeonhole}, ${hidden.join(', ')}]`;
    const { scene, byId, waits } = await slowScene(stage, { sync });
    waits.ms = 2000;
    await scene.discover();
    expect(byId.length).toBeGreaterThan(10);
    expect(byId.length).toBeLessThan(20); // of 30: half a minute's
    for (let cycles = 0; cycles < 3; cycles += 1) {
      await stage.timePasses(61_000);
      await scene.discover();
    }
    expect([...new Set(byId)].toSorted((a, b) => a - b)).toEqual(hidden);
  });

  it('does not interrupt a walk of a hundred pages if it takes no longer', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 1 });
    await stage.put('attendees', ...Array.from({ length: 90 }, (_, n) => attendee(n + 1)));
    const { scene, waits } = await slowScene(stage);
    await scene.discover();
    waits.ms = 300;
    await scene.read({ workspace: 'acme', pigeonholeId: pigeonhole });
    const [people] = await stage.db.query(`select count(*)::int as n from items where list = 'attendees'`);
    expect(people).toEqual({ n: 90 });
  });

  it('delays no other list while one of them is answered slowly, and stores that list when it arrives', async () => {
    const stage = await stages.open(kind);
    const isHeld = { attendees: false };
    const held = createDeferred();
    const client = watchedClient(stage.sandbox.baseUrl);
    const scene = await stage.scene({
      client: {
        ...client,
        async page(list, options) {
          if (list.list === 'attendees' && isHeld.attendees) await held.promise;
          return await client.page(list, options);
        },
      },
    });
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('attendees', attendee(1));
    await scene.settle();
    const [stream] = await stage.db.query<{ id: number }>(`select id from streams where list = 'attendees'`);
    scene.deps.gate.slowLists.started('acme', stream!.id)(); // an earlier cycle has found out
    isHeld.attendees = true;
    await stage.put('attendees', attendee(2));
    await stage.pollsAreDue();
    const turn = scene.read({ workspace: 'acme', pigeonholeId: pigeonhole });
    const stored = async (list: string): Promise<number> => {
      const [row] = await stage.db.query<{ n: number }>('select count(*)::int as n from items where list = $1', [list]);
      return row!.n;
    };
    for (const id of [1, 2]) {
      await stage.put('poll-mcq-votes', pollVote(id, { id, anonymous: false }, 1));
      await stage.db.query(`update streams set due_at = now() where list = 'poll-mcq-votes'`);
      await until('the vote is stored', async () => (await stored('poll-mcq-votes')) === id);
    }
    expect(await stored('attendees')).toBe(1);
    held.resolve();
    expect(await turn).toMatchObject({ state: 'working', created: 3 });
    expect(await stored('attendees')).toBe(2);
  });
});
