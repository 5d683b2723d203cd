import type { PigeonholeClient } from '../../pigeonhole/client.js';
import { attendee } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import { type Stage, useStages } from '../kit/stage.js';
import { until } from '../until.js';
import { type WatchedClient, watchedClient } from '../kit/watched-client.js';

const stages = useStages();
const attendees = 20;
const perPage = 4;

type Interception = (client: WatchedClient) => PigeonholeClient['page'];

/** Reads a whole list whose page requests are intercepted. */
async function readBy(kind: (typeof kinds)[number], interception: Interception): Promise<Stage> {
  const stage = await stages.open(kind, { pigeonholes: 1 });
  await stage.control('PATCH', 'knobs', { maxPerPage: perPage });
  await stage.control(
    'POST',
    'mutations',
    Array.from({ length: attendees }, (_, n) => ({
      op: 'insert',
      pigeonhole: 101,
      exact: true,
      list: 'attendees',
      id: n + 1,
      item: attendee(n + 1),
    })),
  );
  const client = watchedClient(stage.sandbox.baseUrl);
  const intercepted = interception(client);
  const page: PigeonholeClient['page'] = (list, options) =>
    list.list === 'attendees' ? intercepted(list, options) : client.page(list, options);
  const scene = await stage.scene({
    client: { ...client, page },
    sinks: { archive: '{ type: file, folder: ./archive, lists: [attendees] }' },
    sync: 'every: { live: 10m }', // on a busy machine, a shorter interval would end during the test
  });
  await scene.settle();
  return stage;
}

async function stored(stage: Stage): Promise<{ items: number; failed: number }> {
  const [row] = await stage.db.query<{ items: number; failed: number }>(
    `select (select count(*)::int from items where list = 'attendees') as items,
       (select count(*)::int from streams where failures > 0) as failed`,
  );
  return row!;
}

describe.each(kinds)('an early request for the next page, on %s', (kind) => {
  it('is sent before the current page is processed, and no page is requested twice', async () => {
    const asked: string[] = [];
    // Holds each page back until the next one has been requested. Without early requests, this would block forever.
    const stage = await readBy(kind, (client) => async (list, options = {}) => {
      asked.push(options.cursor ?? 'the first');
      const page = await client.page(list, options);
      if (page.nextCursor !== null) await until('the next page is requested', () => asked.includes(page.nextCursor!));
      return page;
    });
    expect(asked).toHaveLength(attendees / perPage);
    expect(await stored(stage)).toEqual({ items: attendees, failed: 0 });
  });

  it('is repeated if the end of the body suggested a wrong cursor, and nothing is missed', async () => {
    const wrong = 'bm90IGEgY3Vyc29y';
    const asked: string[] = [];
    const stage = await readBy(kind, (client) => async (list, options = {}) => {
      asked.push(options.cursor ?? 'the first');
      return await client.page(list, { ...options, onReceived: (cursor) => options.onReceived?.(cursor && wrong) });
    });
    expect(asked.filter((cursor) => cursor === wrong)).toHaveLength(attendees / perPage - 1);
    expect(await stored(stage)).toEqual({ items: attendees, failed: 0 });
  });
});
