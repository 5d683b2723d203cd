import { randomUUID } from 'node:crypto';
import { apiSources, fromHere } from '../../api/api-sources.test-kit.js';
import type { Role } from '../../api/authenticate.js';
import { createApp } from '../../api/create-app.js';
import { makeToken } from '../../api/credentials.js';
import { Secret } from '../../config/secret.js';
import { listDeliveries } from '../../delivering/delivery-list.js';
import { addToken } from '../../ledger/tokens.js';
import { startReplay } from '../../operations/start-replay.js';
import { attendee } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { everyone, type Stage, useStages } from '../kit/stage.js';
import { starterOf } from '../kit/starter-of.js';
import { weighedDatabase } from '../kit/weighed-database.js';

const stages = useStages();

type Ask = (path: string, body?: object) => Promise<{ status: number; body: any; text: string }>;

/** Returns a function that asks the API of a scene with a token of these roles. */
async function askAs({ deps }: Scene, given: readonly Role[]): Promise<Ask> {
  const { ledger, configuration } = deps;
  const server = { ...deps.config.server, token: new Secret('the-token-of-the-server') };
  const { id, hash, text: token } = makeToken();
  const name = given.join('-');
  await addToken(ledger, { id, name, hash, roles: given, workspace: null, createdBy: 'a test', expiresAt: null });
  const replay = (wanted: Parameters<typeof startReplay>[1]) => startReplay({ deps, starter: starterOf(deps) }, wanted);
  const app = createApp(apiSources({ ledger, config: { ...deps.config, server }, configuration, replay }));
  return async (path, body) => {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = await app.request(path, { headers: { ...fromHere, authorization: `Bearer ${token}` }, ...sent });
    const text = await answer.text();
    return { status: answer.status, text, body: JSON.parse(text) };
  };
}

/** Two people, of whom the sink refuses the second, and on request more people whom it refuses. */
async function refusing(
  kind: (typeof kinds)[number],
  others: readonly number[] = [],
): Promise<{ stage: Stage; scene: Scene }> {
  const stage = await stages.open(kind);
  await stage.put('attendees', attendee(1, { Name: 'Ada MARK' }), attendee(2, { Name: 'Grace MARK' }));
  const scene = await stage.webhookScene(everyone);
  await stage.put('attendees', ...others.map((id) => attendee(id)));
  for (const key of [2, ...others]) {
    await stage.planAnswer({ status: 422, list: 'attendees', key: String(key), count: 1 });
  }
  await scene.settle();
  return { stage, scene };
}

const failed = '/api/attempts?sink=hooks&outcome=failed';

