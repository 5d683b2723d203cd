import type { PigeonholeName } from '../../cycles/cycle-results.js';
import type { Change } from '../../sinks/change.js';
import { kinds } from '../kit/scenario-kinds.js';
import { finish, type Profile, people, rowsOf, stage as stageImport, turn as takeTurn } from '../imports/importing.js';
import { finishRetention } from '../kit/finish-retention.js';
import { attendee } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { everyone, type Item, type Stage, useStages } from '../kit/stage.js';

const stages = useStages();
const registrants = 'lists: [registrants]';

/** Returns the latest change of each registrant by code; null for a deletion. */
function latest(stage: Stage): Record<string, Change['data']> {
  const items = new Map<string, { code: string; data: Change['data']; revision: number }>();
  for (const { key, change } of stage.received('registrants')) {
    const { data, revision } = change as Change;
    const before = items.get(key);
    if (before !== undefined && before.revision > revision) continue;
    items.set(key, { code: data === null ? before!.code : (data['attendeeCode'] as string), data, revision });
  }
  return Object.fromEntries([...items.values()].map(({ code, data }) => [code, data]));
}

async function imported(scene: Scene, ...profiles: readonly Profile[]): Promise<void> {
  await finish(scene, await stageImport(scene, rowsOf(...profiles)));
}

async function readAgain(stage: Stage, scene: Scene): Promise<void> {
  await stage.pollsAreDue();
  await scene.settle();
}

const came = (id: number, code: string, more: Item = {}): Item =>
  attendee(id, { attendeeCode: code, registrantId: id + 1000, ...more });
const signedIn = (second: number): object => ({ signedIn: true, signedInAt: `2026-11-21T08:00:0${second}.000Z` });
const nobodyYet = { registrantId: null, attendeeId: null, attendees: 0, signedIn: false, signedInAt: null };

async function withheld(stage: Stage): Promise<unknown[]> {
  return await stage.db.query(
    `select reason, count(*)::int as changes from deliveries where list = 'registrants' and state = 'withheld' group by 1`,
  );
}

