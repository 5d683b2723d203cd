import { kinds } from '../kit/scenario-kinds.js';
import { mortalDatabase, ProcessDied } from '../kit/mortal-database.js';
import { passTime } from '../kit/pass-time.js';
import {
  applyAll,
  applyOnce,
  look,
  lookUpAfterMs,
  made,
  posts,
  states,
  summit,
  truth,
  wholeSummit,
} from '../kit/provisioning.js';
import { openScene } from '../kit/scene.js';
import { everyone, type Stage, useStages } from '../kit/stage.js';

const stages = useStages();
const allExist = ['pigeonhole: exists', 'opening: exists', 'closing: exists', 'words: exists'];
const onlyPigeonhole = summit.slice(0, summit.indexOf('sessions:'));

describe.each(kinds)('an event file, on %s', (kind) => {
  it('is created once, and a rerun sends nothing', async () => {
    const stage = await stages.open(kind);
    const scene = await stage.scene();
    expect(states(await look(scene, summit))).toEqual([
      'pigeonhole: create',
      'opening: create',
      'closing: create',
      'words: create',
    ]);
    expect(await posts(stage)).toEqual([]);
    await applyAll(stage, scene, summit);
    expect(await made(stage)).toEqual(wholeSummit);
    expect(await posts(stage)).toHaveLength(4);

    expect(states(await applyAll(stage, scene, summit))).toEqual(allExist);
    expect(await posts(stage)).toEqual([]);
  });

  it('is not sent again, even by a second command, before a lost answer can be looked up', async () => {
    const stage = await stages.open(kind);
    const [first, second] = [await stage.scene(), await stage.scene()];
    await stage.fault({ kind: 'dropAfter', method: 'POST', next: 1 });
    expect(states(await applyOnce(first, onlyPigeonhole))).toEqual(['pigeonhole: unknown']);
    await passTime(stage.db, lookUpAfterMs / 2);
    const early = await applyOnce(second, onlyPigeonhole);
    expect(states(early)).toEqual(['pigeonhole: unknown']);
    expect(early.nextInMs).toBeGreaterThan(0);
    expect(early.nextInMs).toBeLessThanOrEqual(lookUpAfterMs / 2);
    await passTime(stage.db, early.nextInMs!);
    expect(states(await applyOnce(second, onlyPigeonhole))).toEqual(['pigeonhole: claim']);
    expect(states(await applyOnce(first, onlyPigeonhole))).toEqual(['pigeonhole: exists']);
    expect(await posts(stage)).toEqual(['/v2/pigeonholes']);
  });

  it.each([
    ['pigeonhole', 'pigeonholes', 0],
    ['session', 'sessions', 1],
  ])('is not sent again after a single answer without the %s', async (_, list, skip) => {
    const stage = await stages.open(kind);
    const scene = await stage.scene();
    await stage.fault({ kind: 'dropAfter', method: 'POST', skip, next: 1 });
    await applyOnce(scene, summit);
    await stage.timePasses(lookUpAfterMs + 1000);
    await stage.fault({ kind: 'shortList', list, next: 1 });
    await applyAll(stage, scene, summit);
    expect(await stage.control('GET', 'faults')).toMatchObject({ faults: [{ fired: 1 }, { fired: 1 }] });
    expect(await made(stage)).toEqual(wholeSummit);
  });

  it('is looked up by the sent values even if the file has changed since', async () => {
    const stage = await stages.open(kind);
    const scene = await stage.scene();
    await stage.fault({ kind: 'dropAfter', method: 'POST', next: 1 });
    await applyOnce(scene, onlyPigeonhole);
    await passTime(stage.db, lookUpAfterMs);
    const renamed = onlyPigeonhole.replace('ACME Summit', 'ACME Summit 2026');
    expect(states(await applyAll(stage, scene, renamed))).toEqual(['pigeonhole: claim']);
    expect((await made(stage)).pigeonholes).toEqual(['ACME Summit']);
  });

  it('is created once if two processes apply it at the same time', async () => {
    const stage = await stages.open(kind);
    const [first, second] = [await stage.scene(), await stage.scene()];
    await Promise.all([applyOnce(first, summit), applyOnce(second, summit)]);
    await Promise.all([applyOnce(first, summit), applyOnce(second, summit)]);
    await applyAll(stage, first, summit);
    expect(await made(stage)).toEqual(wholeSummit);
  });
});