describe.each(kinds)('the delivery log of the API, on %s', (kind) => {
  it('shows what was sent and answered only to roles that see people, and records that it was shown', async () => {
    const { stage, scene } = await refusing(kind);
    const viewer = await askAs(scene, ['viewer']);
    const listed = await viewer(failed);
    expect(listed.body.items).toMatchObject([{ key: '2', try: 1, outcome: 'rejected', status: 422, state: 'dead' }]);
    const path = `/api/attempts/${listed.body.items[0].number}`;
    const seen = await viewer(path);
    expect(seen.body).toMatchObject({ hasContent: true, name: { noun: 'an attendee' } });
    expect(seen.body).not.toHaveProperty('content');
    expect(listed.text + seen.text).not.toContain('MARK');
    for (const each of [
      `${path}?personal=1`,
      `${failed}&personal=1`,
      '/api/deliveries?sink=hooks&state=dead&personal=1',
    ])
      expect((await viewer(each)).status).toBe(403);
    expect(await stage.db.query(`select 1 from audit where action like '%personal'`)).toEqual([]);

    const privacy = await askAs(scene, ['privacy']);
    const shown = await privacy(`${path}?personal=1`);
    expect(shown.body.content).toMatchObject({
      requests: [{ method: 'POST', body: expect.stringContaining('Grace MARK') as string }],
      calls: [{ status: 422 }],
    });
    expect((await privacy(`${failed}&personal=1`)).text).toContain('Grace MARK');
    const audited = await stage.db.query(
      `select action, target, subject is not null as named from audit where action like '%personal' order by number`,
    );
    expect(audited).toEqual([
      { action: 'show-attempt-personal', target: 'sink:hooks', named: true },
      { action: 'attempts-personal', target: 'sink:hooks', named: false },
    ]);
    expect((await viewer('/api/attempts/999999999')).status).toBe(404);
    expect((await viewer('/api/attempts?sink=others')).status).toBe(404);
  });

  it('lists the deliveries that a count consists of', async () => {
    const { scene } = await refusing(kind);
    const viewer = await askAs(scene, ['viewer']);
    const keysOf = async (query: string): Promise<string[]> =>
      (await viewer(`/api/deliveries?sink=hooks&${query}`)).body.items.map((each: any) => `${each.list}:${each.key}`);
    expect(await keysOf('state=delivered&list=attendees')).toEqual(['attendees:1']);
    expect(await keysOf('state=dead')).toEqual(['attendees:2']);
    expect(await keysOf('state=dead&reason=http:422')).toEqual(['attendees:2']);
    expect(await keysOf('state=dead&reason=other')).toEqual([]);
    expect(await keysOf('state=dead&list=votes')).toEqual([]);
    expect(await keysOf('state=open')).toEqual([]);
    expect(await keysOf('state=dead&pigeonhole=acme/102')).toEqual([]);
  });

  it.each(['withheld', 'delivered'] as const)(
    'lists %s deliveries of a large event by reading one page of them',
    async (state) => {
      const { stage, scene } = await refusing(kind);
      const { db } = stage;
      await db.query(
        `insert into deliveries (sink_id, pigeonhole_number, sequence, list, key, revision, state, reason, configuration)
       select l.sink_id, l.pigeonhole_number, 1000 + n, 'votes', n::text, 1, $1, case when $1 = 'withheld' then 'consent' end, 1
       from lanes l join pigeonholes p on p.pigeonhole_number = l.pigeonhole_number and p.pigeonhole_id = 101,
         generate_series(1, 20001) n`,
        [state],
      );
      let rows = 0;
      const weighed = weighedDatabase(db, (each) => (rows += each.rows));
      const asked = {
        sink: 'hooks',
        state,
        reason: null,
        list: null,
        workspace: null,
        pigeonhole: 'acme/101',
        limit: 50,
      };
      const pageAfter = async (after: { readonly pigeonholeNumber: number; readonly sequence: number } | null) =>
        await listDeliveries(
          { ...scene.ledger, db: weighed },
          { ...asked, after: after === null ? null : { ...after, replay: 0 } },
        );
      const first = await pageAfter(null);
      expect(first.map(({ key }) => key).slice(0, 2)).toEqual(['20001', '20000']);
      const { pigeonholeNumber } = first[0]!;
      const later = await pageAfter({ pigeonholeNumber, sequence: 1010 });
      expect(later.map(({ key }) => key).slice(0, 9)).toEqual(['9', '8', '7', '6', '5', '4', '3', '2', '1']);
      expect(rows).toBeLessThan(2000);
    },
  );

  it('says before a redrive what it would send, and sends the chosen dead letters again', async () => {
    const { stage, scene } = await refusing(kind, [3]);
    const operator = await askAs(scene, ['operator']);
    const plan = async () => (await operator('/api/dead-letters/plan?sink=hooks&cause=http:422')).body;
    const part = { workspace: 'acme', pigeonholeId: 101, changedSince: 0, mayRepeat: 0, confirmed: 0 };
    expect(await plan()).toEqual({ changes: 2, paused: false, pigeonholes: [{ ...part, changes: 2 }] });

    const items = [{ pigeonhole: 'acme/101', list: 'attendees', key: '2' }];
    const { body } = await operator('/api/dead-letters/redrive', { sink: 'hooks', items });
    expect(body).toEqual({ done: true, changes: 1 });
    await scene.settle();
    expect(stage.received('attendees').map(({ key }) => key)).toEqual(['1', '2']);
    expect((await plan()).changes).toBe(1);
    const [last] = (await operator('/api/attempts?sink=hooks&key=2')).body.items;
    expect(last).toMatchObject({ try: 2, outcome: 'delivered', state: 'delivered' });
  });

  it('sends chosen items again that were delivered before, and no others', async () => {
    const { stage, scene } = await refusing(kind);
    const operator = await askAs(scene, ['operator']);
    const wanted = { id: randomUUID(), sink: 'hooks', lists: ['attendees'], pigeonhole: 'acme/101', from: null };
    const replay = { ...wanted, keys: ['1'], dryRun: false };
    expect((await operator('/api/replays', { ...replay, pigeonhole: null })).status).toBe(400);
    expect((await operator('/api/replays', replay)).body.counts).toMatchObject([{ list: 'attendees', items: 1 }]);
    await scene.settle();
    expect(stage.received('attendees').map(({ key, change }) => [key, change['replay'] !== undefined])).toEqual([
      ['1', false],
      ['1', true],
    ]);
  });
});
