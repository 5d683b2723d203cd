import type { Config } from '../../config/config.js';
import { Secret } from '../../config/secret.js';
import { openLedger } from '../../ledger/ledger.js';
import { testKey } from '../../ledger/ledger-key.test-kit.js';
import { handleRequest } from '../../operations/act.js';
import { AlertDesk } from '../../operations/alerts/alert-desk.js';
import { type HookServer, startHookServer } from '../../operations/alerts/hook-server.test-kit.js';
import { defaultRateLimit } from '../../operations/alerts/judge-alert.js';
import { attendToStatements, type StatementDeps } from '../../operations/statement/statement-desk.js';
import { watchReading } from '../../operations/statement/watch-reading.js';
import { attendee } from '../kit/items.js';
import { mortalDatabase, ProcessDied } from '../kit/mortal-database.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { pigeonhole, type Stage, useStages } from '../kit/stage.js';
import { makeStatement, statementDeps } from '../kit/statement.js';

const stages = useStages();
const hookSecret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const hourMs = 3_600_000;
let hook: HookServer;
const desks: AlertDesk[] = [];
beforeEach(async () => {
  hook = await startHookServer(hookSecret);
});
afterEach(async () => {
  for (const desk of desks.splice(0)) await desk.close();
  await hook.close();
});

const silent = {
  'service-down': false,
  'reading-late': false,
  withholding: false,
  parity: false,
  'nightly-export': false,
  'quota-used-up': false,
} as const;

/** Returns a process that makes closing statements an hour after the end of an event. */
function processOf(scene: Scene, when: object = { 'closing-statement': hourMs }): StatementDeps {
  const deps = statementDeps(scene);
  const to = [{ type: 'webhook', url: hook.url, secret: new Secret(hookSecret) }];
  return { ...deps, config: { ...deps.config, alerts: { to, when: { ...silent, ...when } } as Config['alerts'] } };
}

function deskOf(deps: StatementDeps, owner: string): AlertDesk {
  const desk = new AlertDesk({
    sources: () => deps,
    owner,
    isAlone: false,
    publicUrl: () => 'https://pigeonpost.example.com',
    log: deps.log,
    times: { checkEveryMs: 0, calm: { firstMs: 0, longestMs: 0, forgetMs: hourMs }, pace: defaultRateLimit },
  });
  desks.push(desk);
  return desk;
}

async function check(...from: readonly AlertDesk[]): Promise<void> {
  for (const desk of from) {
    await desk.check();
    await desk.sent();
  }
}

/** Reads an event that ended two hours ago. */
async function endedEvent(stage: Stage): Promise<Scene> {
  await stage.put('attendees', attendee(1), attendee(2));
  const scene = await stage.scene();
  await scene.settle();
  await stage.patch('pigeonholes', pigeonhole, { status: 'ended' });
  await stage.sweepsAreDue();
  await scene.settle();
  await stage.db.query(`update pigeonholes set ended_at = now() - interval '2 hours' where pigeonhole_id <> 0`);
  await scene.save();
  return scene;
}

const attend = (deps: StatementDeps): Promise<void> =>
  attendToStatements(deps, { wakeReaders: () => undefined, wakeSinks: async () => undefined });
const statements = async ({ ledger }: Pick<Scene, 'ledger'>): Promise<unknown[]> =>
  await ledger.db.query('select occasion, completed_at is not null as done from statements order by number');

