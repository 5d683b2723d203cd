import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadProcessConfig } from '../../worker/load-process-config.js';
import { demoConfig, demoNames, demoVariables } from './demo-config.js';

const text = demoConfig({ sandboxUrl: 'http://127.0.0.1:4001', receiverUrl: 'http://127.0.0.1:4002/', apiPort: 4003 });

describe('the configuration of the demo', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'demo-config-'));
    writeFileSync(join(folder, 'pigeonpost.yaml'), text);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is one that pigeonpost takes, without a warning', async () => {
    const config = await loadProcessConfig(join(folder, 'pigeonpost.yaml'), {
      [demoVariables.apiKey]: 'a-key',
      [demoVariables.webhookSecret]: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
    });
    expect(config.warnings).toEqual([]);
    expect(Object.keys(config.sinks)).toEqual([demoNames.fileSink, demoNames.webhookSink]);
    expect(config.server.port).toBe(4003);
    expect(config.syncs['conference']!.everyMs.live).toBe(1000);
  });

  it('takes its secrets from the environment', async () => {
    await expect(loadProcessConfig(join(folder, 'pigeonpost.yaml'), {})).rejects.toThrow(
      new RegExp(`${demoVariables.apiKey} is not set[^]*${demoVariables.webhookSecret} is not set`),
    );
  });
});
