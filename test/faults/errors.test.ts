import { Secret } from '../../config/secret.js';
import { discoverWorkspace } from '../../reading/discover.js';
import { readPigeonhole } from '../../reading/read-pigeonhole.js';
import { kinds } from '../kit/scenario-kinds.js';
import { hasPostgres } from '../postgres.js';
import { allPauses } from '../../ledger/pauses.js';
import { type ApiErrorKind, errorKinds } from '../../pigeonhole/api-error.js';
import { createPigeonholeClient } from '../../pigeonhole/client.js';
import { attendee, pollVote, session } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { archived, pigeonhole, type Stage, useStages } from '../kit/stage.js';

const stages = useStages();
const place = { workspace: 'acme', pigeonholeId: pigeonhole };
const never = new AbortController().signal;

/** Effect of an error while attendees are read: the stream or the whole workspace waits, within these bounds. */
type Effect =
  | { readonly who: 'stream'; readonly atLeastMs: number; readonly atMostMs: number }
  | { readonly who: 'workspace'; readonly reason: string; readonly atLeastMs: number; readonly atMostMs: number };

const second = 1000;
const minute = 60 * second;
const retried: Effect = { who: 'stream', atLeastMs: 0, atMostMs: second };
const brokenContract: Effect = { who: 'stream', atLeastMs: 0, atMostMs: 16 * second };
const throttled: Effect = { who: 'workspace', reason: 'throttled', atLeastMs: 0, atMostMs: second };

const byCode: Readonly<Record<number, Effect>> = {
  4500: retried,
  4501: { who: 'workspace', reason: 'credential', atLeastMs: 25 * second, atMostMs: 30 * second },
  4502: retried,
  4503: retried,
  4504: retried,
  4505: retried,
  4506: retried,
  4507: retried,
  4508: retried,
  4509: retried,
  4510: retried,
  4511: retried,
  4512: retried,
  5000: retried,
  6000: retried,
  7001: retried,
  8000: { who: 'workspace', reason: 'quota', atLeastMs: 55 * second, atMostMs: minute },
  9000: retried,
};

const kindOf = (code: string): ApiErrorKind => errorKinds.get(Number(code))!;

const others: readonly (readonly [string, object, Effect])[] = [
  ['a connection that closes before anything happened', { kind: 'dropBefore' }, retried],
  ['a connection that closes after the effect', { kind: 'dropAfter' }, retried],
  ['a body that is cut short', { kind: 'cutBody' }, retried],
  ['a page of HTML that claims to be JSON', { kind: 'htmlBody' }, retried],
  ['a page of another type', { kind: 'wrongContentType' }, brokenContract],
  ['a plain 503', { kind: 'text503' }, throttled],
  [
    'a plain 503 with Retry-After',
    { kind: 'text503', retryAfterSeconds: 40 },
    { ...throttled, atLeastMs: 35 * second, atMostMs: 40 * second },
  ],
  [
    'a plain 503 with a Retry-After in the past',
    { kind: 'text503', retryAfterDateSeconds: -3600 },
    { ...throttled, atLeastMs: second / 2, atMostMs: second },
  ],
  [
    'a plain 503 with a negative Retry-After',
    { kind: 'text503', retryAfterText: '-5' },
    { ...throttled, atLeastMs: second / 4, atMostMs: second },
  ],
  [
    '8000 with Retry-After',
    { kind: 'error', code: 8000, retryAfterSeconds: 300 },
    { who: 'workspace', reason: 'quota', atLeastMs: 290 * second, atMostMs: 300 * second },
  ],
  ['5000 under status 200', { kind: 'error', code: 5000, status: 200 }, retried],
  [
    '8000 under status 500',
    { kind: 'error', code: 8000, status: 500 },
    { who: 'workspace', reason: 'quota', atLeastMs: 55 * second, atMostMs: minute },
  ],
  ['502 with the code of a failure', { kind: 'error', code: 5000, status: 502 }, retried],
  ['an unknown code with status 404', { kind: 'error', code: 4999, status: 404 }, retried],
  ['an unknown code with status 500', { kind: 'error', code: 5999, status: 500 }, retried],
];

