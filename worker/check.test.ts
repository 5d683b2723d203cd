import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxOptions } from '../sandbox/options.js';
import { runSandbox } from '../sandbox/start-sandbox.js';
import { check, type Checked } from './check.js';
import { binarySources } from './embedded-temporal/binary-sources.js';
import { loadProcessConfig } from './load-process-config.js';

/** What is said of the workspace, which comes first. */
async function checkWorkspace(options: SandboxOptions, keys = ''): Promise<Checked> {
  const sandbox = await runSandbox({ seed: 3, frozen: true, attendees: 0, pigeonholes: 1, ...options });
  const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-check-'));
  try {
    const file = join(folder, 'pigeonpost.yaml');
    writeFileSync(
      file,
      `workspaces: { acme: { baseUrl: "${sandbox.baseUrl}", apiKey: "\${KEY}"${keys} } }
syncs: { all: { workspace: acme, sinks: [archive] } }
sinks: { archive: { type: file, folder: ./archive } }
`,
    );
    const config = await loadProcessConfig(file, { KEY: 'sandbox-key' });
    for await (const checked of check(config, binarySources(), AbortSignal.timeout(30_000))) return checked;
    throw new Error('nothing was checked');
  } finally {
    await sandbox.close();
    rmSync(folder, { recursive: true });
  }
}

describe('the check of a workspace', () => {
  it('is content with a Personal one that names no subscription', async () => {
    expect(await checkWorkspace({})).toMatchObject({ result: 'ok', text: expect.stringMatching(/accepts the key$/) });
  });

  it('names the subscriptions of a Team one that has none chosen, since only "apply" needs one', async () => {
    expect(await checkWorkspace({ workspaceKind: 'team' })).toMatchObject({
      what: 'workspace acme',
      result: 'ok',
      text: expect.stringMatching(
        /accepts the key; for "pigeonpost apply": this is a Team workspace: choose one of .*\(7\)/,
      ),
    });
  });

  it('is content with a subscription that is there', async () => {
    const checked = await checkWorkspace({ workspaceKind: 'team' }, ', subscriptionId: 7');
    expect(checked).toMatchObject({ result: 'ok', text: expect.stringMatching(/accepts the key$/) });
  });

  it.each<[string, SandboxOptions]>([
    ['is none of the workspace’s', { workspaceKind: 'team' }],
    ['cannot be in a Personal one', {}],
  ])('refuses a subscription that %s', async (_, options) => {
    expect(await checkWorkspace(options, ', subscriptionId: 4242')).toMatchObject({
      result: 'refused',
      text: expect.stringMatching(/^subscriptionId 4242: /),
    });
  });
});
