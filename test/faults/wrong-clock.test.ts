import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deliverToSink } from '../../delivering/deliver-to-sink.js';
import { wasClockSetBack } from '../../ledger/database-clock.js';
import { apiOf } from '../kit/api-of.js';
import { attendee, question, session } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { everyone, pigeonhole, type Stage, useStages } from '../kit/stage.js';
import { withWallClock } from '../kit/wrong-clock.js';
import { until } from '../until.js';

/** Two processes share a store, and the wall clock of one is wrong by an hour. Nothing may depend on it. */
const stages = useStages();
const place = { workspace: 'acme', pigeonholeId: pigeonhole };
const hourMs = 3_600_000;
const wrongClocks: [string, number][] = [
  ['ahead', hourMs],
  ['behind', -hourMs],
];

async function fill(stage: Stage): Promise<void> {
  await stage.receiver(); // started here, so that its clock is right
  await stage.put('sessions', session(1, { anonymousResponses: false }));
  await stage.put('attendees', attendee(5), attendee(6));
  await stage.put('questions', question(11, 5, 1), question(12, 6, 1));
}

/** Runs one cycle of each kind in a process whose clock is ahead by `aheadMs`. */
async function turnOf(scene: Scene, aheadMs: number): Promise<void> {
  await withWallClock(aheadMs, async () => {
    await scene.discover();
    await scene.read(place);
    await deliverToSink(scene.deps, 'hooks', new AbortController().signal);
  });
}

/** Opens a process whose clock is ahead by `aheadMs` from its start. */
function openWrong(stage: Stage, aheadMs: number): Promise<Scene> {
  return withWallClock(aheadMs, () => stage.webhookScene());
}

function revisions(stage: Stage, list: string): (readonly [string, number, string])[] {
  const all = stage.received(list).map(({ change }) => [change.key, change.revision, change.type] as const);
  return all.toSorted(([key, revision], [other, later]) => revision - later || key.localeCompare(other));
}

/** Returns the minutes by which each instant of a column is in the database's future; 0 for the past. */
async function minutesAhead(stage: Stage, table: string, column: string): Promise<number[]> {
  const rows = await stage.db.query<{ minutes: number }>(
    `select distinct greatest(0, round(extract(epoch from ${column} - clock_timestamp()) / 60))::int4 as minutes
     from ${table} where ${column} is not null order by 1`,
  );
  return rows.map(({ minutes }) => minutes);
}

/** A destination that accepts everything, and the headers of what it received. */
async function acceptingServer(): Promise<{ url: string; requests: IncomingHttpHeaders[]; close: () => void }> {
  const requests: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    requests.push(request.headers);
    request.resume().on('end', () => response.writeHead(204).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, close };
}