/** One code of each kind: pigeonhole/answer.test.ts tests which kind each code is. */
const cases = [
  ...Object.entries(byCode)
    .filter(([code], n, all) => all.findIndex(([one]) => kindOf(one) === kindOf(code)) === n)
    .map(([code, effect]) => [code, { kind: 'error', code: Number(code) }, effect] as const),
  ...others,
];

/** PostgreSQL runs all cases. The decision does not depend on the store, so the slower one runs each effect once. */
const casesOn = {
  postgres: cases,
  embedded: hasPostgres()
    ? cases.filter(([, , effect], n) => cases.findIndex((one) => one[2] === effect) === n)
    : cases,
};

/** Opens a stage with attendees and a vote that does not wait for them. */
async function smallStage(kind: (typeof kinds)[number]): Promise<{ stage: Stage; scene: Scene }> {
  const stage = await stages.open(kind);
  await stage.put('sessions', session(1));
  await stage.put('attendees', attendee(1));
  const scene = await stage.scene();
  await scene.settle();
  await stage.put('attendees', attendee(2));
  await stage.put('poll-mcq-votes', pollVote(51, { id: 1, anonymous: false }, 1));
  await stage.pollsAreDue();
  return { stage, scene };
}

/** Bounds of a wait: the minimum counts from an instant before its start, the maximum from now. */
interface Wait {
  readonly sinceMs: number;
  readonly leftMs: number;
}

const waitUntil = (instant: string): string =>
  `extract(epoch from ${instant} - $1::timestamptz)::float8 * 1000 as "sinceMs",
   extract(epoch from ${instant} - clock_timestamp())::float8 * 1000 as "leftMs"`;

async function streamWaits(stage: Stage, since = 'now'): Promise<(Wait & { list: string; failures: number })[]> {
  return await stage.db.query(`select list, failures, ${waitUntil('due_at')} from streams where failures > 0`, [since]);
}

async function workspaceWait(stage: Stage, since: string): Promise<Wait> {
  const [row] = await stage.db.query<Wait>(`select ${waitUntil('wait_until')} from workspaces`, [since]);
  return row!;
}

async function timePasses(stage: Stage): Promise<void> {
  await stage.db.query(`update workspaces set wait_until = now() where wait_until > now()`);
  await stage.db.query(
    `update quotas set ask_at = case when ask_at is not null then now() end,
       reset_at = case when reset_at is not null then now() end`,
  );
  await stage.pollsAreDue();
}

async function showsEffect(stage: Stage, scene: Scene, effect: Effect, since: string): Promise<void> {
  const failing = await streamWaits(stage, since);
  if (effect.who === 'stream') {
    expect(failing.map(({ list }) => list)).toEqual(['attendees']);
    const [{ sinceMs, leftMs, failures }] = failing as [(typeof failing)[number]];
    expect(sinceMs).toBeGreaterThan(effect.atLeastMs);
    // A short wait can end before the cycle does, so that the request was repeated and failed again.
    expect(leftMs).toBeLessThanOrEqual(effect.atMostMs * 2 ** (failures - 1));
    await scene.deliver('archive');
    expect(archived(scene, 'poll-mcq-votes')).toHaveLength(1); // the vote did not wait
  } else {
    expect(failing).toEqual([]);
    const turn = await scene.read(place);
    if (effect.atLeastMs === 0 && turn.state === 'working') return; // the short wait has already ended
    expect(turn).toMatchObject({ state: 'waiting', reason: effect.reason, pages: 0 });
    expect((await workspaceWait(stage, since)).sinceMs).toBeGreaterThan(effect.atLeastMs);
    expect(turn.nextDueInMs).toBeLessThanOrEqual(effect.atMostMs);
  }
}