describe('an event file', () => {
  const [kind] = kinds;

  it.each([
    ['lost after the effect', { kind: 'dropAfter' }],
    ['lost before the effect', { kind: 'dropBefore' }],
    ['5000 after the effect', { kind: 'errorAfter', code: 5000 }],
    ['5000 before the effect', { kind: 'error', code: 5000 }],
    ['cut short', { kind: 'cutBody' }],
    ['not JSON although the request took effect', { kind: 'htmlBody' }],
    ['of a wrong type, though it had an effect', { kind: 'wrongContentType' }],
    ['503 without JSON', { kind: 'text503' }],
    ['8000', { kind: 'error', code: 8000 }],
  ])('is created once if the first answers are %s', async (_, fault) => {
    const stage = await stages.open(kind!);
    const scene = await stage.scene();
    await stage.fault({ ...fault, method: 'POST', path: '/v2/pigeonholes', next: 1 });
    await stage.fault({ ...fault, method: 'POST', path: '/sessions', next: 1 });
    await applyAll(stage, scene, summit);
    expect(await made(stage)).toEqual(wholeSummit);
    expect(states(await applyAll(stage, scene, summit))).toEqual(allExist);
  });

  it('is created once no matter when the process is killed', async () => {
    const stage = await stages.open(kind!);
    const heir = await stage.scene();
    // Before and after the intent, the claim and its commit: six moments for the pigeonhole, six for the first session.
    const lives = 12;
    for (let n = 1; n <= lives; n += 1) {
      const text = summit.replace('id: summit', `id: summit-${n}`).replace('ACME Summit', `Summit ${n}`);
      expect(await diesAt(stage, n, text)).toBe(true);
      await applyAll(stage, heir, text);
    }
    const { pigeonholes, sessions } = await made(stage);
    expect([pigeonholes.length, new Set(pigeonholes).size]).toEqual([lives, lives]);
    expect(sessions).toEqual(wholeSummit.sessions.flatMap((session) => Array.from({ length: lives }, () => session)));
  });

  /** Applies the file in a process that dies at its n-th write. @returns whether it died */
  async function diesAt(stage: Stage, n: number, text: string): Promise<boolean> {
    let writes = Number.NEGATIVE_INFINITY;
    const db = mortalDatabase(
      stage.db,
      ({ sql }) => /insert into provisioned|^(before )?commit$/.test(sql) && (writes += 1) === n,
    );
    const sinks = { archive: `{ type: file, folder: ./archive, ${everyone} }` }; // all scenes of a stage have the same configuration
    const scene = await openScene({ db, baseUrl: stage.sandbox.baseUrl, sinks });
    writes = 0;
    try {
      for (let turns = 0; turns < 2; turns += 1) await applyOnce(scene, text);
      return false;
    } catch (error) {
      if (error instanceof ProcessDied) return true;
      throw error;
    } finally {
      await scene.close();
    }
  }

  it('waits for the quota without sending requests, and continues', async () => {
    const stage = await stages.open(kind!, {
      quota: { limit: 6, windowSeconds: 3600, headers: true, retryAfter: false },
    });
    const scene = await stage.scene();
    let turn = await applyOnce(scene, summit);
    while (turn.nextInMs === 0) turn = await applyOnce(scene, summit);
    expect(turn.hindrance).toMatchObject({ kind: 'wait', why: 'quota' });
    expect(turn.nextInMs).toBeGreaterThan(60_000);
    const before = (await stage.requests()).length;
    await applyOnce(scene, summit);
    expect([before, await stage.requests()]).toEqual([6, []]);
    await stage.control('PATCH', 'knobs', { quota: null });
    await passTime(stage.db, 3_600_000);
    await applyAll(stage, await stage.scene(), summit);
    expect(await made(stage)).toEqual(wholeSummit);
  });

  it('stops with an error if the key is refused', async () => {
    const stage = await stages.open(kind!);
    const scene = await stage.scene({ apiKey: 'wrong-key' });
    const turn = await applyOnce(scene, summit);
    expect(turn).toMatchObject({ hindrance: { kind: 'stop', why: 'credential' }, nextInMs: null });
    expect(turn.hindrance!.detail).toMatch(/4501.*check the API key of this workspace/);
  });

  it('waits without sending anything if the service cannot be reached', async () => {
    const stage = await stages.open(kind!);
    const scene = await stage.scene();
    await stage.sandbox.close();
    expect(await applyOnce(scene, summit)).toMatchObject({
      hindrance: { kind: 'wait', why: 'unreachable' },
      nextInMs: 2000,
    });
  });

  it('sends no request to a workspace that an operator has paused', async () => {
    const stage = await stages.open(kind!);
    const scene = await stage.scene();
    await stage.db.query(
      "insert into pauses (scope, name, paused_by, cause, detail) values ('workspace', 'acme', 'person', 'asked', 'the room is rebuilt')",
    );
    expect(await applyOnce(scene, summit)).toMatchObject({
      hindrance: { kind: 'stop', why: 'paused' },
      nextInMs: null,
    });
    expect(await stage.requests()).toEqual([]);
  });

  it('reports what the service refuses with the line of the field, and creates the rest', async () => {
    const stage = await stages.open(kind!);
    const scene = await stage.scene();
    const text = summit.replace('type: poll_word_cloud', 'type: dance');
    expect((await look(scene, text.replaceAll('2026-11', '2099-11'))).plan!.warnings).toEqual([
      expect.stringMatching(/^event\.yaml:10: sessions\[2\]\.type: this type has not been seen yet/),
    ]);
    expect((await look(scene, onlyPigeonhole.replaceAll('2026-11', '2020-11'))).plan!.warnings).toEqual([
      expect.stringMatching(/pigeonhole\.endDate: is in the past, so the event is over$/),
    ]);
    const turn = await applyAll(stage, scene, text);
    expect(states(turn)).toEqual(['pigeonhole: exists', 'opening: created', 'closing: created', 'words: refused']);
    expect(await posts(stage)).toHaveLength(4); // a refused object is not sent again in each cycle

    expect(turn.objects.at(-1)!.outcome).toMatchObject({
      state: 'refused',
      problems: [expect.stringMatching(/^event\.yaml:10: sessions\[2\]\.type: must be one of qna/)],
      requestId: expect.any(String),
    });
    expect(scene.logText()).not.toMatch(/dance|ACME|Questions/);
    // The log has the request id of each create request, which the service's support asks for.
    const told = scene
      .logText()
      .split('\n')
      .filter((line) => line.includes('"object":'));
    expect(told).toHaveLength(4);
    expect(told.filter((line) => !/"requestId":"[^"]+"/.test(line))).toEqual([]);
  });

  it('holds its sessions back if its pigeonhole is refused', async () => {
    const stage = await stages.open(kind!);
    const scene = await stage.scene();
    await stage.fault({ kind: 'error', code: 4500, method: 'POST' });
    const turn = await applyAll(stage, scene, summit);
    expect(turn.nextInMs).toBeNull();
    expect(await posts(stage)).toEqual(['/v2/pigeonholes']);
  });

  it('asks the operator about a similar pigeonhole, who can claim it or create another one', async () => {
    const stage = await stages.open(kind!);
    const scene = await stage.scene();
    await applyAll(stage, scene, summit);
    const [{ id }] = (await truth(stage, 'pigeonholes')).filter((each) => each['name'] === 'ACME Summit') as [
      { id: number },
    ];
    const another = summit.replace('id: summit', 'id: autumn');
    expect((await look(scene, another)).objects[0]!.outcome).toEqual({ state: 'undecided', candidates: [id] });
    await stage.db.query('delete from provisioned');
    await posts(stage);

    const asked = await applyAll(stage, scene, another);
    expect(asked.objects[0]!.outcome).toEqual({ state: 'undecided', candidates: [id] });
    expect(states(asked).slice(1)).toEqual(['opening: held', 'closing: held', 'words: held']);
    expect(await posts(stage)).toEqual([]);

    const taken = await applyAll(stage, scene, another, { use: { pigeonhole: id } });
    expect(states(taken)).toEqual([
      'pigeonhole: claim',
      'opening: undecided',
      'closing: undecided',
      'words: undecided',
    ]);
    const sessions = (await truth(stage, `sessions?pigeonhole=${id}`)) as {
      id: number;
      name: string;
      startDate: string;
    }[];
    const opening = sessions.find(({ startDate }) => startDate?.startsWith('2026-11-21'))!.id;
    await applyAll(stage, scene, another, { use: { opening }, create: ['words'] });
    expect(await posts(stage)).toHaveLength(1);
    expect(states(await applyAll(stage, scene, another, { create: ['words'] }))).toEqual([
      'pigeonhole: exists',
      'opening: exists',
      'closing: undecided',
      'words: exists',
    ]);
    expect(await posts(stage)).toEqual([]); // repeating the same decision creates nothing else
  });

  it('asks the operator if an id in the file has changed, and records the objects under the new one', async () => {
    const stage = await stages.open(kind!);
    const scene = await stage.scene();
    const [first] = (await applyAll(stage, scene, summit)).objects;
    const id = 'id' in first!.outcome ? first!.outcome.id : 0;
    await posts(stage);
    const renamed = summit.replace('id: summit', 'id: summit-2026');
    expect(states(await look(scene, renamed))).toEqual([
      'pigeonhole: undecided',
      'opening: held',
      'closing: held',
      'words: held',
    ]);
    const use = { pigeonhole: id };
    const all = ['pigeonhole: exists', 'opening: exists', 'closing: exists', 'words: exists'];
    const claimed = ['pigeonhole: claim', ...all.slice(1)]; // so that the command applies it
    expect(states(await look(scene, renamed, { use }))).toEqual(claimed);
    expect(states(await look(scene, summit))).toEqual(all); // nothing was written
    expect(states(await applyAll(stage, scene, renamed, { use }))).toEqual(claimed);
    expect(states(await applyAll(stage, scene, renamed))).toEqual(all);
    expect(states(await look(scene, summit))[0]).toBe('pigeonhole: undecided');

    const session = renamed.replace('id: opening', 'id: start');
    const [, asked] = (await applyAll(stage, scene, session)).objects;
    const { outcome } = asked!;
    const candidates = outcome.state === 'undecided' ? outcome.candidates : [];
    expect(candidates).toHaveLength(1);
    const start = candidates[0]!;
    await applyAll(stage, scene, session, { use: { start } });
    expect(states(await applyAll(stage, scene, session))[1]).toBe('start: exists');
    expect(states(await look(scene, renamed))[1]).toBe('opening: undecided');
    expect(await posts(stage)).toEqual([]);
  });

  it('asks the operator about a pigeonhole whose name another person has written in another way', async () => {
    const stage = await stages.open(kind!);
    const scene = await stage.scene();
    await applyAll(stage, scene, onlyPigeonhole);
    await stage.db.query('delete from provisioned');
    const other = onlyPigeonhole.replace('name: ACME Summit', 'name: "acme  SUMMIT "');
    expect(states(await look(scene, other))).toEqual(['pigeonhole: undecided']);
  });

  it('reports a claim of an object that does not exist, belongs to another event, or is not in the file', async () => {
    const stage = await stages.open(kind!);
    const scene = await stage.scene();
    await applyAll(stage, scene, onlyPigeonhole);
    const another = onlyPigeonhole.replace('id: summit', 'id: autumn');
    await stage.fault({ kind: 'error', code: 4500, method: 'POST', next: 1 });
    await applyAll(stage, scene, another, { create: ['pigeonhole'] }); // recorded as an event of its own, although refused
    const problems = async (use: Record<string, number>, create: string[] = []): Promise<readonly string[]> =>
      (await applyAll(stage, scene, another, { use, create })).plan!.problems;
    const [{ id }] = (await truth(stage, 'pigeonholes')).filter((each) => each['name'] === 'ACME Summit') as [
      { id: number },
    ];
    expect(await problems({ pigeonhole: id })).toEqual([
      expect.stringContaining(`${id} is already recorded for summit/pigeonhole`),
    ]);
    expect(await problems({ pigeonhole: 999 })).toEqual([
      expect.stringContaining('the service shows none with id 999'),
    ]);
    expect(await problems({}, ['opning'])).toEqual([expect.stringContaining('no object has the id "opning"')]);
    expect((await made(stage)).pigeonholes).toEqual(['ACME Summit']);
  });

  it('recreates an object that was deleted in the service only if an operator requests it', async () => {
    const stage = await stages.open(kind!);
    const scene = await stage.scene();
    await applyAll(stage, scene, summit);
    const [{ id }] = (await truth(stage, 'pigeonholes')).filter((each) => each['name'] === 'ACME Summit') as [
      { id: number },
    ];
    const [{ id: sessionId }] = (await truth(stage, `sessions?pigeonhole=${id}`)) as [{ id: number }];
    await stage.control('POST', 'mutations', { op: 'delete', list: 'sessions', pigeonhole: id, id: sessionId });
    await posts(stage);
    expect(states(await applyAll(stage, scene, summit)).filter((state) => state.endsWith('gone'))).toHaveLength(1);
    expect(await posts(stage)).toEqual([]);

    await stage.control('POST', 'mutations', { op: 'delete', list: 'pigeonholes', id });
    expect(states(await applyAll(stage, scene, summit))[0]).toBe('pigeonhole: gone');
    expect(await posts(stage)).toEqual([]);
    await applyAll(stage, scene, summit, { create: ['pigeonhole'] });
    expect(await made(stage)).toEqual(wholeSummit);
  });

  it.each(['dropBefore', 'dropAfter'])(
    'is recreated once beside an older one if its answer was lost (%s)',
    async (fault) => {
      const stage = await stages.open(kind!);
      const scene = await stage.scene();
      await applyAll(stage, scene, onlyPigeonhole);
      await stage.db.query('delete from provisioned');
      await applyAll(stage, scene, onlyPigeonhole, { create: ['pigeonhole'] });
      const [older, newer] = (await truth(stage, 'pigeonholes'))
        .filter((each) => each['name'] === 'ACME Summit')
        .map(({ id }) => Number(id));
      await stage.control('POST', 'mutations', { op: 'delete', list: 'pigeonholes', id: newer });
      await stage.fault({ kind: fault, method: 'POST', next: 1 });
      await applyAll(stage, scene, onlyPigeonhole, { create: ['pigeonhole'] });
      const end = await look(scene, onlyPigeonhole);
      expect(states(end)).toEqual(['pigeonhole: exists']);
      expect(end.objects[0]!.outcome).not.toMatchObject({ id: older });
      expect((await made(stage)).pigeonholes).toEqual(['ACME Summit', 'ACME Summit']);
    },
  );

  it('distinguishes identical sessions by their ids, even if one answer was lost', async () => {
    const stage = await stages.open(kind!);
    const scene = await stage.scene();
    const twins = summit.replace(
      '2026-11-22T16:00, endDate: 2026-11-22T17:00',
      '2026-11-21T09:00, endDate: 2026-11-21T10:00',
    );
    await applyAll(stage, scene, onlyPigeonhole);
    await stage.fault({ kind: 'dropAfter', method: 'POST', next: 1 });
    expect(states(await applyOnce(scene, twins))).toEqual([
      'pigeonhole: exists',
      'opening: unknown',
      'closing: unknown',
      'words: created',
    ]);
    await applyAll(stage, scene, twins);
    expect((await made(stage)).sessions).toEqual([
      'In one word null',
      'Questions 2026-11-21T09:00:00+01:00',
      'Questions 2026-11-21T09:00:00+01:00',
    ]);
  });

  it('asks the operator if the service may have changed the object of a lost answer', async () => {
    const stage = await stages.open(kind!);
    const scene = await stage.scene();
    await stage.fault({ kind: 'dropAfter', method: 'POST', next: 1 });
    await applyOnce(scene, onlyPigeonhole);
    const [{ id }] = (await truth(stage, 'pigeonholes')).filter((each) => each['name'] === 'ACME Summit') as [
      { id: number },
    ];
    await stage.patch('pigeonholes', id, { endDate: '2026-11-23' });
    await passTime(stage.db, lookUpAfterMs);
    expect((await applyAll(stage, scene, onlyPigeonhole)).objects[0]!.outcome).toEqual({
      state: 'undecided',
      candidates: [id],
    });
    expect((await made(stage)).pigeonholes).toHaveLength(1);
  });

  describe('in a Team workspace', () => {
    const withSubscription = (subscription: string | number): string =>
      onlyPigeonhole.replace('  timezone', `  subscription: ${subscription}\n  timezone`);

    it('uses the subscription from the file, by name or id, or else the configured one', async () => {
      const stage = await stages.open(kind!, { workspaceKind: 'team' });
      const [subscription] = (await truth(stage, 'subscriptions')) as [{ id: number; name: string }];
      const scene = await stage.scene();
      expect((await applyAll(stage, scene, onlyPigeonhole)).plan!.problems).toEqual([
        expect.stringMatching(/^event\.yaml:2: pigeonhole\.subscription: this is a Team workspace: choose one/),
      ]);
      expect((await applyAll(stage, scene, withSubscription('Nobody'))).plan!.problems).toEqual([
        expect.stringMatching(/^event\.yaml:6: pigeonhole\.subscription: there is no such subscription/),
      ]);
      expect(await posts(stage)).toEqual([]);
      expect(states(await applyAll(stage, scene, withSubscription(JSON.stringify(subscription.name))))).toEqual([
        'pigeonhole: created',
      ]);

      const configured = await stage.scene({ workspace: `subscriptionId: ${subscription.id}` });
      const another = onlyPigeonhole.replace('id: summit', 'id: autumn').replace('ACME Summit', 'ACME Autumn');
      expect(states(await applyAll(stage, configured, another))).toEqual(['pigeonhole: created']);
      const wrong = await stage.scene({ workspace: 'subscriptionId: 424242' });
      expect(
        (await applyAll(stage, wrong, another.replace('autumn', 'winter').replace('Autumn', 'Winter'))).plan!.problems,
      ).toEqual([expect.stringContaining('424242 is subscriptionId of pigeonpost.yaml')]);
    });

    it('sends the subscription in the configured field', async () => {
      const stage = await stages.open(kind!, { workspaceKind: 'team', knobs: { subscriptionField: 'subscription' } });
      const [{ id }] = (await truth(stage, 'subscriptions')) as [{ id: number }];
      const refused = await applyOnce(await stage.scene(), withSubscription(id));
      expect(refused.objects[0]!.outcome).toMatchObject({
        state: 'refused',
        problems: [expect.stringMatching(/^event\.yaml:6: pigeonhole\.subscription: is required/)],
      });
      const scene = await stage.scene({ workspace: 'subscriptionField: subscription' });
      expect(states(await applyOnce(scene, withSubscription(id)))).toEqual(['pigeonhole: created']);
    });
  });

  it('needs no subscription in a Personal workspace, and refuses one', async () => {
    const stage = await stages.open(kind!);
    const scene = await stage.scene();
    const text = onlyPigeonhole.replace('  timezone', '  subscription: 7\n  timezone');
    expect((await applyAll(stage, scene, text)).plan!.problems).toEqual([
      expect.stringContaining('this workspace has no subscriptions'),
    ]);
  });
});
