import { anyStore } from '../../ledger/drivers/both-databases.test-kit.js';
import { deliverToSink } from '../../delivering/deliver-to-sink.js';
import type { Change } from '../../sinks/change.js';
import { freshAccount, type S3Double, startS3Double } from '../../sandbox/s3/start-s3-double.js';
import { question, session } from '../kit/items.js';
import { mortalDatabase, ProcessDied } from '../kit/mortal-database.js';
import type { Scene } from '../kit/scene.js';
import { everyone, pigeonhole, type Stage, useStages } from '../kit/stage.js';
import { until } from '../until.js';

const stages = useStages();
const place = { workspace: 'acme', pigeonholeId: pigeonhole };
const never = new AbortController().signal;
const [key] = freshAccount.keys;

let double: S3Double;
afterEach(() => double.close());

interface StoreOptions {
  readonly maxAge: string;
  readonly conditionalWrites?: boolean;
}

async function sceneOf(stage: Stage, { maxAge, conditionalWrites = true }: StoreOptions): Promise<Scene> {
  double = await startS3Double({ conditions: conditionalWrites ? 'yes' : 'refused' });
  const keys = [
    'type: s3',
    `bucket: ${freshAccount.bucket}`,
    `region: ${freshAccount.region}`,
    `endpoint: "${double.url}"`,
    `accessKeyId: ${key!.id}`,
    'secretAccessKey: "${S3_SECRET}"',
    `maxAge: ${maxAge}`,
    `conditionalWrites: ${conditionalWrites}`,
    everyone,
  ];
  await stage.put('sessions', session(1));
  const scene = await stage.scene({
    sinks: { lake: `{ ${keys.join(', ')} }` },
    environment: { S3_SECRET: key!.secret },
  });
  await scene.discover();
  return scene;
}

async function ask(stage: Stage, scene: Scene, id: number): Promise<void> {
  await stage.put('questions', question(id, 1, 1));
  await stage.pollsAreDue();
  await scene.read(place);
}

const linesInBucket = (): string[] =>
  [...double.texts().values()]
    .flatMap((text) => text.split('\n').slice(0, -1))
    .map((line) => JSON.parse(line) as Change)
    .map(({ list, key: item, revision }) => `${list} ${item} ${revision}`)
    .toSorted();

/** Returns the lines that the bucket must contain: each revision of each item in the ledger. */
async function linesOfLedger(stage: Stage): Promise<string[]> {
  const items = await stage.db.query<{ list: string; key: string; revision: number }>(
    'select list, key, revision from items',
  );
  return items
    .flatMap(({ list, key: item, revision }) =>
      Array.from({ length: revision }, (_, at) => `${list} ${item} ${at + 1}`),
    )
    .toSorted();
}

/** Delivers until the bucket has a line for each change. Later processes find the lane in the state of the dead one. */
async function expectEachLineOnce(stage: Stage, scene: Scene): Promise<void> {
  const expected = await linesOfLedger(stage);
  await until('all lines are there', async () => {
    await stage.timePasses(5000);
    await stage.retriesAreDue();
    await scene.settle();
    return linesInBucket().length >= expected.length;
  });
  expect(linesInBucket()).toEqual(expected);
}

/** Runs a cycle of a process that dies at one of its statements. @returns whether it died */
async function dieWhileDelivering(scene: Scene, isLast: () => boolean): Promise<boolean> {
  const db = mortalDatabase(scene.ledger.db, isLast);
  const turn = deliverToSink({ ...scene.deps, ledger: { ...scene.ledger, db } }, 'lake', never);
  return await turn.then(
    () => false,
    (error: unknown) => {
      if (!(error instanceof ProcessDied)) throw error;
      return true;
    },
  );
}

describe.each([
  ['with', true],
  ['without', false],
])('the delivery engine with a bucket %s conditional writes', (_, conditionalWrites) => {
  /** Adds a question to a window that has ended. */
  async function next(stage: Stage, scene: Scene, id: number): Promise<void> {
    await ask(stage, scene, id);
    await stage.retriesAreDue();
    await stage.timePasses(5000);
    await stage.db.query('update lanes set lease_expires_at = now() where owner is not null'); // time passes
  }

  it('writes each line once even if the process dies at any statement of a cycle', async () => {
    const stage = await stages.open(anyStore);
    const scene = await sceneOf(stage, { maxAge: '1s', conditionalWrites });
    let died = true;
    for (let moment = 1; died; moment += 3) {
      await next(stage, scene, 100 + moment);
      let n = 0;
      died = await dieWhileDelivering(scene, () => (n += 1) >= moment);
    }
    await expectEachLineOnce(stage, scene);
  });
});

describe('the delivery engine with the s3 sink', () => {
  it('waits for the end of a window without running cycles', async () => {
    const stage = await stages.open(anyStore);
    const scene = await sceneOf(stage, { maxAge: '1h' });
    await ask(stage, scene, 11);
    await scene.deliver('lake');
    await ask(stage, scene, 12); // is queued behind the deferred changes
    expect((await scene.deliver('lake')).nextDueInMs).toBeGreaterThan(0);
    expect(linesInBucket()).toEqual([]);
  });
});
