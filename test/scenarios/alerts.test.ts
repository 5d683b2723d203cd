import type { Config } from '../../config/config.js';
import { alertsSchema } from '../../config/schema/operations.js';
import { Secret } from '../../config/secret.js';
import type { GateOptions } from '../../requests/service-gate.js';
import { tryNow, handleRequest } from '../../operations/act.js';
import { apiSources, asLocalUser } from '../../api/api-sources.test-kit.js';
import { createApp } from '../../api/create-app.js';
import type { IncidentView } from '../../api/incidents.js';
import { trimIncidents } from '../../operations/incidents/incident-store.js';
import { apiOf } from '../kit/api-of.js';
import { kinds } from '../kit/scenario-kinds.js';
import { AlertDesk } from '../../operations/alerts/alert-desk.js';
import { defaultRateLimit } from '../../operations/alerts/judge-alert.js';
import { type HookServer, startHookServer } from '../../operations/alerts/hook-server.test-kit.js';
import { type MailServer, startMailServer } from '../../operations/alerts/mail-server.test-kit.js';
import { viewQuotas, type Status } from '../../operations/status-view.js';
import {
  DEFAULT_CHANNEL,
  DEFAULT_TOKEN,
  startSlackDouble,
  type SlackDouble,
} from '../../sandbox/slack/start-slack-double.js';
import type { Clocks } from '../../base/lease.js';
import type { Database } from '../../ledger/drivers/database.js';
import type { Ledger } from '../../ledger/ledger.js';
import { delayedDatabase } from '../kit/held-database.js';
import { attendee, session } from '../kit/items.js';
import { JumpingClocks } from '../kit/jumping-clocks.js';
import { mortalDatabase } from '../kit/mortal-database.js';
import type { Scene } from '../kit/scene.js';
import { type Stage, useStages } from '../kit/stage.js';
import { statusOf } from '../kit/status-of.js';
import { until } from '../until.js';
import { formatInstant } from '../../base/words.js';

const stages = useStages();
const hookSecret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
let slack: SlackDouble;
let hook: HookServer;
let mail: MailServer;
const desks: AlertDesk[] = [];
beforeEach(async () => {
  slack = await startSlackDouble({
    channels: [{ id: DEFAULT_CHANNEL, name: 'alerts', isMember: true }], // alerts go only where the app was invited
    limits: { postsPerSecond: 1000, postBurst: 1000, postsPerMinute: 100_000 },
  });
  hook = await startHookServer(hookSecret);
  mail = await startMailServer();
});
afterEach(async () => {
  for (const desk of desks.splice(0)) await desk.close();
  await Promise.all([slack.close(), hook.close(), mail.close()]);
});

const everything: NonNullable<Config['alerts']>['when'] = {
  'service-down': true,
  'reading-late': true,
  'sink-paused': true,
  'workspace-paused': true,
  behind: 60_000,
  'dead-letters': 1,
  withholding: true,
  parity: true,
  'nightly-export': true,
  'deletions-held': true,
  'quota-used-up': true,
  'quota-short': true,
  'import-ended': true,
};

/** The conditions of a file that names only receivers. */
const byDefault = alertsSchema.parse({
  to: [{ type: 'smtp', host: 'a.example', from: 'a@a.example', to: 'b@a.example' }],
})!.when;

/** A process that checks on demand; it reports the end of a condition at the second check that finds it over. */
function openDesk(
  { deps }: Pick<Scene, 'deps'>,
  owner: string,
  when = everything,
  options: { readonly clocks?: Clocks; readonly ledger?: Ledger } = {},
): AlertDesk {
  const { ledger = deps.ledger, clocks } = options;
  const server = { ...deps.config.server, publicUrl: 'https://pigeonpost.example.com' };
  const alerts: Config['alerts'] = {
    to: [
      { type: 'slack', token: new Secret(DEFAULT_TOKEN), channel: DEFAULT_CHANNEL, baseUrl: `${slack.url}/api` },
      { type: 'webhook', url: hook.url, secret: new Secret(hookSecret) },
      { type: 'smtp', host: '127.0.0.1', port: mail.port, from: 'pigeonpost@example.com', to: 'ops@example.com' },
    ],
    when,
  };
  const config = { ...deps.config, server, alerts };
  const desk = new AlertDesk({
    sources: () => ({
      ledger,
      config,
      configuration: deps.configuration,
      trouble: () => null,
      quotas: () => viewQuotas(config, ledger, Date.now()),
    }),
    owner,
    isAlone: false,
    publicUrl: () => server.publicUrl,
    log: deps.log,
    ...(clocks !== undefined && { clocks }),
    times: { checkEveryMs: 0, calm: { firstMs: 0, longestMs: 0, forgetMs: 3_600_000 }, pace: defaultRateLimit },
  });
  desks.push(desk);
  return desk;
}