describe.each(kinds)('an error of the service, on %s', (kind) => {
  it('has a defined effect for every code', () => {
    expect(Object.keys(byCode).map(Number)).toEqual([...errorKinds.keys()]);
  });

  it.each(casesOn[kind])('delays only the affected stream or workspace: %s', async (_, fault, effect) => {
    const { stage, scene } = await smallStage(kind);
    await stage.fault({ list: 'attendees', ...fault });
    const [before] = await stage.db.query<{ now: string }>('select clock_timestamp()::text as now');
    await scene.read(place);
    await showsEffect(stage, scene, effect, before!.now);

    await stage.control('DELETE', 'faults');
    await timePasses(stage);
    await scene.settle();
    expect(archived(scene, 'attendees').map(({ key }) => key)).toEqual(['1', '2']);
    expect(archived(scene, 'poll-mcq-votes')).toHaveLength(1);
    expect(await streamWaits(stage)).toEqual([]);
    expect(await allPauses(scene.ledger)).toEqual([]);
  });

  it('causes only a few log lines even if it lasts for hours', async () => {
    // More streams and cycles than allowed lines.
    const turns = 12;
    for (const fault of [{ kind: 'dropBefore' }, { kind: 'error', code: 5000 }, { kind: 'text503' }]) {
      const stage = await stages.open(kind);
      await stage.put('sessions', ...Array.from({ length: 2 }, (_, n) => session(n + 1)));
      await stage.put('attendees', attendee(1));
      let passedMs = 0;
      const scene = await stage.scene({ gate: { now: () => performance.now() + passedMs } });
      await scene.settle();
      const before = scene.logText().split('\n').length;
      await stage.fault(fault);
      await stage.control('DELETE', 'requests');
      for (let turn = 0; turn < turns; turn += 1) {
        await timePasses(stage);
        passedMs += 15 * minute;
        await scene.read(place);
      }
      const tries = ((await stage.control('GET', 'state'))['requests'] as { total: number }).total;
      expect(tries).toBeGreaterThanOrEqual(turns);
      await stage.control('DELETE', 'faults');
      await stage.put('attendees', attendee(2));
      await timePasses(stage);
      await scene.settle();
      const lines = scene
        .logText()
        .split('\n')
        .slice(before)
        .filter((line) => !line.includes('"level":"debug"') && !line.includes('page stored'));
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.length).toBeLessThanOrEqual(8);
      expect(archived(scene, 'attendees')).toHaveLength(2);
      await stage.control('DELETE', 'faults');
    }
  });

  it('caused by a wrong key pauses only the workspace of that key', async () => {
    const stage = await stages.open(kind, { apiKeys: ['sandbox-key', 'other-key'] });
    await stage.put('attendees', attendee(1));
    const scene = await stage.scene();
    const acme = scene.deps.config.workspaces['acme']!;
    const other = createPigeonholeClient({ baseUrl: stage.sandbox.baseUrl, apiKey: 'other-key' });
    try {
      const { events } = scene.deps.config.syncs;
      const deps = {
        ...scene.deps,
        clients: new Map([...scene.deps.clients, ['other', other]]),
        config: {
          ...scene.deps.config,
          workspaces: { acme, other: { ...acme, apiKey: new Secret('other-key') } },
          syncs: { events: events!, more: { ...events!, workspace: 'other' } },
        },
      };
      for (const workspace of ['acme', 'other']) {
        await discoverWorkspace(deps, workspace, never);
        await readPigeonhole(deps, { workspace, pigeonholeId: pigeonhole }, never);
      }
      await stage.control('POST', 'keys', { accepted: ['other-key'] });
      await stage.put('attendees', attendee(2));
      await stage.pollsAreDue();
      await readPigeonhole(deps, place, never);
      const turn = await readPigeonhole(deps, { workspace: 'other', pigeonholeId: pigeonhole }, never);
      expect(turn).toMatchObject({ state: 'working', created: 1 });
      expect(await readPigeonhole(deps, place, never)).toMatchObject({ state: 'waiting', reason: 'credential' });
      expect(await allPauses(scene.ledger)).toMatchObject([{ scope: 'workspace', name: 'acme', cause: 'credential' }]);
    } finally {
      await other.close();
    }
  });
});
