import { join } from 'node:path';
import { useBothDatabases, kinds } from '../../ledger/drivers/both-databases.test-kit.js';
import { runSandbox, type Sandbox } from '../../sandbox/start-sandbox.js';
import { pigeonholeLists } from '../../base/lists.js';
import { readArchive } from '../kit/archive.js';
import { openScene, type Scene } from '../kit/scene.js';
import { truthOf } from '../kit/truth.js';

const databases = useBothDatabases();

describe.each(kinds)('a frozen conference read for the first time into %s', (kind) => {
  let sandbox: Sandbox;
  let scene: Scene;

  beforeAll(async () => {
    sandbox = await runSandbox({ seed: 7, attendees: 700, frozen: true });
    scene = await openScene({
      db: databases.of(kind),
      baseUrl: sandbox.baseUrl,
      sinks: {
        archive: '{ type: file, folder: ./archive, consent: { accept: [obtained, refused, not-asked, not-known] } }',
      },
    });
    await scene.settle();
  });
  afterAll(async () => {
    await scene.close();
    await sandbox.close();
  });

  it('delivers every item of every list once, as revision 1', async () => {
    const lines = readArchive(join(scene.folder, 'archive'));
    const pigeonholes = await truthOf(sandbox.baseUrl, 'pigeonholes', 0);
    expect(lines.every(({ revision }) => revision === 1)).toBe(true);
    expect(new Set(lines.map(({ pigeonholeId, list, key }) => `${pigeonholeId} ${list} ${key}`)).size).toBe(
      lines.length,
    );
    expect(lines.filter(({ list }) => list === 'pigeonholes')).toHaveLength(pigeonholes.length);
    for (const { id } of pigeonholes) {
      for (const list of pigeonholeLists) {
        const truth = await truthOf(sandbox.baseUrl, list, Number(id));
        const delivered = lines.filter((line) => line.list === list && line.pigeonholeId === id);
        expect({ id, list, items: delivered.length }).toEqual({ id, list, items: truth.length });
      }
    }
  });

  it('causes no changes when it is read again', async () => {
    const before = readArchive(join(scene.folder, 'archive')).length;
    await scene.ledger.db.query('update streams set due_at = now(), sweep_due_at = now()');
    await scene.settle();
    expect(readArchive(join(scene.folder, 'archive'))).toHaveLength(before);
  });
});