async function lookAndSend(...from: readonly AlertDesk[]): Promise<void> {
  for (const desk of from) {
    await desk.check();
    await desk.sent();
  }
}

/** Removes the soft line breaks of a mail's encoding. */
const unfolded = (text: string): string => text.replaceAll(/=\r?\n/g, '');

const told = (): string[] => hook.taken.map(({ type, data }) => `${type} ${data['occasion']} ${data['subject']}`);
const posted = (): string[] => slack.workspace.channels.get(DEFAULT_CHANNEL)!.all.map(({ text }) => text);

/** Returns the ledger of a process that is suspended after each lease of a receiver until the test wakes it. */
function pausedAfterLeases(ledger: Ledger) {
  let leases = 0;
  let wake!: () => void;
  const gate = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const db: Database = {
    ...delayedDatabase(ledger.db, async () => undefined),
    async transaction(work, options) {
      const result = await ledger.db.transaction(work, options);
      if (typeof result === 'object' && result !== null && 'code' in result) {
        leases += 1;
        await gate;
      }
      return result;
    },
  };
  return { ledger: { ...ledger, db }, leases: () => leases, wake };
}

const pauses: [string, (clocks: JumpingClocks) => void][] = [
  ['that its monotonic clock does not count', (clocks) => (clocks.wallAheadMs += 90_000)],
  ['that its wall clock does not show', (clocks) => (clocks.monotonicAheadMs += 90_000)],
];

async function pauseByCause({ ledger }: Scene): Promise<void> {
  await ledger.db.query(
    `insert into pauses (scope, name, paused_by, cause, detail)
     values ('sink', 'hooks', 'cause', 'credential', 'refused for Person 1, person1@example.com')`,
  );
}

async function withBacklog(stage: Stage, gate: GateOptions = {}): Promise<Scene> {
  await stage.put('sessions', session(1));
  await stage.put('attendees', attendee(1), attendee(2));
  const scene = await stage.webhookScene(undefined, { gate });
  await scene.settle();
  return scene;
}

