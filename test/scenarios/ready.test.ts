import { handleRequest } from '../../operations/act.js';
import { apiSources, asLocalUser } from '../../api/api-sources.test-kit.js';
import { createApp } from '../../api/create-app.js';
import type { Readiness } from '../../operations/ready/readiness.js';
import { kinds } from '../kit/scenario-kinds.js';
import { checkReady } from '../../operations/ready/check-ready.js';
import { finish, people, rowsOf, stage as stageImport } from '../imports/importing.js';
import { attendee, session } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { everyone, useStages } from '../kit/stage.js';

const stages = useStages();

/** Names and addresses of these people. */
const personal = /Person \d|Guest \d|example\.com|code-\d|P0000/;

async function ask({ deps }: Scene, path = '/api/pigeonholes/101/ready'): Promise<{ status: number; text: string }> {
  const { ledger, config, configuration } = deps;
  const app = createApp(
    apiSources({ ledger, config, configuration, checkReady: (place) => checkReady(deps, place, Date.now()) }),
  );
  const answer = await app.request(path, { headers: asLocalUser });
  return { status: answer.status, text: await answer.text() };
}

async function readiness(scene: Scene): Promise<Readiness> {
  const { status, text } = await ask(scene);
  expect([status, personal.exec(text)]).toEqual([200, null]);
  return JSON.parse(text) as Readiness;
}

const statesOf = ({ checks }: Readiness): Record<string, string> =>
  Object.fromEntries(checks.map(({ id, state }) => [id, state]));
const saysOf = ({ checks }: Readiness, wanted: string): string | undefined =>
  checks.find(({ id }) => id === wanted)?.says;

/** Returns the current hour as a session's times, since the pigeonhole of a stage is live now. */
function thisHour(): { startDate: string; endDate: string } {
  const at = Date.now();
  return { startDate: new Date(at).toISOString(), endDate: new Date(at + 3_600_000).toISOString() };
}

const quota = { limit: 10_000_000, windowSeconds: 86_400, headers: true, retryAfter: false };

describe.each(kinds)('the readiness of an event, on %s', (kind) => {
  it('is "yes" if everything is in order, with the number of people that each sink would receive', async () => {
    const stage = await stages.open(kind, { quota });
    await stage.put('sessions', session(1, thisHour()));
    await stage.put('attendees', attendee(1), attendee(2, { consent: { obtained: false } }));
    const scene = await stage.webhookScene('consent: { accept: [obtained] }');
    await scene.settle();
    await finish(scene, await stageImport(scene, rowsOf(...people(3))));

    const found = await readiness(scene);
    expect(statesOf(found)).toEqual({
      event: 'ok',
      reading: 'ok',
      registrants: 'ok',
      'profile-fields': 'ok',
      sessions: 'ok',
      quota: 'ok',
      'sink:hooks': 'ok',
      'consent:hooks': 'ok',
      running: 'ok',
      parked: 'ok',
    });
    expect(found).toMatchObject({ ready: true, pigeonhole: { workspace: 'acme', id: 101, status: 'live' } });
    expect(saysOf(found, 'registrants')).toBe('3 registrants can sign in');
    expect(saysOf(found, 'profile-fields')).toBe('"Email", "Name"; the mappings find all that they read');
    expect(saysOf(found, 'consent:hooks')).toBe('will send 1 attendee, withhold 1 (1 have refused)');
  });

  it('is "no" with a solution if something is paused, parked, disabled or unreachable', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(1), attendee(2));
    const gone = `{ type: webhook, url: "http://127.0.0.1:9/", secret: "\${HOOK_SECRET}", allowPrivateAddresses: true }`;
    const scene = await stage.webhookScene(everyone, { sinks: { gone } });
    await stage.planAnswer({ status: 422, list: 'attendees', key: '2', count: 1 });
    await scene.settle();
    await finish(scene, await stageImport(scene, rowsOf(...people(1))));
    await stage.patch('pigeonholes', 101, { registrants: false });
    await handleRequest(
      scene.ledger,
      { kind: 'sink', name: 'hooks' },
      { do: 'pause', reason: 'the receiver is moved' },
    );

    const found = await readiness(scene);
    expect(found.ready).toBe(false);
    expect(statesOf(found)).toMatchObject({
      event: 'ok',
      registrants: 'failed',
      sessions: 'failed',
      quota: 'warning',
      'sink:hooks': 'ok',
      'sink:gone': 'failed',
      running: 'failed',
      parked: 'failed',
    });
    const todo = Object.fromEntries(found.checks.map((check) => [check.id, check.todo]));
    expect(todo).toMatchObject({
      registrants: 'switch them on in the dashboard of the service',
      running: 'pigeonpost resume sink:hooks; pigeonpost try-now sink:gone',
      parked: 'pigeonpost dead-letters show --sink hooks',
    });
  });

  it('is "unknown" while the service does not answer, and the last known state is reported', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, thisHour()));
    const scene = await stage.scene();
    await scene.settle();
    await stage.fault({ kind: 'error', code: 5000, path: '/v2/pigeonholes/101' });

    const found = await readiness(scene);
    expect(found).toMatchObject({ ready: false, pigeonhole: { name: 'ACME Summit 101' } });
    expect(statesOf(found)).toMatchObject({ event: 'unknown', sessions: 'ok', 'sink:archive': 'ok' });
  });

  it('is reported only for known pigeonholes', async () => {
    const stage = await stages.open(kind);
    const scene = await stage.scene();
    await scene.settle();
    expect(await ask(scene, '/api/pigeonholes/999/ready')).toMatchObject({ status: 404 });
    expect(await ask(scene, '/api/pigeonholes/0/ready')).toMatchObject({ status: 404 });
    expect(await ask(scene, '/api/pigeonholes/x/ready')).toMatchObject({ status: 400 });
    expect(await ask(scene, '/api/pigeonholes/101/ready?workspace=other')).toMatchObject({ status: 404 });
  });
});
