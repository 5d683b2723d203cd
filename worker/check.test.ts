import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SandboxOptions, runSandbox } from '../sandbox/start-sandbox.js';
import { type CheckResult, runChecks, selections } from '../operations/checks.js';
import { standaloneChecks } from './check.js';
import { binarySources } from './embedded-temporal/find-binary.js';
import { loadProcessConfig } from '../operations/load-process-config.js';

/** The line about the workspace, which comes first. */
async function checkWorkspace(options: SandboxOptions, keys = ''): Promise<CheckResult> {
  return (await checkFirst(1, options, { keys }))[0]!;
}

async function checkFirst(lines: number, options: SandboxOptions, { keys = '', choice = '' }): Promise<CheckResult[]> {
  const sandbox = await runSandbox({ seed: 3, frozen: true, attendees: 0, pigeonholes: 1, ...options });
  const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-check-'));
  try {
    const file = join(folder, 'pigeonpost.yaml');
    writeFileSync(
      file,
      `workspaces: { acme: { baseUrl: "${sandbox.baseUrl}", apiKey: "\${KEY}"${keys} } }
syncs: { all: { workspace: acme, sinks: [archive]${choice} } }
sinks: { archive: { type: file, folder: ./archive } }
`,
    );
    const config = await loadProcessConfig(file, { KEY: 'sandbox-key' });
    const surroundings = { binarySources: binarySources(), isRunning: async () => false };
    const found: CheckResult[] = [];
    const context = { config, surroundings, signal: new AbortController().signal };
    for await (const checked of runChecks(selections.doctor, standaloneChecks, context)) {
      if (found.push(checked) === lines) break;
    }
    return found;
  } finally {
    await sandbox.close();
    rmSync(folder, { recursive: true });
  }
}

describe('the check of drop folders', () => {
  it('prints a line for each folder, and reports one that does not exist', async () => {
    const folders = '{ workspace: acme, pigeonhole: 1, folder: . }, { workspace: acme, pigeonhole: 1, folder: ./new }';
    const found = await checkFirst(6, {}, { choice: ` } }\nimports: [${folders}]\n# { { ` });
    expect(found.filter(({ id }) => id.startsWith('imports:'))).toEqual([
      {
        id: expect.any(String),
        label: expect.stringMatching(/^imports .*pigeonpost-check-\w+$/),
        state: 'ok',
        says: 'the folder can be read',
      },
      {
        id: expect.any(String),
        label: expect.stringMatching(/^imports .*new$/),
        state: 'failed',
        says: 'the folder does not exist: create it, or mount its volume',
      },
    ]);
  });
});

describe('the check of a workspace', () => {
  it('accepts a Personal workspace without a subscription', async () => {
    expect(await checkWorkspace({})).toMatchObject({ state: 'ok', says: expect.stringMatching(/accepts the key$/) });
  });

  it('lists the subscriptions of a Team workspace if none is chosen, because only "apply" needs one', async () => {
    expect(await checkWorkspace({ workspaceKind: 'team' })).toMatchObject({
      label: 'workspace acme',
      state: 'ok',
      says: expect.stringMatching(
        /accepts the key; for "pigeonpost apply": this is a Team workspace: choose one of .*\(7\)/,
      ),
    });
  });

  it('accepts an existing subscription', async () => {
    const checked = await checkWorkspace({ workspaceKind: 'team' }, ', subscriptionId: 7');
    expect(checked).toMatchObject({ state: 'ok', says: expect.stringMatching(/accepts the key$/) });
  });

  it.each<[string, SandboxOptions]>([
    ['does not exist in the workspace', { workspaceKind: 'team' }],
    ['is set for a Personal workspace', {}],
  ])('refuses a subscription that %s', async (_, options) => {
    expect(await checkWorkspace(options, ', subscriptionId: 4242')).toMatchObject({
      state: 'failed',
      says: expect.stringMatching(/^subscriptionId 4242: /),
    });
  });
});

describe('the check of a sync', () => {
  it.each<[string, string, RegExp, ('ok' | 'failed')?]>([
    ['all', '', /^selects 2 of 2 events: \S.* \(101, live\), \S.* \(102, ended\)$/],
    ['by status', ', pigeonholes: { status: [live] }', /^selects 1 of 2 events: \S.* \(101, live\)$/],
    ['none', ', pigeonholes: { name: "^nothing" }', /^selects none of 2 events$/],
    ['by id', ', pigeonholes: [102]', /^selects 1 of 2 events: .*\(102, ended\)$/],
    [
      'by an id that does not exist',
      ', pigeonholes: [102, 999]',
      /^selects 1 of 2 events: .*\(102, ended\); the service does not list 999$/,
      'failed',
    ],
  ])('names the selected events: %s', async (_, choice, text, state = 'ok') => {
    const [, selection] = await checkFirst(2, { pigeonholes: 2 }, { choice });
    expect(selection).toEqual({
      id: 'workspace:acme:all',
      label: 'sync all',
      state,
      says: expect.stringMatching(text) as string,
    });
  });
});
