import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadProcessConfig } from '../../operations/load-process-config.js';
import { demoConfig, demoNames, demoVariables } from './demo-config.js';

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