describe.each(kinds)('alerts, on %s', (kind) => {
  it('notify each receiver once of a paused sink and once of its resumption, despite a restart and a second process', async () => {
    const stage = await stages.open(kind);
    const scene = await withBacklog(stage);
    const first = openDesk(scene, 'first');
    await lookAndSend(first);
    expect(told()).toEqual([]);

    await pauseByCause(scene);
    const second = openDesk(scene, 'second');
    await Promise.all([lookAndSend(first), lookAndSend(second)]);
    await lookAndSend(first, second);
    expect(told()).toEqual(['alert.raised sink-paused hooks']);
    await first.close();
    const restarted = openDesk(scene, 'restarted');
    await lookAndSend(restarted, second, restarted);
    expect(told()).toEqual(['alert.raised sink-paused hooks']);
    expect([posted().length, mail.taken.length]).toEqual([1, 1]);
    expect(posted()[0]).toContain('<https://pigeonpost.example.com/#/sink/hooks|Open it>');
    expect(unfolded(mail.taken[0]!)).toContain('https://pigeonpost.example.com/#/sink/hooks');

    await handleRequest(scene.ledger, { kind: 'sink', name: 'hooks' }, { do: 'resume' });
    await lookAndSend(restarted, second, restarted);
    expect(told()).toEqual(['alert.raised sink-paused hooks', 'alert.recovered sink-paused hooks']);
    expect([posted().length, mail.taken.length]).toEqual([2, 2]);
    const all = JSON.stringify([hook.taken, posted(), mail.taken]) + scene.logText();
    expect(all).not.toMatch(/Person 1|person1|code-1/); // no alert contains the vendor's own words
  });

  it('are noted with the incident of their problem, which has a start, an end and the receivers that were notified', async () => {
    const stage = await stages.open(kind);
    const scene = await withBacklog(stage);
    const desk = openDesk(scene, 'desk');
    const { ledger, config, configuration } = scene.deps;
    const app = createApp(apiSources({ ledger, config, configuration, alerts: desk }));
    const incidents = async (query = '') => {
      const answer = await app.request(`/api/incidents${query}`, { headers: asLocalUser });
      return ((await answer.json()) as { items: IncidentView[] }).items;
    };
    expect(await incidents()).toEqual([]);

    await pauseByCause(scene);
    await lookAndSend(desk);
    const [open] = await incidents('?state=open');
    expect(open).toMatchObject({ code: 'sink-paused', kind: 'sink', name: 'hooks', stops: true, endedAt: null });
    expect(open!.notified.map((each) => `${each.kind} ${each.receiver!.split(' ')[0]}`).toSorted()).toEqual([
      'raised slack',
      'raised smtp',
      'raised webhook',
    ]);
    expect(JSON.stringify(open)).not.toMatch(/Person 1|person1/); // no incident contains the vendor's own words

    await handleRequest(ledger, { kind: 'sink', name: 'hooks' }, { do: 'resume' });
    await lookAndSend(desk, desk);
    await stage.db.query(`update incidents set quiet_since = quiet_since - interval '1 minute'`);
    await lookAndSend(desk);
    expect(await incidents('?state=open')).toEqual([]);
    const [ended] = await incidents();
    expect(ended).toMatchObject({ number: open!.number, since: open!.since, endedAt: expect.any(String) });
    expect(ended!.notified.filter((each) => each.kind === 'recovered')).toHaveLength(3);

    await stage.db.query(`update incidents set ended_at = now() - interval '30 days 1 minute'`);
    await trimIncidents(ledger);
    expect(await incidents()).toEqual([]);
    expect(await stage.db.query('select 1 from incident_notices')).toEqual([]);
  });

  it('need no receiver for the incidents of their problems', async () => {
    const stage = await stages.open(kind);
    const scene = await withBacklog(stage);
    const desk = new AlertDesk({
      sources: () => ({ ...scene.deps, trouble: () => null, quotas: async () => new Map() }),
      owner: 'desk',
      isAlone: false,
      publicUrl: () => null,
      log: scene.deps.log,
      times: { checkEveryMs: 0, calm: { firstMs: 0, longestMs: 0, forgetMs: 0 }, pace: defaultRateLimit },
    });
    desks.push(desk);
    await pauseByCause(scene);
    await desk.check();
    expect(await stage.db.query('select code, subject from incidents')).toEqual([
      { code: 'sink-paused', subject: 'hooks' },
    ]);
  });

  it('are sent and end in time after the clock of the database was set back', async () => {
    const stage = await stages.open(kind);
    const scene = await withBacklog(stage);
    const desk = openDesk(scene, 'desk');
    await pauseByCause(scene);
    hook.answer(503);
    await lookAndSend(desk);
    expect(told()).toEqual([]);
    await stage.timePasses(-2 * 3_600_000); // all stored instants are now two hours in the future
    hook.answer(200);
    await lookAndSend(desk);
    expect(told()).toEqual(['alert.raised sink-paused hooks']);
    await handleRequest(scene.ledger, { kind: 'sink', name: 'hooks' }, { do: 'resume' });
    await lookAndSend(desk, desk);
    await stage.timePasses(-2 * 3_600_000);
    await lookAndSend(desk, desk);
    expect(told().at(-1)).toBe('alert.recovered sink-paused hooks');
  });

  it.each(pauses)('are sent once, after a pause of the machine %s', async (_, jump) => {
    const stage = await stages.open(kind);
    const scene = await withBacklog(stage);
    const other = openDesk(scene, 'other');
    await lookAndSend(other); // knows the receivers
    const clocks = new JumpingClocks();
    const paused = pausedAfterLeases(scene.ledger);
    const late = openDesk(scene, 'late', everything, { clocks, ledger: paused.ledger });
    await pauseByCause(scene);
    await late.check();
    await until('it has leased every receiver', () => paused.leases() === 3);
    await stage.db.query('update alert_receivers set leased_until = now()');
    await lookAndSend(other);
    jump(clocks);
    paused.wake();
    await late.sent();

    expect(told()).toEqual(['alert.raised sink-paused hooks']);
    expect([posted().length, mail.taken.length]).toEqual([1, 1]);
    const states = await stage.db.query('select failures, failing_since, owner from alert_receivers');
    expect(states).toEqual(Array.from({ length: 3 }, () => ({ failures: 0, failing_since: null, owner: null })));
  });

  it('reach a failed receiver in order when it works again, and delay no other receiver', async () => {
    const stage = await stages.open(kind);
    const scene = await withBacklog(stage);
    hook.answer(500, { 'retry-after': '3600' });
    await pauseByCause(scene);
    const desk = openDesk(scene, 'one');
    await lookAndSend(desk);
    await handleRequest(scene.ledger, { kind: 'sink', name: 'hooks' }, { do: 'resume' });
    await lookAndSend(desk, desk);
    expect([hook.asked(), posted().length, mail.taken.length]).toEqual([1, 2, 2]); // one request, then a wait
    const { receivers } = await desk.view();
    expect(receivers.map(({ waiting, failure }) => [waiting, failure === null])).toEqual([
      [0, true],
      [2, false],
      [0, true],
    ]);

    hook.answer(200);
    await desk.close();
    await stage.db.query('update alert_receivers set retry_at = now() where retry_at is not null');
    await lookAndSend(openDesk(scene, 'another'));
    expect(told()).toEqual(['alert.raised sink-paused hooks', 'alert.recovered sink-paused hooks']);
    expect(await stage.db.query('select 1 from alert_messages')).toEqual([]);
  });

  it('are sent by another process when the lease of a dead sender expires', async () => {
    const stage = await stages.open(kind);
    const scene = await withBacklog(stage);
    await pauseByCause(scene);
    hook.answer(null);
    // It dies when the message has been sent, so it does not note that the answer is missing after 20 s.
    const db = mortalDatabase(scene.ledger.db, () => hook.asked() > 0);
    const dying = openDesk(scene, 'dying', everything, { ledger: { ...scene.ledger, db } });
    await dying.check();
    await until('the message has been sent', () => hook.asked() > 0);
    const other = openDesk(scene, 'other');
    hook.answer(200);
    await stage.db.query(`update alert_receivers set leased_until = now() + interval '1 minute' where owner = 'dying'`);
    await lookAndSend(other);
    expect(told()).toEqual([]); // the lease is valid: the first request may still be answered
    await stage.db.query(`update alert_receivers set leased_until = now() where owner = 'dying'`);
    await lookAndSend(other);
    expect(told()).toEqual(['alert.raised sink-paused hooks']);
  });

  it('report dead letters and an aging backlog, with instructions', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('attendees', attendee(1), attendee(2));
    const scene = await stage.webhookScene();
    await stage.planAnswer({ status: 422, list: 'attendees', key: '2', count: 1 });
    await scene.settle();
    await stage.put('attendees', attendee(3));
    await stage.pollsAreDue();
    await scene.discover();
    await scene.read({ workspace: 'acme', pigeonholeId: 101 });
    await stage.db.query(`update changes set found_at = found_at - interval '2 minutes'`);
    await lookAndSend(openDesk(scene, 'one'));
    expect(told().toSorted()).toEqual(['alert.raised behind hooks', 'alert.raised dead-letters hooks']);
    for (const { data } of hook.taken) expect(data['todo']).toMatch(/\w/);
    const [sink] = (await statusOf(scene)).sinks;
    expect(sink!.dead).toEqual({ 'http:422': 1 });
  });

  it('name the answer of a destination that accepts nothing, the next attempt and the action, as the status does', async () => {
    const stage = await stages.open(kind);
    const scene = await withBacklog(stage);
    const desk = openDesk(scene, 'one', { ...everything, 'reading-late': false });
    await stage.planAnswer({ status: 429, retryAfter: '1800', count: 1000, body: 'slow down, Person 1' });
    await stage.put('attendees', attendee(3));
    await stage.pollsAreDue();
    await scene.settle();
    await stage.db.query(`update changes set found_at = found_at - interval '90 seconds'`);
    await lookAndSend(desk);

    const get = apiOf(scene);
    const [problem, ...more] = (JSON.parse(await get('/api/status')) as Status).problems;
    expect([problem!.code, more]).toEqual(['sink-failing', []]);
    const [, again] = / pigeonpost tries again (at .*? UTC)\./.exec(problem!.says!)!;
    expect(hook.taken.map(({ type, data }) => [type, data])).toEqual([
      [
        'alert.raised',
        expect.objectContaining({
          occasion: 'behind',
          problem: 'sink-failing',
          title: problem!.title,
          says: expect.stringMatching(
            new RegExp(`The destination answers HTTP 429 \\(Too Many Requests\\)\\. .* tries again ${again}\\.$`),
          ),
          todo: problem!.advice,
        }),
      ],
    ]);
    expect(problem!.advice).toContain('"pigeonpost try-now sink:hooks"');
    expect(await get('/metrics')).toMatch(/^pigeonpost_problems\{code="sink-failing"\} 1$/m);
    expect((await desk.view()).raised).toMatchObject([{ occasion: 'behind', problem: 'sink-failing' }]);
    expect(JSON.stringify([hook.taken, posted(), mail.taken])).not.toContain('Person 1');
  });

  it('report the first load of a sink as a backlog only if it makes no progress, and later changes by their age', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(1), attendee(2), attendee(3));
    const scene = await stage.webhookScene();
    const desk = openDesk(scene, 'one', { ...everything, 'reading-late': false }); // nothing is read in the meantime
    await scene.discover();
    await scene.read({ workspace: 'acme', pigeonholeId: 101 });
    await stage.timePasses(600_000);
    await stage.planAnswer({ status: 503, list: 'attendees', key: '3', count: 1000 });
    await scene.deliver('hooks');
    await lookAndSend(desk);
    expect([stage.received('attendees').length, told()]).toEqual([2, []]);
    await stage.timePasses(61_000);
    await lookAndSend(desk);
    expect(told()).toEqual(['alert.raised behind hooks']);
    expect((await desk.view()).raised).toMatchObject([{ isOver: false }]);

    await stage.forgetAnswers();
    await stage.retriesAreDue();
    await scene.settle();
    await lookAndSend(desk);
    expect((await desk.view()).raised).toMatchObject([{ isOver: true }]);
    await lookAndSend(desk);
    expect(told()).toEqual(['alert.raised behind hooks', 'alert.recovered behind hooks']);
    await stage.put('attendees', attendee(4));
    await stage.pollsAreDue();
    await scene.read({ workspace: 'acme', pigeonholeId: 101 });
    await stage.timePasses(61_000);
    await lookAndSend(desk);
    expect(told().at(-1)).toBe('alert.raised behind hooks');
  });

  it('report an unreachable service by default, as one incident with the wording of the status, and report its recovery', async () => {
    const stage = await stages.open(kind);
    let passedMs = 0;
    const scene = await withBacklog(stage, { now: () => performance.now() + passedMs });
    const desk = openDesk(scene, 'one', byDefault);
    const problems = async () => (await statusOf(scene)).problems;
    await stage.fault({ kind: 'dropBefore' });
    for (passedMs of [0, 3000]) {
      await stage.pollsAreDue();
      await scene.read({ workspace: 'acme', pigeonholeId: 101 });
    }
    expect((await problems()).map(({ code }) => code)).toEqual(['service-down']);
    await lookAndSend(desk);
    expect(told()).toEqual([]); // the condition may end soon
    await stage.timePasses(60_000);
    await lookAndSend(desk);
    const [problem, ...more] = await problems();
    expect([problem!.code, more]).toEqual(['service-down', []]);
    expect(problem!.title).toMatch(/^The service has not answered workspace acme since .* UTC; \d+ lists wait$/);
    expect(hook.taken.map(({ data }) => [data['title'], data['says'], data['todo']])).toEqual([
      [problem!.title, problem!.says, problem!.advice],
    ]);
    expect(scene.logText()).toContain('The service has not answered workspace acme since ');
    expect(scene.logText()).not.toContain('stream cannot be read');

    await stage.control('DELETE', 'faults');
    expect(await tryNow(scene.ledger, { kind: 'workspace', name: 'acme', key: null })).toBeUndefined();
    await scene.read({ workspace: 'acme', pigeonholeId: 101 });
    await lookAndSend(desk, desk);
    expect((await problems()).map(({ code }) => code)).not.toContain('service-down');
    expect(told()).toEqual(['alert.raised service-down acme', 'alert.recovered service-down acme']);
  });

  it('report a quota that will not last, then that it is used up and until when, then that it is renewed', async () => {
    const stage = await stages.open(kind);
    const scene = await withBacklog(stage);
    const desk = openDesk(scene, 'one');
    const { ledger, config } = scene.deps;
    const status = async () => await statusOf(scene, { quotas: () => viewQuotas(config, ledger, Date.now()) });
    const place = { workspace: 'acme', pigeonholeId: 101 };
    await stage.control('PATCH', 'knobs', { quota: { limit: 30, windowSeconds: 1800, headers: true } });
    await stage.control('DELETE', 'quota');
    await stage.pollsAreDue();
    await scene.read(place);
    await lookAndSend(desk);
    expect(told()).toEqual(['alert.raised quota-short acme']);
    await until('the quota is used up', async () => {
      await stage.pollsAreDue();
      return (await scene.read(place)).state === 'waiting';
    });
    await lookAndSend(desk, desk);
    expect(told().slice(1)).toEqual(['alert.raised quota-used-up acme']);
    const { problems, workspaces } = await status();
    expect(problems).toMatchObject([{ code: 'quota-used-up', severity: 'error', stops: true }]);
    expect(hook.taken[1]!.data).toMatchObject({
      title: problems[0]!.title,
      says: `pigeonpost reads nothing of the workspace until ${formatInstant(workspaces[0]!.until)}, then tries again and continues where it stopped.`,
      todo: expect.stringContaining('"pigeonpost try-now workspace:acme"'),
    });

    await stage.control('PATCH', 'knobs', { quota: { limit: 1_000_000, windowSeconds: 86_400, headers: true } });
    await stage.control('DELETE', 'quota');
    await stage.timePasses(1_801_000); // the service reports the end of the window in whole seconds, rounded up
    await stage.pollsAreDue();
    await scene.settle();
    await lookAndSend(desk, desk);
    expect(told().slice(2).toSorted()).toEqual([
      'alert.recovered quota-short acme',
      'alert.recovered quota-used-up acme',
    ]);
  });

  it('combine 200 workspaces with refused keys into one message, and their recovery into another one', async () => {
    const stage = await stages.open(kind);
    const scene = await withBacklog(stage);
    const names = Array.from({ length: 200 }, (_, n) => `w${n}`);
    const { config } = scene.deps;
    const workspaces = Object.fromEntries(names.map((name) => [name, config.workspaces['acme']!]));
    const desk = openDesk({ ...scene, deps: { ...scene.deps, config: { ...config, workspaces } } }, 'one');
    await stage.db.query(
      `insert into pauses (scope, name, paused_by, cause, detail)
       select 'workspace', name, 'cause', 'credential', 'refused' from unnest($1::text[]) as n (name)`,
      [names],
    );
    await lookAndSend(desk, desk);
    expect(hook.taken.map(({ type, data }) => [type, data['title'], data['subjects']])).toEqual([
      ['alert.raised', '200 workspaces are paused', names],
    ]);
    const { raised } = await desk.view();
    expect(raised.map(({ subject }) => subject).toSorted()).toEqual(names.toSorted());

    await stage.db.query('delete from pauses');
    await lookAndSend(desk, desk, desk);
    expect(hook.taken.slice(1).map(({ data }) => data['title'])).toEqual(['200 workspaces are no longer paused']);
    expect([posted().length, mail.taken.length]).toEqual([2, 2]);
    expect((await desk.view()).raised).toEqual([]);
  });

  it('omit the kinds that no receiver selects', async () => {
    const stage = await stages.open(kind);
    const scene = await withBacklog(stage);
    await pauseByCause(scene);
    const desk = openDesk(scene, 'one', { ...everything, 'sink-paused': false });
    await lookAndSend(desk, desk);
    expect(told()).toEqual([]);
    expect(await desk.test()).toMatchObject([{ delivered: true }, { delivered: true }, { delivered: true }]);
    expect(told()).toEqual(['alert.test test ']);
  });
});
