import { randomUUID } from 'node:crypto';
import { setTimeout as passes } from 'node:timers/promises';
import type { Collaborators } from '../../cycles/collaborators.js';
import { deliverToSink } from '../../delivering/deliver-to-sink.js';
import { forgetAttendee } from '../../delivering/forget-attendee.js';
import { readPigeonhole } from '../../reading/read-pigeonhole.js';
import type { Database } from '../../ledger/drivers/database.js';
import { type Ledger, openLedger } from '../../ledger/ledger.js';
import { testKey } from '../../ledger/ledger-key.test-kit.js';
import { adoptConfiguration, releaseSelected } from '../../delivering/adopt-configuration.js';
import { notSelected } from '../../delivering/decide-delivery.js';
import { redriveDeadLetters } from '../../delivering/dead-letters.js';
import { acquireLane } from '../../ledger/lanes-leased.js';
import { pause, resume } from '../../ledger/pauses.js';
import { pigeonholeNumberOf } from '../../ledger/pigeonholes.js';
import { requestReplay } from '../../delivering/replays.js';
import { expireSlice } from '../../people/retention.js';
import { trySinkNow } from '../../delivering/sink-breaker.js';
import { registerSinks } from '../../ledger/sinks.js';
import { pollNow, replanStreams, sweepNow } from '../../ledger/streams-due.js';
import { askToForget } from '../kit/forget.js';
import { delayedDatabase, heldDatabase, untilOverOrWaiting } from '../kit/held-database.js';
import { attendee, question, session, vote } from '../kit/items.js';
import { seededRandom } from '../kit/random.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { everyone, pigeonhole, type Stage, useStages } from '../kit/stage.js';
import { until } from '../until.js';

const stages = useStages();
const never = new AbortController().signal;
const place = { workspace: 'acme', pigeonholeId: pigeonhole };
const people = Array.from({ length: 24 }, (_, index) => index + 11);
const rounds = 6;

/** Wraps a store so that transactions pause between statements, as on a busy machine, and overlap. */
function slowed(inner: Database, seed: number): Database {
  const random = seededRandom(seed);
  return delayedDatabase(inner, () => passes(random() * 4));
}

/** Returns the failures of a cycle. A lease that was lost to another holder is not a failure. */
async function failureOf(turn: () => Promise<unknown>): Promise<string[]> {
  try {
    await turn();
    return [];
  } catch (error) {
    return (error as { kind?: string }).kind === 'stale' ? [] : [`${turn.toString().slice(0, 80)}: ${String(error)}`];
  }
}

const onServer = kinds.filter((kind) => kind === 'postgres');

interface Pair {
  readonly stage: Stage;
  readonly scene: Scene;
  readonly pigeonholeNumber: number;
  readonly sinkId: number;
}

/** Two concurrent steps: `first` is held before a statement until `second` waits for it or has ended. */
const pairs: readonly {
  readonly name: string;
  readonly moment: string;
  readonly first: (pair: Pair, ledger: Ledger) => Promise<unknown>;
  readonly second: (pair: Pair) => Promise<unknown>;
}[] = [
  {
    name: 'a sink is tried immediately while dead letters are redriven',
    moment: 'update lanes l set due_at',
    first: (_, ledger) => trySinkNow(ledger, 'hooks'),
    second: ({ scene }) => redriveDeadLetters(scene.ledger, {}),
  },
  {
    name: 'the sinks of another configuration are registered while dead letters are redriven',
    moment: 'update lanes set observed',
    first: ({ sinkId }, ledger) => (expect(sinkId).toBeGreaterThan(0), registerSinks(ledger, [hooks])),
    second: ({ scene }) => redriveDeadLetters(scene.ledger, {}),
  },
  {
    name: 'a lane adopts another configuration while records are selected again',
    moment: 'with recursive slice',
    first: async ({ pigeonholeNumber, sinkId }, ledger) => {
      const lease = await acquireLane(ledger, { sinkId, pigeonholeNumber, owner: 'test', leaseMs: 60_000 });
      const wishes = { configuration: 1, lists: ['pigeonholes'], released: [notSelected], settings: null };
      await adoptConfiguration(ledger, lease!, wishes);
    },
    second: ({ scene, pigeonholeNumber, sinkId }) =>
      releaseSelected(scene.ledger, { sinkId, workspaceNumber: pigeonholeNumber, selected: ['withheld'] }),
  },
  {
    name: 'a page is stored while retention runs',
    moment: 'insert into items (pigeonhole_number, list, stream_id, seen_at, key',
    first: async ({ stage, scene }, ledger) => {
      await stage.patch('questions', 1011, { question: { id: 1011, content: 'edited', status: 'approved' } });
      await stage.sweepsAreDue();
      await readPigeonhole({ ...scene.deps, ledger }, place, never);
    },
    second: ({ scene, pigeonholeNumber }) =>
      expireSlice(scene.ledger, { pigeonholeNumber, list: 'questions', after_key: '' }, { changesMs: 0 }),
  },
  {
    name: 'a page is stored while reads are planned again',
    moment: 'insert into items (pigeonhole_number, list, stream_id, seen_at, key',
    first: async ({ stage, scene }, ledger) => {
      await stage.patch('questions', 1011, { question: { id: 1011, content: 'edited', status: 'approved' } });
      await stage.db.query(
        `update streams set sweep_due_at = now(), due_at = now() + interval '9 minutes' * (list <> 'questions')::int`,
      );
      await readPigeonhole({ ...scene.deps, ledger }, place, never);
    },
    second: async ({ scene }) => {
      expect(await replanStreams(scene.ledger, 'acme', { live: 1, idle: 1, untilMs: 0 })).toBeGreaterThan(0);
    },
  },
  {
    name: 'a pause of a workspace is stored again while it is lifted',
    moment: 'with locked as materialized',
    first: async ({ scene }, ledger) => {
      await pause(scene.ledger, { ...refusedKey, detail: 'first' });
      await resume(ledger, 'workspace', 'acme', 'cause');
    },
    second: ({ scene }) => pause(scene.ledger, { ...refusedKey, detail: 'second' }),
  },
];
const refusedKey = {
  scope: 'workspace',
  name: 'acme',
  pausedBy: 'cause',
  cause: 'credential',
  fingerprint: 'key',
} as const;
const hooks = { name: 'hooks', type: 'webhook', historyMs: null, observing: false, destination: 'elsewhere' };