describe.each(kinds)('a process whose clock is wrong by an hour, on %s', (kind) => {
  it.each(wrongClocks)('(%s) does not hide later edits and deletions from other processes', async (_, aheadMs) => {
    const stage = await stages.open(kind);
    await fill(stage);
    const [wrong, scene] = [await openWrong(stage, aheadMs), await stage.webhookScene()];
    await turnOf(wrong, aheadMs);
    await stage.patch('questions', 11, { question: { id: 11, content: 'edited', status: 'approved' } });
    await stage.remove('questions', 12);
    await stage.sweepsAreDue();
    await turnOf(scene, 0);
    await scene.settle();

    expect(revisions(stage, 'questions')).toEqual([
      ['11', 1, 'questions.created'],
      ['12', 1, 'questions.created'],
      ['11', 2, 'questions.updated'],
      ['12', 2, 'questions.deleted'],
    ]);
    expect(await minutesAhead(stage, 'items', 'seen_at')).toEqual([0]);
    expect(await minutesAhead(stage, 'missing', 'since')).toEqual([]);
  });

  it.each(wrongClocks)('(%s) reads edits of items that another process has read', async (_, aheadMs) => {
    const stage = await stages.open(kind);
    await fill(stage);
    const [wrong, scene] = [await openWrong(stage, aheadMs), await stage.webhookScene()];
    await turnOf(scene, 0);
    await stage.patch('questions', 11, { question: { id: 11, content: 'edited', status: 'approved' } });
    await stage.sweepsAreDue();
    await turnOf(wrong, aheadMs);
    expect(revisions(stage, 'questions').at(-1)).toEqual(['11', 2, 'questions.updated']);
  });

  it.each(wrongClocks)('(%s) signs what it sends at the time of the database', async (_, aheadMs) => {
    const stage = await stages.open(kind);
    await fill(stage);
    const { url, requests, close } = await acceptingServer();
    try {
      const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
      const hooks = `{ type: webhook, url: "${url}", secret: "\${SECRET}", allowPrivateAddresses: true, ${everyone} }`;
      const options = { sinks: { hooks }, environment: { SECRET: secret } };
      await turnOf(await withWallClock(aheadMs, () => stage.scene(options)), aheadMs);
      const sentAt = requests.map((headers) => 1000 * Number(headers['webhook-timestamp']));
      expect(sentAt.length).toBeGreaterThan(4);
      for (const at of sentAt) expect(Math.abs(at - Date.now())).toBeLessThan(120_000);
    } finally {
      close();
    }
  });

  it.each(wrongClocks)('(%s) waits for a fuller request no longer than any other', async (_, aheadMs) => {
    const stage = await stages.open(kind);
    await fill(stage);
    const { url, requests, close } = await acceptingServer();
    try {
      const create = `{ url: '"/rows"', body: item.question.content, batch: '[items]' }`;
      const hooks = `{ type: http, baseUrl: "${url}", batch: { size: 9, maxAge: 2s }, records: [{ from: questions, create: ${create} }], ${everyone} }`;
      const scene = await withWallClock(aheadMs, () => stage.scene({ sinks: { hooks } }));
      await turnOf(scene, aheadMs);
      await until('both questions are sent', async () => {
        await withWallClock(aheadMs, () => scene.deliver('hooks'));
        return requests.length > 0;
      });
      expect(requests).toHaveLength(1);
    } finally {
      close();
    }
  });

  it('corrects an instant in the future, which the database stored before its clock was set back', async () => {
    const stage = await stages.open(kind);
    await fill(stage);
    const scene = await stage.webhookScene();
    await scene.settle();
    await stage.db.query(`update items set seen_at = now() + interval '1 hour'`);
    await stage.patch('questions', 11, { question: { id: 11, content: 'edited', status: 'approved' } });
    await stage.remove('questions', 12);
    await stage.sweepsAreDue();
    await scene.settle();
    expect(revisions(stage, 'questions').slice(2)).toEqual([
      ['11', 2, 'questions.updated'],
      ['12', 2, 'questions.deleted'],
    ]);
    expect(await minutesAhead(stage, 'items', 'seen_at')).toEqual([0, 60]); // unchanged items keep their instant
  });

  it('continues to read immediately after the clock of the database itself was set back', async () => {
    const stage = await stages.open(kind);
    await fill(stage);
    const scene = await stage.webhookScene();
    await scene.settle();
    expect(await wasClockSetBack(scene.ledger)).toBe(false);
    await stage.timePasses(-2 * hourMs); // all stored instants are now two hours in the future
    await stage.patch('questions', 11, { question: { id: 11, content: 'edited', status: 'approved' } });
    expect(await wasClockSetBack(scene.ledger)).toBe(true);
    await scene.discover();
    await scene.read(place);
    expect(await wasClockSetBack(scene.ledger)).toBe(false);
    await scene.deliver('hooks');
    expect(revisions(stage, 'questions').at(-1)).toEqual(['11', 2, 'questions.updated']);
    const again = await scene.read(place);
    expect(again.nextDueInMs).toBeLessThan(60_000);
  });

  it.each(wrongClocks)('(%s) plans the next reads like any other process', async (_, aheadMs) => {
    const dues: unknown[] = [];
    for (const ahead of [0, aheadMs]) {
      const stage = await stages.open(kind);
      // One hour later its window is over, and one hour earlier it was not open yet.
      const startDate = new Date(Date.now() - hourMs / 6).toISOString();
      const endDate = new Date(Date.now() + hourMs / 6).toISOString();
      await stage.put('sessions', session(1, { startDate, endDate }));
      await stage.put('attendees', attendee(5));
      await stage.put('questions', question(11, 5, 1));
      const scene = await openWrong(stage, ahead);
      await turnOf(scene, ahead);
      await stage.db.query('update streams set quiet_reads = 10');
      await stage.pollsAreDue();
      await turnOf(scene, ahead);
      dues.push(
        await stage.db.query(
          `select session_id, round(extract(epoch from due_at - polled_at) / 30) as half_minutes
           from streams where list = 'votes' and wanted order by session_id`,
        ),
      );
    }
    expect(dues[1]).toEqual(dues[0]);
  });

  it.each(wrongClocks)('(%s) reports the correct lateness of lists', async (_, aheadMs) => {
    const stage = await stages.open(kind);
    await fill(stage);
    const scene = await stage.webhookScene();
    await turnOf(scene, 0);
    await stage.db.query(`update streams set polled_at = now() - interval '11 minutes', every_ms = 60000`);
    const get = apiOf(scene);
    const late = async (): Promise<number[]> => {
      const { items } = JSON.parse(await get(`/api/pigeonholes/acme/${pigeonhole}/streams`)) as {
        items: { lateSeconds: number }[];
      };
      return items.map(({ lateSeconds }) => lateSeconds).filter((seconds) => seconds > 0);
    };
    const shown = await withWallClock(aheadMs, late);
    expect(shown.length).toBeGreaterThan(0);
    for (const seconds of shown) expect(Math.abs(seconds - 600)).toBeLessThan(120);
  });
});
