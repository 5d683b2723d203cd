import { deliverToSink } from '../../delivering/deliver-to-sink.js';
import type { Change } from '../../sinks/change.js';
import { freshAccount } from '../../sandbox/s3/bucket.js';
import { type S3Double, startS3Double } from '../../sandbox/s3/start-s3-double.js';
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
beforeEach(async () => {
  double = await startS3Double();
});
afterEach(() => double.close());

async function sceneOf(stage: Stage, maxAge: string): Promise<Scene> {
  const keys = [
    'type: s3',
    `bucket: ${freshAccount.bucket}`,
    `region: ${freshAccount.region}`,
    `endpoint: "${double.url}"`,
    `accessKeyId: ${key!.id}`,
    'secretAccessKey: "${S3_SECRET}"',
    `maxAge: ${maxAge}`,
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

describe('the s3 sink under the delivery engine', () => {
  it('holds each line once, though the process dies at one moment after another of a turn', async () => {
    const stage = await stages.open('embedded');
    const scene = await sceneOf(stage, '1s');
    let died = true;
    for (let moment = 1; died; moment += 3) {
      died = false;
      await ask(stage, scene, 100 + moment);
      await stage.retriesAreDue();
      await stage.timePasses(5000); // the window of the changes has ended
      const db = mortalDatabase(scene.ledger.db, ({ n }) => n >= moment);
      const turn = deliverToSink({ ...scene.deps, ledger: { ...scene.ledger, db } }, 'lake', never);
      await turn.catch((error: unknown) => {
        if (!(error instanceof ProcessDied)) throw error;
        died = true;
      });
      await stage.db.query('update lanes set lease_expires_at = now() where owner is not null'); // time passes
    }
    const items = await stage.db.query<{ list: string; key: string; revision: number }>(
      'select list, key, revision from items',
    );
    await until('all lines are there', async () => {
      await stage.timePasses(5000);
      await stage.retriesAreDue();
      await scene.settle();
      return linesInBucket().length >= items.length;
    });
    expect(linesInBucket()).toEqual(
      items
        .flatMap(({ list, key: item, revision }) =>
          Array.from({ length: revision }, (_, at) => `${list} ${item} ${at + 1}`),
        )
        .toSorted(),
    );
  });

  it('waits for the end of a window without running cycles meanwhile', async () => {
    const stage = await stages.open('embedded');
    const scene = await sceneOf(stage, '1h');
    await ask(stage, scene, 11);
    await scene.deliver('lake');
    await ask(stage, scene, 12); // is behind what was put off
    expect((await scene.deliver('lake')).nextDueInMs).toBeGreaterThan(0);
    expect(linesInBucket()).toEqual([]);
  });
});
