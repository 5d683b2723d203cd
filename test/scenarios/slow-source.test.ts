import { performance } from 'node:perf_hooks';
import { attendee, pollVote, session } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import { pigeonhole, useStages } from '../kit/stage.js';
import { watchedClient } from '../kit/watched-client.js';

const stages = useStages();
afterEach(() => jest.restoreAllMocks());

describe.each(kinds)('a service that takes seconds for a page, on %s', (kind) => {
  it('keeps nothing waiting for the first walk over its attendees for longer than half a minute', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 1 });
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('attendees', ...Array.from({ length: 90 }, (_, n) => attendee(n + 1)));
    await stage.put('poll-mcq-votes', ...[1, 2].map((id) => pollVote(id, { id, anonymous: false }, 1)));
    let slowMs = 0;
    const real = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => real() + slowMs);
    const client = watchedClient(stage.sandbox.baseUrl);
    const asked: { list: string; at: number }[] = [];
    const scene = await stage.scene({
      client: {
        ...client,
        async page(list, options) {
          asked.push({ list: list.list, at: slowMs });
          slowMs += 2000;
          return await client.page(list, options);
        },
      },
    });
    await scene.discover();
    const turn = await scene.read({ workspace: 'acme', pigeonholeId: pigeonhole });
    const first = (name: string): number => asked.find(({ list }) => list === name)!.at;
    // 30 s of its stage, two lists and a slice of 2 s a page; each of the two walks may ask for a page or two ahead.
    expect(first('poll-mcq-votes') - first('attendees')).toBeLessThanOrEqual(46_000);
    expect(asked.filter(({ list }) => list === 'attendees').length).toBeLessThan(30); // of 90: its stage's, and a slice beside the others
    expect(turn.nextDueInMs).toBe(0); // it is read on at once

    slowMs += 60_000;
    await scene.settle();
    const [people] = await stage.db.query(`select count(*)::int as n from items where list = 'attendees'`);
    expect(people).toEqual({ n: 90 });
  });

  it('leaves it its hundred pages where they take no longer', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 1 });
    await stage.put('attendees', ...Array.from({ length: 90 }, (_, n) => attendee(n + 1)));
    const scene = await stage.scene();
    await scene.discover();
    await scene.read({ workspace: 'acme', pigeonholeId: pigeonhole });
    const [people] = await stage.db.query(`select count(*)::int as n from items where list = 'attendees'`);
    expect(people).toEqual({ n: 90 });
  });
});