describe.each(kinds)('the closing statement of an event, on %s', (kind) => {
  it('is made and sent once, by whichever processes run', async () => {
    const stage = await stages.open(kind);
    const scene = await endedEvent(stage);
    const processes = [processOf(scene), processOf(scene)];
    const [one, other] = processes.map((deps, n) => deskOf(deps, `desk ${n}`));
    await check(one!, other!);
    await Promise.all(processes.map(attend));
    expect(await statements(scene)).toEqual([{ occasion: 'closing', done: false }]);
    await scene.settle();
    await scene.save();
    await Promise.all(processes.map(attend));
    await check(one!, other!, one!, other!);
    await Promise.all(processes.map(attend));
    await check(one!, other!);
    expect(await statements(scene)).toEqual([{ occasion: 'closing', done: true }]);
    expect(hook.taken.map(({ type, data }) => [type, data.occasion, data.title, data.link])).toEqual([
      [
        'alert.happened',
        'closing-statement',
        `The closing statement of event acme/${pigeonhole} is ready: every item is accounted for`,
        'https://pigeonpost.example.com/#/statements/1',
      ],
    ]);
  });

  it('is not made by default, before its time, or long after the end', async () => {
    const stage = await stages.open(kind);
    const scene = await endedEvent(stage);
    await attend(processOf(scene, {}));
    await attend(processOf(scene, { 'closing-statement': 3 * hourMs }));
    await stage.timePasses(30 * 24 * hourMs);
    await attend(processOf(scene));
    expect(await statements(scene)).toEqual([]);
  });

  it('is made and sent once if the process dies at any statement', async () => {
    const stage = await stages.open(kind);
    const scene = await endedEvent(stage);
    const whole = processOf(scene);
    await check(deskOf(whole, 'first'));
    // The request and the statement itself: one process after another dies, each a little later than the last.
    for (const settle of [false, true]) {
      if (settle) {
        await scene.settle();
        await scene.save();
      }
      for (let n = 1; ; n += 1) {
        let died = false;
        const db = mortalDatabase(stage.db, (moment) => (died ||= moment.n >= n));
        try {
          await attend({ ...whole, ledger: { ...whole.ledger, db } });
        } catch (error) {
          if (!(error instanceof ProcessDied) && !died) throw error;
        }
        if (!died) break;
      }
    }
    expect(await statements(scene)).toEqual([{ occasion: 'closing', done: true }]);
    for (let n = 1; n <= 40; n += 1) {
      let died = false;
      const db = mortalDatabase(stage.db, (moment) => (died ||= moment.n >= n));
      const desk = deskOf({ ...whole, ledger: { ...whole.ledger, db } }, `desk ${n}`);
      await desk.check().catch(() => undefined);
      await desk.sent();
      if (!died) break;
      await stage.db.query(`update alert_receivers set owner = null, leased_until = null, retry_at = null where true`);
    }
    await check(deskOf(whole, 'last'));
    expect(new Set(hook.taken.map(({ id }) => id)).size).toBe(1);
  });

  it('is signed with the same key after a restart', async () => {
    const stage = await stages.open(kind);
    const scene = await stage.scene();
    const again = await openLedger(stage.db, testKey);
    expect(again.signing.publicKey.toString()).toBe(scene.ledger.signing.publicKey.toString());
  });
});

describe.each(kinds)('the coverage of time in a statement, on %s', (kind) => {
  it('has what interrupted the reading, also a time in which nothing ran', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(1));
    const scene = await stage.scene();
    await scene.settle();
    const deps = { ...statementDeps(scene), upMs: () => 1000 }; // a list that is overdue after a start is not late
    const workspace = { kind: 'workspace', name: 'acme' } as const;
    await watchReading(deps, 0);
    await handleRequest(scene.ledger, workspace, { do: 'pause', reason: 'maintenance' });
    await watchReading(deps, 0);
    await watchReading(deps, 0);
    await stage.timePasses(30_000);
    await handleRequest(scene.ledger, workspace, { do: 'resume' });
    await watchReading(deps, 0);
    await stage.timePasses(20 * 60_000);
    await watchReading(deps, 0);
    await stage.pollsAreDue();
    await scene.settle();
    await watchReading(deps, 0);

    const { coverage } = (await makeStatement(scene)).statement;
    expect(coverage.interruptions.map(({ cause, seconds }) => [cause, Math.round(seconds / 10) * 10])).toEqual([
      ['paused', 30],
      ['stopped', 1200],
    ]);
    expect(coverage.readAfterwards).toBe(true);
  });
});
