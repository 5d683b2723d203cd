import fc from 'fast-check';
import { deliverToSink } from '../../delivering/deliver-to-sink.js';
import { discoverWorkspace } from '../../reading/discover.js';
import { readPigeonhole } from '../../reading/read-pigeonhole.js';
import type { OpenSink } from '../../cycles/collaborators.js';
import { kinds } from '../kit/scenario-kinds.js';
import { attendee, qnaQuestion, question, session, vote } from '../kit/items.js';
import { mortalDatabase, ProcessDied } from '../kit/mortal-database.js';
import type { Scene } from '../kit/scene.js';
import { archive, everyone, pigeonhole, type Stage, useStages } from '../kit/stage.js';
import { truthOf } from '../kit/truth.js';

const stages = useStages();
const place = { workspace: 'acme', pigeonholeId: pigeonhole };
const never = new AbortController().signal;

/** Mutations in the service between two cycles. People, questions and votes are few, so that they often coincide. */
const event = fc.oneof(
  fc.record({ kind: fc.constant('sign-in' as const), id: fc.integer({ min: 1, max: 6 }), name: fc.nat(3) }),
  fc.record({
    kind: fc.constant('ask' as const),
    id: fc.integer({ min: 11, max: 14 }),
    by: fc.integer({ min: 1, max: 6 }),
    text: fc.nat(3),
  }),
  fc.record({
    kind: fc.constant('flag' as const),
    id: fc.integer({ min: 11, max: 14 }),
    by: fc.integer({ min: 1, max: 6 }),
    anonymous: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('vote' as const),
    id: fc.integer({ min: 11, max: 14 }),
    by: fc.integer({ min: 1, max: 6 }),
  }),
  fc.record({ kind: fc.constant('session' as const), anonymous: fc.boolean() }),
);
/** A cycle and the number of statements after which its process dies; with more than the cycle has, it survives. */
const turn = fc.record({
  kind: fc.constantFrom('read' as const, 'deliver' as const, 'discover' as const),
  sink: fc.constantFrom('archive', 'hooks'),
  moments: fc.integer({ min: 1, max: 120 }),
});

async function happen(stage: Stage, what: typeof event extends fc.Arbitrary<infer E> ? E : never): Promise<void> {
  switch (what.kind) {
    case 'sign-in':
      return await stage.put('attendees', attendee(what.id, { Name: `Name ${what.name}` }));
    case 'ask':
      return await stage.put(
        'questions',
        question(what.id, what.by, 1, { question: { id: what.id, content: `Text ${what.text}`, status: 'approved' } }),
      );
    case 'flag':
      return await stage.put('qna-questions', qnaQuestion(what.id, { id: what.by, anonymous: what.anonymous }, 1));
    case 'vote':
      return await stage.put('votes', vote(what.id, what.by, 1));
    case 'session':
      return await stage.put('sessions', session(1, { anonymousResponses: what.anonymous }));
  }
}

/** Records running sends. A killed process writes nothing more, so the next process must wait for them. */
function watched(made: ReadonlyMap<string, OpenSink>, sends: Set<Promise<unknown>>): Map<string, OpenSink> {
  return new Map(
    [...made].map(([name, open]) => {
      const send: OpenSink['sink']['send'] = (...args) => {
        const sent = open.sink.send(...args);
        sends.add(sent);
        return sent;
      };
      return [name, { ...open, sink: { ...open.sink, send } }];
    }),
  );
}

async function openBoth(stage: Stage, sends: Set<Promise<unknown>>): Promise<Scene> {
  return await stage.webhookScene(everyone, {
    sinks: { archive: `{ type: file, folder: ./archive, ${everyone} }` },
    openSinks: (made) => watched(made, sends),
  });
}

/** Runs a cycle in a process that dies at its n-th statement. */
async function takeTurn(
  scene: Scene,
  { kind, sink, moments }: { kind: string; sink: string; moments: number },
): Promise<void> {
  const db = mortalDatabase(scene.ledger.db, ({ n }) => n >= moments);
  const deps = { ...scene.deps, ledger: { ...scene.ledger, db } };
  const work =
    kind === 'read'
      ? readPigeonhole(deps, place, never)
      : kind === 'discover'
        ? discoverWorkspace(deps, 'acme', never)
        : deliverToSink(deps, sink, never);
  await work.catch((error: unknown) => {
    if (!(error instanceof ProcessDied)) throw error;
  });
}

/** Ends all waits and runs cycles that survive. */
async function recover(stage: Stage, scene: Scene): Promise<void> {
  await stage.retriesAreDue();
  await stage.sweepsAreDue();
  await scene.settle();
}

