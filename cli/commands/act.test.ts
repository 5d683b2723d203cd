import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Action } from '../../api/action.js';
import type { Context } from '../context.js';
import { ExitCode } from '../exit-code.js';
import { act } from './act.js';

let server: Server;
let folder: string;
let asked: unknown[] = [];
beforeAll(async () => {
  server = createServer((request, response) => {
    request.setEncoding('utf8').on('data', (body: string) => asked.push(JSON.parse(body)));
    request.on('end', () => response.end('{"done":true}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  folder = mkdtempSync(join(tmpdir(), 'act-'));
  writeFileSync(
    join(folder, 'pigeonpost.yaml'),
    [
      'workspaces: { acme: { baseUrl: "https://engagement.example.com", apiKey: "${file:key}" } }',
      'syncs: { all: { workspace: acme, sinks: [archive] } }',
      'sinks: { archive: { type: file, folder: ./archive } }',
      `server: { port: ${(server.address() as AddressInfo).port} }`,
    ].join('\n'),
  );
  writeFileSync(join(folder, 'key'), 'a-key');
});
beforeEach(() => {
  asked = [];
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true });
});

async function run(verb: Action['do'], what: string, json = false): Promise<{ code: number; lines: string[] }> {
  const lines: string[] = [];
  const out = { line: (text: string) => void lines.push(text) } as Context['out'];
  const code = await act({ config: join(folder, 'pigeonpost.yaml'), debug: false, out }, { verb, what, json });
  return { code, lines };
}

describe('pause, resume, poll-now, sweep and approve', () => {
  it.each([
    ['pause', 'sink:hooks', 'sink hooks is paused'],
    ['resume', 'workspace:acme', 'workspace acme is resumed'],
    ['poll-now', 'pigeonhole:acme/101', 'pigeonhole acme/101 is read now'],
    ['sweep', 'workspace:acme', 'workspace acme is walked whole now'],
    ['approve', 'sink:hooks', 'sink hooks is approved and sends from its watermark'],
  ] as const)('answer %s %s with the sentence "%s"', async (verb, what, sentence) => {
    expect(await run(verb, what)).toEqual({ code: ExitCode.Done, lines: [sentence] });
    const [kind, name] = what.split(':');
    expect(asked).toEqual([{ do: verb, kind, name, by: userInfo().username }]);
  });

  it('say in JSON what was done', async () => {
    const { lines } = await run('pause', 'sink:hooks', true);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { done: true, do: 'pause', kind: 'sink', name: 'hooks' },
    ]);
  });

  it('ask nothing when a sink is to be read, since there is nothing to read', async () => {
    await expect(run('poll-now', 'sink:hooks')).rejects.toMatchObject({ exitCode: ExitCode.WrongUse });
    expect(asked).toEqual([]);
  });
});
