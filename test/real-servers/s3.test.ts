import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { anyStore } from '../../ledger/drivers/both-databases.test-kit.js';
import type { Change } from '../../sinks/change.js';
import { freeTestPort } from '../free-port.js';
import { audit, findingTexts, parityCounts } from '../kit/audit.js';
import { askToForget, forgetTurn } from '../kit/forget.js';
import { attendee, session } from '../kit/items.js';
import { everyone, useStages } from '../kit/stage.js';
import { until } from '../until.js';
import { findServer, type RealServer, startServer, withServer } from './real-server.js';

/** The `s3` sink with VersityGW, an S3 server over a folder that checks each signature (github.com/versity/versitygw). */
const program = findServer('versitygw', 'npm run real-servers');
const stages = useStages();
const bucket = 'acme-engagement';
const access = { id: 'AKIAREALSERVER', secret: 'secret/of+the=server' };

withServer(program)('the s3 sink with a real server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-versitygw-'));
  let server: RealServer;
  let url: string;

  beforeAll(async () => {
    for (const name of ['root', 'metadata']) mkdirSync(join(folder, name));
    mkdirSync(join(folder, 'root', bucket));
    url = `http://127.0.0.1:${await freeTestPort()}`;
    server = await startServer(
      [program!, '--port', new URL(url).host, 'posix', '--sidecar', join(folder, 'metadata'), join(folder, 'root')],
      async () => (await fetch(url)).status === 403,
      { ROOT_ACCESS_KEY: access.id, ROOT_SECRET_KEY: access.secret },
    );
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  /** Returns the lines of all objects of changes, which the server stores as files. */
  const lines = (): Change[] => {
    const root = join(folder, 'root', bucket);
    const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.ndjson.gz'),
    );
    const texts = paths.map((path) => gunzipSync(readFileSync(join(root, path))).toString());
    return texts.flatMap((text) =>
      text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Change),
    );
  };

  it('writes each revision once, finds them again, and removes a person', async () => {
    const stage = await stages.open(anyStore);
    await stage.put('sessions', session(1));
    await stage.put('attendees', ...Array.from({ length: 60 }, (_, n) => attendee(n + 1)));
    const keys = [
      'type: s3',
      `bucket: ${bucket}`,
      'region: us-east-1',
      `endpoint: "${url}"`,
      `accessKeyId: ${access.id}`,
      'secretAccessKey: "${S3_SECRET}"',
      'maxAge: 1s',
      everyone,
    ];
    const scene = await stage.scene({
      sinks: { lake: `{ ${keys.join(', ')} }` },
      environment: { S3_SECRET: access.secret },
    });
    const checked = await scene.deps.sinks.get('lake')!.sink.check(new AbortController().signal);
    expect(checked.filter(({ ok }) => !ok)).toEqual([]);
    const inLedger = async (): Promise<string[]> => {
      const items = await stage.db.query<{ name: string; revision: number }>(
        "select list || ':' || key as name, revision from items",
      );
      return items.flatMap(({ name, revision }) => Array.from({ length: revision }, (_, at) => `${name} ${at + 1}`));
    };
    const settle = async (isDone: () => Promise<boolean>): Promise<void> =>
      await until('the windows have ended and everything is written', async () => {
        await stage.retriesAreDue();
        await scene.settle();
        return await isDone();
      });
    await scene.settle();
    const expected = await inLedger();
    expect(expected.length).toBeGreaterThan(60);
    const names = () => lines().map(({ list, key, revision }) => `${list}:${key} ${revision}`);
    await settle(async () => names().length >= expected.length);
    expect(names().toSorted()).toEqual(expected.toSorted());

    await audit(scene, 'lake');
    expect(await findingTexts(scene, 'lake')).toEqual([]);
    expect((await parityCounts(scene, 'lake')).same).toBe(expected.length);

    const erasure = await askToForget(scene, { by: 'id', text: '5' });
    await settle(async () => (await forgetTurn(scene, erasure)).state === 'finished');
    const person = lines().filter(({ list, key }) => list === 'attendees' && key === '5');
    expect(person.filter(({ data }) => data !== null)).toEqual([]);
    await audit(scene, 'lake');
    expect(await findingTexts(scene, 'lake')).toEqual([]);
  });
});
