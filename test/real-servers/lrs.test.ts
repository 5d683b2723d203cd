import { spawnSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anyStore } from '../../ledger/drivers/both-databases.test-kit.js';
import { freeTestPort } from '../free-port.js';
import { audit, findingTexts } from '../kit/audit.js';
import { attendee, session, vote } from '../kit/items.js';
import { useStages } from '../kit/stage.js';
import { findServer, type RealServer, startServer, withServer } from './real-server.js';

/**
 * The `xapi` sink with Ralph, a Learning Record Store (github.com/openfun/ralph), whose statements are in a file: other
 * stores of Ralph need a database of their own. By default it refuses to add to an existing file.
 */
const ralph = findServer('ralph', 'npm run real-servers');
const stages = useStages();

withServer(ralph)('the xapi sink with a real LRS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-ralph-'));
  let server: RealServer;
  let endpoint: string;

  beforeAll(async () => {
    mkdirSync(join(folder, 'statements'));
    const env = {
      RALPH_APP_DIR: folder,
      RALPH_RUNSERVER_BACKEND: 'fs',
      RALPH_BACKENDS__LRS__FS__DEFAULT_DIRECTORY_PATH: join(folder, 'statements'),
      RALPH_BACKENDS__LRS__FS__DEFAULT_LRS_FILE: 'statements.jsonl',
    };
    const account = ['auth', '-u', 'key', '-p', 's3cret', '-s', 'all', '-M', 'mailto:lrs@example.com', '-w'];
    const { status, stderr } = spawnSync(ralph!, account, { env: { ...process.env, ...env }, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    const port = await freeTestPort();
    endpoint = `http://127.0.0.1:${port}/xAPI`;
    const start = `from ralph.backends.data.fs import FSDataBackend; from ralph.backends.data.base import BaseOperationType; import uvicorn; FSDataBackend.default_operation_type = BaseOperationType.APPEND; uvicorn.run("ralph.api:app", host="127.0.0.1", port=${port})`;
    server = await startServer(
      [join(ralph!, '../python'), '-c', start],
      async () => (await fetch(`${endpoint}/statements`)).status === 401,
      env,
    );
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  interface Stored {
    readonly id: string;
    readonly verb: { readonly id: string };
    readonly actor: { readonly account: { readonly name: string } };
  }
  const stored = (): Stored[] =>
    readFileSync(join(folder, 'statements/statements.jsonl'), 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Stored);

  it('stores each statement once, and holds what an audit expects', async () => {
    const stage = await stages.open(anyStore);
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('attendees', ...Array.from({ length: 60 }, (_, n) => attendee(n + 1)));
    await stage.put('votes', ...Array.from({ length: 60 }, (_, n) => vote(200 + n, n + 1, 1)));
    const lms = `{ type: xapi, endpoint: "${endpoint}", username: key, password: "\${LRS_SECRET}", statements: [voted], actor: { homePage: "https://example.com", name: attendee.attendeeCode } }`;
    const scene = await stage.scene({ sinks: { lms }, environment: { LRS_SECRET: 's3cret' } });
    const checked = await scene.deps.sinks.get('lms')!.sink.check(new AbortController().signal);
    expect(checked.filter(({ ok }) => !ok)).toEqual([]);
    await scene.settle();
    const voted = stored().filter(({ verb }) => verb.id.endsWith('/voted-up'));
    expect(voted.map(({ actor }) => actor.account.name).toSorted()).toEqual(
      Array.from({ length: 60 }, (_, n) => `code-${n + 1}`).toSorted(),
    );
    await audit(scene, 'lms');
    expect(await findingTexts(scene, 'lms')).toEqual([]);
    expect(new Set(stored().map(({ id }) => id)).size).toBe(stored().length);
  });
});