(onServer.length > 0 ? describe : describe.skip)('locks on PostgreSQL', () => {
  it.each(pairs)('cause no deadlock: $name', async ({ moment, first, second }) => {
    const stage = await stages.open('postgres');
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('attendees', attendee(11));
    await stage.put(
      'questions',
      question(1011, 11, 1, { question: { id: 1011, content: 'asked', status: 'approved' } }),
    );
    const scene = await stage.webhookScene(everyone);
    await scene.settle();
    const pigeonholeNumber = await pigeonholeNumberOf(scene.ledger, place.workspace, pigeonhole);
    const pair = { stage, scene, pigeonholeNumber, sinkId: scene.deps.sinks.get('hooks')!.id };
    await stage.db.query(`update sinks set retry_at = now() + interval '1 hour'`);
    await stage.db.query('update lanes set observed = 0');
    await stage.db.query(`update deliveries set state = 'dead', reason = 'refused' where list = 'questions'`);
    await stage.db.query(
      `update deliveries set state = 'withheld', reason = $1, list = 'pigeonholes', key = 'withheld' where list = 'sessions'`,
      [notSelected],
    );
    const held = heldDatabase(stage.db, (sql) => sql.startsWith(moment));
    const one = failureOf(async () => first(pair, await openLedger(held.db, testKey)));
    await until('the first is held', () => held.isHeld());
    const other = failureOf(() => second(pair));
    await untilOverOrWaiting(stage.db, 'the second is done, or waits', other);
    held.letGo();
    expect([...(await one), ...(await other)]).toEqual([]);
    expect(scene.logText()).not.toContain('"error":"StoreError');
  });

  it('are taken in the same order by all concurrent steps, so that none is ended as a deadlock', async () => {
    const stage = await stages.open('postgres');
    await stage.put('sessions', session(1, { anonymousResponses: false }), session(2));
    await stage.put('attendees', ...people.map((id) => attendee(id)));
    const copied = (id: number) => ({ question: { id, content: `asked ${id}`, status: 'approved' } });
    await stage.put('questions', ...people.map((id) => question(1000 + id, id, 1, copied(1000 + id))));
    await stage.put('votes', ...people.map((id) => vote(1000 + id, id + 1, 1, copied(1000 + id))));
    const scene = await stage.webhookScene(everyone, {
      sinks: { archive: `{ type: file, folder: ./archive, ${everyone} }` },
    });
    await scene.discover();
    await scene.read(place);
    await stage.planAnswer({ status: 422, list: 'votes', count: 5 });
    const ledger = await openLedger(slowed(stage.db, 7), testKey);
    const deps: Collaborators = { ...scene.deps, ledger };
    const [{ pigeonholeNumber }] = (await stage.db.query<{ pigeonholeNumber: number }>(
      `select pigeonhole_number as "pigeonholeNumber" from pigeonholes where pigeonhole_id = ${pigeonhole}`,
    )) as [{ pigeonholeNumber: number }];
    const sinks = [...deps.sinks.values()];
    const erasures: string[] = [];
    const asked = people.slice(0, rounds);
    const beside: (() => Promise<unknown>)[] = [
      () => deliverToSink(deps, 'hooks', never),
      () => deliverToSink(deps, 'archive', never),
      async () => {
        const id = asked.shift();
        if (id !== undefined) erasures.push(await askToForget(scene, { by: 'id', text: String(id) }));
        for (const erasure of erasures) await forgetAttendee(deps, erasure, never);
      },
      async () => {
        await stage.patch('sessions', 1, { anonymousResponses: asked.length % 2 === 0 });
        await sweepNow(ledger, pigeonholeNumber, null);
        await readPigeonhole(deps, place, never);
      },
      () => redriveDeadLetters(ledger, {}),
      () => trySinkNow(ledger, 'hooks'),
      () => trySinkNow(ledger, 'archive'),
      () => pollNow(ledger, pigeonholeNumber),
      () => expireSlice(ledger, { pigeonholeNumber, list: 'votes', after_key: '' }, { changesMs: 0 }),
      () => expireSlice(ledger, { pigeonholeNumber, list: 'changes', after_key: '' }, { changesMs: 0 }),
      () =>
        requestReplay(ledger, {
          id: randomUUID(),
          lanes: sinks.map(({ id }) => ({ sinkId: id, pigeonholeNumber, total: 1 })),
          lists: null,
          from: null,
          by: null,
          reason: null,
        }),
      () =>
        registerSinks(
          ledger,
          sinks.map(({ name }) => ({
            name,
            type: name === 'hooks' ? 'webhook' : 'file',
            historyMs: null,
            observing: false,
            destination: name,
          })),
        ),
    ];
    const failures: string[] = [];
    await Promise.all(
      beside.map(async (turn) => {
        for (let round = 0; round < rounds; round += 1) failures.push(...(await failureOf(turn)));
      }),
    );

    expect(failures).toEqual([]);
    expect(scene.logText()).not.toContain('"error":"StoreError');
    expect(erasures).toHaveLength(rounds);
  });
});
