import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claimDemoFolder, demoConfig, demoNames, demoVariables } from './demo-folder.js';
import { loadProcessConfig } from '../../operations/load-process-config.js';

let parent: string;
let folder: string;
let other: ChildProcess | undefined;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'demo-folder-'));
  folder = join(parent, 'demo-data');
});
afterEach(() => {
  other?.kill('SIGKILL');
  rmSync(parent, { recursive: true });
});

const claim = (options = { once: false }) => claimDemoFolder(folder, options);

describe('the folder of a demo', () => {
  it('keeps the files of a run until the next run deletes them', async () => {
    const first = await claim();
    mkdirSync(join(folder, 'archive'));
    writeFileSync(join(folder, 'receipts.ndjson'), 'one\n');
    await first.release();
    expect(existsSync(first.receipts)).toBe(true);

    await claim();
    expect(readdirSync(folder).toSorted()).toEqual(['demo.json', 'logs']);
  });

  it('keeps files that a person has added', async () => {
    await (await claim()).release();
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    await claim();
    expect(readdirSync(folder)).toContain('notes.txt');
  });

  it('is refused if it contains files that no demo has written', async () => {
    mkdirSync(folder);
    mkdirSync(join(folder, 'archive'));
    await expect(claim()).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining('contains files') });
    expect(readdirSync(folder)).toEqual(['archive']);
  });

  it('is refused while another demo uses it', async () => {
    other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', 'demo']);
    await (await claim()).release();
    writeFileSync(join(folder, 'demo.json'), JSON.stringify({ pid: other.pid }));
    await expect(claim()).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringContaining(`already running in ${folder} (process ${other.pid})`),
    });
  });

  it.each([
    ['was killed', JSON.stringify({ pid: 2 ** 22 + 1 })],
    ['was killed while it recorded that it runs', '{"pid"'],
  ])('is taken over from a demo that %s', async (_, text) => {
    await (await claim()).release();
    writeFileSync(join(folder, 'demo.json'), text);
    await expect(claim()).resolves.toMatchObject({ shown: folder });
  });

  it('is a subfolder for --once, which does not affect another demo', async () => {
    const kept = await claim();
    writeFileSync(kept.receipts, 'one\n');
    const once = await claim({ once: true });
    expect(once.path).toBe(join(folder, 'once'));
    expect(existsSync(kept.receipts)).toBe(true);
    await (await claim()).release();
    expect(existsSync(once.path)).toBe(true);
  });

  it('that cannot be created is reported in one sentence', async () => {
    writeFileSync(folder, 'a file');
    await expect(claim()).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringMatching(/cannot use .*\((EEXIST|ENOTDIR)\)/),
    });
  });
});

const places = {
  sandboxUrl: 'http://127.0.0.1:4001',
  receiverUrl: 'http://127.0.0.1:4002/',
  hubSpotUrl: 'http://127.0.0.1:4004',
  slackUrl: 'http://127.0.0.1:4005',
  apiPort: 4003,
  per10s: null,
};
const secrets = {
  [demoVariables.apiKey]: 'a-key',
  [demoVariables.webhookSecret]: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
  [demoVariables.hubSpotToken]: 'a-token',
  [demoVariables.slackToken]: 'another-token',
};

describe('the configuration of the demo', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'demo-config-'));
    writeFileSync(join(folder, 'pigeonpost.yaml'), demoConfig(places));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is valid, without a warning', async () => {
    const config = await loadProcessConfig(join(folder, 'pigeonpost.yaml'), secrets);
    expect(config.warnings).toEqual([]);
    expect(Object.keys(config.sinks)).toEqual([
      demoNames.fileSink,
      demoNames.webhookSink,
      demoNames.crmSink,
      demoNames.slackSink,
    ]);
    expect(config.server.port).toBe(4003);
    expect(config.syncs['conference']!.everyMs.live).toBe(1000);
  });

  it('reads its secrets from the environment', async () => {
    await expect(loadProcessConfig(join(folder, 'pigeonpost.yaml'), {})).rejects.toThrow(
      new RegExp(
        Object.values(demoVariables)
          .map((name) => `${name} is not set`)
          .join('[^]*'),
      ),
    );
  });

  it("keeps the vendors' limits unless others are given", async () => {
    const limits = async () => {
      const { sinks } = await loadProcessConfig(join(folder, 'pigeonpost.yaml'), secrets);
      return Object.entries(sinks).map(([name, { limits: own }]) => [name, own]);
    };
    const names = Object.values(demoNames).slice(1);
    expect(await limits()).toEqual(names.map((name) => [name, undefined]));

    writeFileSync(join(folder, 'pigeonpost.yaml'), demoConfig({ ...places, per10s: 500 }));
    const raised: readonly string[] = [demoNames.crmSink, demoNames.slackSink];
    expect(await limits()).toEqual(names.map((name) => [name, raised.includes(name) ? { per10s: 500 } : undefined]));
  });
});