async function expectTruth(stage: Stage, scene: Scene): Promise<void> {
  for (const list of ['attendees', 'sessions', 'qna-questions', 'questions', 'votes']) {
    const stored = await stage.db.query<{ payload: string; visibility: string | null }>(
      `select payload, visibility from items i where list = $1 and pigeonhole_number = (select pigeonhole_number
         from pigeonholes where pigeonhole_id = 101)`,
      [list],
    );
    const truth = await truthOf(stage.sandbox.baseUrl, list, pigeonhole);
    expect([list, stored.length]).toEqual([list, truth.length]);
    if (list !== 'attendees' && list !== 'sessions') continue;
    const shown = truth.map(({ links: _, ...rest }) => rest);
    expect(stored.map(({ payload }) => JSON.parse(payload) as unknown)).toEqual(expect.arrayContaining(shown));
  }
  const items = await stage.db.query<{ list: string; key: string; revision: number }>(
    'select list, key, revision from items',
  );
  const expected = items.flatMap(({ list, key, revision }) =>
    Array.from({ length: revision }, (_, index) => `${list} ${key} ${index + 1}`),
  );
  const lines = archive(scene).map(({ list, key, revision }) => `${list} ${key} ${revision}`);
  expect(lines.toSorted()).toEqual(expected.toSorted()); // each revision once, without holes
}

function expectConsistentWebhooks(stage: Stage, scene: Scene): void {
  const ids = new Map(archive(scene).map((line) => [`${line.list} ${line.key} ${line.revision}`, line.id]));
  const bytes = new Map<string, string>();
  const latest = new Map<string, number>();
  for (const { id, sha256, list, key, revision } of stage.received()) {
    expect(ids.get(`${list} ${key} ${revision}`)).toBe(id);
    const item = `${list} ${key}`;
    const before = latest.get(item) ?? 0;
    expect(revision).toBeLessThanOrEqual(before + 1); // no revision overtakes the one before it; all others are repeats
    latest.set(item, Math.max(before, revision));
    if (list === 'attendees' || list === 'sessions') expect(bytes.get(id) ?? sha256).toBe(sha256);
    bytes.set(id, sha256);
  }
  expect(new Set(bytes.keys())).toEqual(new Set(ids.values()));
}

describe.each(kinds)('a process killed at any instant, on %s', (kind) => {
  it('loses nothing, writes nothing to the file twice, and repeats a webhook only with the same id', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.array(event, { maxLength: 4 }), turn), { minLength: 4, maxLength: 14 }),
        async (steps) => {
          const stage = await stages.open(kind);
          const sends = new Set<Promise<unknown>>();
          await stage.put('sessions', session(1));
          const scene = await openBoth(stage, sends);
          await scene.discover();
          for (const [events, next] of steps) {
            for (const each of events) await happen(stage, each);
            await stage.pollsAreDue();
            await takeTurn(scene, next);
            await Promise.allSettled(sends);
            await stage.db.query('update lanes set lease_expires_at = now() where owner is not null'); // time passes
          }
          await recover(stage, scene);
          await expectTruth(stage, scene);
          expectConsistentWebhooks(stage, scene);
          await stage.close();
        },
      ),
      { numRuns: kind === 'embedded' ? 3 : 8, endOnFailure: true },
    );
  });

  it('numbers the revisions of every item 1, 2, 3… when it is not killed, and adds none without a change', async () => {
    const reading = fc.constantFrom('poll' as const, 'sweep' as const, 'deliver' as const);
    const steps = fc.array(fc.tuple(fc.array(event, { maxLength: 4 }), reading), { minLength: 4, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const stage = await stages.open(kind);
        await stage.put('sessions', session(1));
        const scene = await openBoth(stage, new Set());
        await scene.discover();
        for (const [events, what] of all) {
          for (const each of events) await happen(stage, each);
          if (what === 'deliver') await scene.deliver('archive');
          else await (what === 'poll' ? stage.pollsAreDue() : stage.sweepsAreDue());
          await scene.read(place);
        }
        await recover(stage, scene);
        await expectTruth(stage, scene);
        // Excludes interactions: a question that was not anonymous for a while may be sent after it is anonymous again.
        const lines = archive(scene).filter(({ list }) => list === 'attendees' || list === 'sessions');
        const contents = new Map(
          lines.map((line) => [`${line.list} ${line.key} ${line.revision}`, JSON.stringify(line.data)]),
        );
        for (const { list, key, revision, data } of lines) {
          expect(contents.get(`${list} ${key} ${revision - 1}`)).not.toBe(JSON.stringify(data));
        }
        await stage.close();
      }),
      { numRuns: kind === 'embedded' ? 3 : 8, endOnFailure: true },
    );
  });
});
