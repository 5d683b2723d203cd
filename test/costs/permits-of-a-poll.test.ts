import { ApiError } from '../../pigeonhole/api-error.js';
import type { Page } from '../../pigeonhole/page.js';
import { PermitRefusal } from '../../requests/quota-rules.js';
import type { Permits } from '../../requests/key-permits.js';
import type { Priority } from '../../requests/quota.js';
import { ServiceGate } from '../../requests/service-gate.js';
import { forecastNeeds } from '../../reading/demand.js';
import { makeRequests } from '../kit/make-requests.js';
import { countedDatabase } from '../kit/held-database.js';
import { attendee } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { type Stage, useStages } from '../kit/stage.js';

const stages = useStages();
const poll = { workspace: 'acme', priority: 'live' } as const;

const quotaOf = async (stage: Stage): Promise<{ used: number; remaining: number | null }> =>
  (await stage.db.query<{ used: number; remaining: number | null }>('select used, remaining from quotas'))[0]!;

/** Makes one request of a poll, which costs no statement if it has a permit and its response confirms the count. */
async function request({ deps }: Scene, permits: Permits, priority: Priority = 'live'): Promise<Page> {
  return await deps.gate.request(
    deps,
    { ...poll, priority, permits },
    (client) => client.page({ list: 'subscriptions' }),
    ({ quota }) => quota,
  );
}

async function openScene(kind: (typeof kinds)[number], quota: object | null) {
  const stage = await stages.open(kind, { pigeonholes: 1 });
  await stage.control('PATCH', 'knobs', { quota });
  const scene = await stage.scene({ quota: '{ reserve: 0% }' });
  const counted = countedDatabase(scene.ledger.db, (sql) => /\bquotas\b/.test(sql));
  const gate = new ServiceGate({ ...scene.ledger, db: counted.db }, scene.deps.log, forecastNeeds);
  await makeRequests({ deps: { ...scene.deps, gate } }, 1); // the quota is known from here on
  const statements = (): number => counted.count() - before;
  const before = counted.count();
  return { stage, scene: { ...scene, deps: { ...scene.deps, gate } }, statements };
}

describe.each(kinds)('the permits of a poll, on %s', (kind) => {
  const quotas = [
    { service: 'with headers', quota: { limit: 1000, windowSeconds: 3600, headers: true } },
    { service: 'without headers', quota: null },
  ];
  it.each(quotas)('cost one statement, and its quiet requests none, $service', async ({ quota }) => {
    const { stage, scene, statements } = await openScene(kind, quota);
    const { gate } = scene.deps;
    const permits = await gate.permits(scene.deps, poll, 8);
    expect((await quotaOf(stage)).used).toBe(9); // spent before the requests
    await Promise.all(Array.from({ length: 8 }, async () => await request(scene, permits)));
    await permits.end();
    expect(statements()).toBe(1);
    expect((await quotaOf(stage)).used).toBe(9);
    await request(scene, permits); // a request beyond them takes one of its own
    expect(statements()).toBe(2);
  });

  it('are returned with one statement if they are not used, and only once', async () => {
    const { stage, scene, statements } = await openScene(kind, quotas[0]!.quota);
    const before = await quotaOf(stage);
    const permits = await scene.deps.gate.permits(scene.deps, poll, 8);
    await permits.end();
    await permits.end();
    expect(await quotaOf(stage)).toEqual(before);
    expect(statements()).toBe(2);
    await request(scene, permits); // an ended set has none left
    expect((await quotaOf(stage)).used).toBe(before.used + 1);
  });

  it.each([
    { left: 'enough', quota: { limit: 2000, windowSeconds: 3600, headers: true }, taken: 10 },
    { left: 'few', quota: { limit: 1000, windowSeconds: 3600, headers: true }, taken: 0 },
    { left: 'an unknown number', quota: null, taken: 10 },
  ])('are taken ahead for a long walk if $left are left: $taken', async ({ quota, taken }) => {
    const { stage, scene } = await openScene(kind, quota);
    const before = await quotaOf(stage);
    const permits = await scene.deps.gate.permitsAhead(scene.deps, poll, 10);
    expect((await quotaOf(stage)).used).toBe(before.used + taken);
    await permits.end();
    expect(await quotaOf(stage)).toEqual(before);
  });

  it('that a walk took ahead are counted only if a request used them', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 10, quota: null });
    await stage.put('attendees', ...Array.from({ length: 134 }, (_, index) => attendee(index + 1)));
    const scene = await stage.scene({ sync: 'every: { live: 1h }' });
    await scene.settle();
    const { requests } = (await stage.control('GET', 'requests?last=1000')) as { requests: unknown[] };
    expect(requests.length).toBeGreaterThan(14);
    expect((await quotaOf(stage)).used).toBe(requests.length);
  });

  it('are used by requests of their priority only', async () => {
    const { stage, scene } = await openScene(kind, quotas[0]!.quota);
    const permits = await scene.deps.gate.permits(scene.deps, poll, 2);
    await request(scene, permits, 'idle');
    const [row] = await stage.db.query('select used, used_idle from quotas');
    expect(row).toEqual({ used: 4, used_idle: 1 });
    await permits.end();
  });

  it('never exceed what is left, and leave it to the requests to report why', async () => {
    const { stage, scene } = await openScene(kind, { limit: 10, windowSeconds: 3600, headers: true });
    let made = 0;
    for (;;) {
      const permits = await scene.deps.gate.permits(scene.deps, poll, 4);
      try {
        for (let n = 0; n < 4; n += 1) {
          await request(scene, permits);
          made += 1;
        }
      } catch (error) {
        expect(error).toMatchObject({ name: 'PermitRefusal', reason: 'used-up' });
        break;
      } finally {
        await permits.end();
      }
    }
    expect(made).toBe(9); // and the first request
    const { requests } = (await stage.control('GET', 'requests?last=100')) as { requests: { code: number | null }[] };
    expect(requests.filter(({ code }) => code === 8000)).toEqual([]);
  });

  it('are not used after the service has refused a request', async () => {
    const { stage, scene } = await openScene(kind, { limit: 3, windowSeconds: 3600, headers: false });
    const permits = await scene.deps.gate.permits(scene.deps, poll, 6);
    await request(scene, permits);
    await request(scene, permits);
    await expect(request(scene, permits)).rejects.toBeInstanceOf(ApiError);
    await expect(request(scene, permits)).rejects.toBeInstanceOf(PermitRefusal);
    await permits.end();
    const { requests } = (await stage.control('GET', 'requests?last=100')) as { requests: unknown[] };
    expect(requests).toHaveLength(4);
  });
});
