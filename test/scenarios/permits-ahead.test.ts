import type { AheadPermit } from '../../work/requests/service-gate.js';
import { PermitRefusal } from '../../work/requests/quota-rules.js';
import type { Priority } from '../../work/requests/quota.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Page } from '../../pigeonhole/page.js';
import { attendee } from '../kit/items.js';
import { makeRequests } from '../kit/make-requests.js';
import type { Scene } from '../kit/scene.js';
import { type Stage, useStages } from '../kit/stage.js';

const stages = useStages();
const sinks = { archive: '{ type: file, folder: ./archive, lists: [attendees] }' };
const permit = { workspace: 'acme', priority: 'idle' } as const;

const used = async (stage: Stage): Promise<number> =>
  (await stage.db.query<{ used: number }>('select used from quotas'))[0]!.used;

const remaining = async (stage: Stage): Promise<number | null> =>
  (await stage.db.query<{ remaining: number | null }>('select remaining from quotas'))[0]!.remaining;

const requested = async (stage: Stage): Promise<number> =>
  ((await stage.control('GET', 'state')) as { requests: { total: number } }).requests.total;

const subscriptions = (scene: Scene, ahead?: ReturnType<Scene['deps']['gate']['takePermitAhead']>): Promise<Page> =>
  scene.deps.gate.request(scene.deps, { ...permit, ahead }, (client) => client.page({ list: 'subscriptions' }));

describe.each(kinds)('permits that are taken ahead of their request, on %s', (kind) => {
  const paces = [
    { service: 'a slow service, from the second page on', latencyMs: 25 },
    { service: 'a fast one, once a walk is long', latencyMs: 0 },
  ];
  it.each(paces)('are counted once per request: $service', async ({ latencyMs }) => {
    const stage = await stages.open(kind, { pigeonholes: 1 });
    const many = Array.from({ length: 9 }, (_, n) => ({ id: n + 1, item: attendee(n + 1) }));
    await stage.control(
      'POST',
      'mutations',
      many.map((item) => ({ op: 'insert', pigeonhole: 101, exact: true, list: 'attendees', ...item })),
    );
    await stage.control('PATCH', 'knobs', { maxPerPage: 1, latencyMs });
    const scene = await stage.scene({ sinks });
    const taken: boolean[] = [];
    const { gate } = scene.deps;
    const takePermitAhead = gate.takePermitAhead.bind(gate);
    gate.takePermitAhead = async (...args) => {
      const ahead = await takePermitAhead(...args);
      taken.push(ahead !== undefined);
      return ahead;
    };
    await scene.discover();
    await scene.read({ workspace: 'acme', pigeonholeId: 101 });
    expect(taken.filter(Boolean).length).toBeGreaterThan(3);
    expect(await used(stage)).toBe(await requested(stage));
    const [row] = await stage.db.query<{ n: number }>(
      `select count(*)::int as n from items where list = 'attendees' and payload is not null`,
    );
    expect(row!.n).toBe(9);
  });

  it('belong to their requests, and are not counted after they are returned', async () => {
    const stage = await stages.open(kind, { pigeonholes: 1 });
    const scene = await stage.scene({ sinks });
    await subscriptions(scene);
    const ahead = scene.deps.gate.takePermitAhead(scene.deps, permit);
    await ahead;
    expect(await used(stage)).toBe(2);
    await subscriptions(scene, ahead);
    expect(await used(stage)).toBe(2);
    const unused = await scene.deps.gate.takePermitAhead(scene.deps, permit);
    await scene.deps.gate.returnPermit(unused!);
    expect(await used(stage)).toBe(2);
  });

  it.each(['used', 'returned unused'])(
    'are deducted from the first limit that is reported, and then %s',
    async (end) => {
      const stage = await stages.open(kind, { pigeonholes: 1 });
      await stage.control('PATCH', 'knobs', { quota: { limit: 100, windowSeconds: 3600, headers: true } });
      const scene = await stage.scene({ sinks });
      const { gate } = scene.deps;
      let ahead: Promise<AheadPermit | undefined> | undefined;
      await gate.request(
        scene.deps,
        permit,
        async (client) => {
          const page = await client.page({ list: 'subscriptions' });
          ahead = gate.takePermitAhead(scene.deps, permit);
          await ahead;
          return page;
        },
        ({ quota }) => quota,
      );
      expect(await remaining(stage)).toBe(98);
      if (end === 'used') await subscriptions(scene, ahead);
      else await gate.returnPermit((await ahead)!);
      expect(await remaining(stage)).toBe(end === 'used' ? 98 : 99);
    },
  );

  it('may be returned after others were refused: the reserve stays, and no request is lost', async () => {
    const stage = await stages.open(kind, { pigeonholes: 1 });
    await stage.control('PATCH', 'knobs', { quota: { limit: 40, windowSeconds: 3600, headers: true } });
    const holder = await stage.scene({ sinks });
    const other = await stage.scene({ sinks }); // another process with the same key, whose reserve is 10 %
    const made = async (priority: Priority): Promise<number> =>
      (await makeRequests(other, 40, priority)).filter((outcome) => outcome === 'made').length;
    const ahead = await holder.deps.gate.takePermitAhead(holder.deps, permit);
    expect(await made('live')).toBe(35);
    await holder.deps.gate.returnPermit(ahead!);
    expect([await made('live'), await made('import')]).toEqual([1, 4]);
    expect(await requested(stage)).toBe(40);
  });

  it('are not used after the service has refused another request', async () => {
    const stage = await stages.open(kind, { pigeonholes: 1 });
    const scene = await stage.scene({ sinks });
    await subscriptions(scene);
    const ahead = scene.deps.gate.takePermitAhead(scene.deps, permit);
    await ahead;
    await stage.control('PATCH', 'knobs', { quota: { limit: 1, windowSeconds: 3600, headers: false } });
    const answers = await Promise.allSettled([subscriptions(scene), subscriptions(scene)]);
    expect(answers.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { kind: 'quota' } });
    const before = await requested(stage);
    await expect(subscriptions(scene, ahead)).rejects.toBeInstanceOf(PermitRefusal);
    expect(await requested(stage)).toBe(before);
  });
});