describe.each(kinds)('registrants, on %s', (kind) => {
  it('are reported after the import, and again after they sign in', async () => {
    const stage = await stages.open(kind);
    const scene = await stage.webhookScene(`${everyone}, ${registrants}`);
    await scene.settle();
    const [first, second] = people(2) as [Profile, Profile];
    await imported(scene, first, second);
    await scene.settle();
    expect(latest(stage)).toEqual({
      P00001: { ...first, ...nobodyYet, consent: 'not-known' },
      P00002: { ...second, ...nobodyYet, consent: 'not-known' },
    });

    const signInTime = '2026-11-21T08:00:05.000Z';
    await stage.put('attendees', came(7, 'P00002', { signInTime }), came(8, 'walk-in'));
    await readAgain(stage, scene);
    expect(latest(stage)).toEqual({
      P00001: { ...first, ...nobodyYet, consent: 'not-known' },
      P00002: {
        ...second,
        registrantId: 1007,
        attendeeId: 7,
        attendees: 1,
        signedIn: true,
        signedInAt: signInTime,
        consent: 'obtained',
      },
    });
    expect(stage.received('registrants').map(({ change }) => (change as Change).revision)).toEqual([1, 1, 2]);
  });

  it('are reported if they exist, even if their row of the file was refused or left out', async () => {
    const stage = await stages.open(kind);
    const scene = await stage.webhookScene(`${everyone}, ${registrants}`);
    await scene.settle();
    const bad = { attendeeCode: 'BAD', Name: 'n'.repeat(300) };
    await imported(scene, ...people(3), bad);
    await scene.settle();
    expect(Object.keys(latest(stage)).toSorted()).toEqual(['P00001', 'P00002', 'P00003']);

    await imported(scene, ...people(3), { attendeeCode: 'BAD', Name: 'short' });
    await scene.settle();
    expect(Object.keys(latest(stage)).toSorted()).toEqual(['BAD', 'P00001', 'P00002', 'P00003']);
    expect(stage.received('registrants')).toHaveLength(4);
  });

  it('are counted as arrived at the first sign-in with their code, until all attendees with the code are deleted', async () => {
    const stage = await stages.open(kind);
    const scene = await stage.webhookScene(`${everyone}, ${registrants}`);
    await scene.settle();
    await imported(scene, ...people(1));
    const at = (second: number): Item => ({ signInTime: `2026-11-21T08:00:0${second}.000Z` });
    await stage.put(
      'attendees',
      came(21, 'P00001', at(5)),
      came(22, 'P00001', { ...at(3), registrantId: null }),
      attendee(23, { ...at(1), attendeeCode: null, registrantId: 1021 }), // signed in by e-mail, so without the code
      attendee(24, { ...at(0), attendeeCode: null, registrantId: 999 }),
    );
    await readAgain(stage, scene);
    const item = (): unknown => latest(stage)['P00001'];
    expect(item()).toMatchObject({ attendees: 3, registrantId: 1021, attendeeId: 23, ...signedIn(1) });

    await stage.remove('attendees', 23);
    await stage.remove('attendees', 22);
    await readAgain(stage, scene);
    await stage.timePasses(31_000); // until a second answer confirms it
    await readAgain(stage, scene);
    expect(item()).toMatchObject({ attendees: 1, attendeeId: 21, ...signedIn(5) });
    await stage.remove('attendees', 21);
    await readAgain(stage, scene);
    await stage.timePasses(31_000);
    await readAgain(stage, scene);
    expect(item()).toEqual({ ...people(1)[0], ...nobodyYet, consent: 'not-known' });
  });

  it('have the consent of the attendee with their code, and are refused if any such attendee refused', async () => {
    const stage = await stages.open(kind);
    const scene = await stage.webhookScene(
      `consent: { accept: [obtained] }, onConsentWithdrawn: forget, lists: [registrants, attendees]`,
    );
    await scene.settle();
    await imported(scene, ...people(2));
    await scene.settle();
    expect(stage.received('registrants')).toEqual([]);
    expect(await withheld(stage)).toEqual([{ reason: 'consent-not-known', changes: 2 }]);

    await stage.put('attendees', came(21, 'P00001'), came(22, 'P00002', { consent: { obtained: false } }));
    await readAgain(stage, scene);
    const told = (): unknown[] =>
      stage.received('registrants').map(({ change }) => [change.type, (change as Change).data?.['attendeeCode']]);
    expect(told()).toEqual([['registrants.updated', 'P00001']]);

    await stage.put('attendees', came(23, 'P00001', { consent: { obtained: false } }));
    await readAgain(stage, scene);
    await readAgain(stage, scene);
    expect(told()).toEqual([
      ['registrants.updated', 'P00001'],
      ['registrants.deleted', undefined],
    ]);
    expect(stage.received('registrants').at(-1)!.change.data).toBeNull();
  });

  it('are not reported before attendees were read once, so that nobody is wrongly reported as absent', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', came(21, 'P00001', { consent: { obtained: false } }));
    await stage.fault({ kind: 'error', code: 5000, path: '/attendees' });
    const scene = await stage.webhookScene(
      `consent: { accept: [obtained, not-asked, not-known] }, history: all, ${registrants}`,
    );
    await scene.settle();
    await imported(scene, ...people(2));
    await scene.settle();
    expect(stage.received('registrants')).toEqual([]);

    await stage.control('DELETE', 'faults');
    await readAgain(stage, scene);
    expect(Object.keys(latest(stage))).toEqual(['P00002']);
    expect(await withheld(stage)).toEqual([{ reason: 'consent-refused', changes: 1 }]);
  });

  it.each([
    ['a cycle runs immediately', registrants, [{ workspace: 'acme', pigeonholeId: 101 }]],
    ['no cycle runs', 'lists: [attendees]', []],
  ])('are delivered when their import ends: %s if sinks have %s', async (_, lists, turns) => {
    const stage = await stages.open(kind);
    const scene = await stage.webhookScene(`${everyone}, ${lists}`);
    await scene.settle();
    const id = await stageImport(scene, rowsOf(...people(2)));
    const told: PigeonholeName[] = [];
    const startReading = (pigeonholes: readonly PigeonholeName[]): Promise<void> => {
      told.push(...pigeonholes);
      return Promise.resolve();
    };
    const deps = { ...scene.deps, orchestration: { ...scene.deps.orchestration, startReading } };
    expect(await takeTurn({ deps }, id)).toMatchObject({ state: 'finished' });
    expect(told).toEqual(turns);
  });

  it('are derived only for sinks that accept them, even if added later, without the discarded fields', async () => {
    const stage = await stages.open(kind);
    const before = await stage.webhookScene(everyone);
    await before.settle();
    await imported(before, { attendeeCode: 'A', Name: 'Ann', Diet: 'none' });
    await readAgain(stage, before);
    expect(await stage.db.query(`select 1 from items where list = 'registrants'`)).toEqual([]);

    const asking = `${everyone}, ${registrants}`;
    const scene = await stage.webhookScene(asking, { sync: 'drop: { attendees: [Diet] }' });
    await readAgain(stage, scene);
    expect(latest(stage)).toEqual({
      A: { attendeeCode: 'A', Name: 'Ann', ...nobodyYet, consent: 'not-known' },
    });
    const less = await stage.webhookScene(asking, { sync: 'drop: { attendees: [Diet], registrants: [Name] }' });
    await readAgain(stage, less);
    const [stored] = await stage.db.query<{ payload: string }>(`select payload from items where list = 'registrants'`);
    expect(JSON.parse(stored!.payload)).toEqual({ attendeeCode: 'A', ...nobodyYet, consent: 'not-known' });
    expect(stage.received('registrants')).toHaveLength(1);
  });

  it('are updated after retention has removed records, except for the people of these records', async () => {
    const stage = await stages.open(kind);
    const signInTime = '2026-11-21T08:00:05.000Z';
    await stage.put('attendees', came(7, 'P00002', { signInTime }));
    const scene = await stage.webhookScene(`${everyone}, ${registrants}`);
    await scene.settle();
    const [first, second, third] = people(3) as [Profile, Profile, Profile];
    await imported(scene, first, second);
    await scene.settle();
    const before = latest(stage);
    await stage.db.query(`update pigeonholes set ended_at = now() - interval '2 days'`);
    const retention = {
      listsMs: { attendees: 86_400_000, registrants: 86_400_000 },
      changesMs: 86_400_000,
      attemptsMs: 86_400_000,
    };
    const deps = { ...scene.deps, config: { ...scene.deps.config, retention } };
    await finishRetention(deps);
    await stage.db.query('update pigeonholes set ended_at = null');
    await imported(scene, third);
    await stage.put('attendees', came(8, 'P00003', { signInTime }), came(9, 'P00002', { signInTime }));
    await readAgain(stage, scene);
    expect(latest(stage)).toMatchObject({ ...before, P00003: { ...third, attendeeId: 8, ...signedIn(5) } });
  });
});
