import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runSandbox, type Sandbox } from '../../sandbox/start-sandbox.js';

let sandbox: Sandbox;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pigeonpost-estimate-'));
  sandbox = await runSandbox({
    seed: 4,
    frozen: true,
    pigeonholes: 5,
    attendees: 700,
    quota: { limit: 5000, windowSeconds: 86_400, headers: true, retryAfter: false },
  });
  writeFileSync(
    join(folder, 'pigeonpost.yaml'),
    [
      `workspaces: { acme: { baseUrl: "${sandbox.baseUrl}", apiKey: "\${KEY}" } }`,
      'syncs: { all: { workspace: acme, sinks: [archive] } }',
      'sinks: { archive: { type: file, folder: ./archive } }',
      `store: postgres://nobody@127.0.0.1:1/nothing`, // an estimate needs none
      'temporal: { address: "127.0.0.1:1" }',
    ].join('\n'),
  );
});
afterAll(async () => {
  await sandbox.close();
  rmSync(folder, { recursive: true });
});

async function check(...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [join(__dirname, '../../dist/cli/main.js'), 'check', '--estimate', ...args], {
    cwd: folder,
    env: { KEY: 'sandbox-key', PATH: process.env['PATH'] ?? '' },
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  await once(child, 'close');
  return text;
}

interface Document {
  readonly results: { what: string; result: string; text: string }[];
  readonly notes: string[];
  readonly estimates: {
    quota: number | null;
    requestsMade: number;
    days: { day: string; pigeonholes: number; needs: { live: number; idle: number; sweep: number } }[];
    busiest: { day: string };
    advice: { fits: boolean; text: string };
  }[];
}

describe('check --estimate', () => {
  it('compares the requests of the busiest day with the quota, without a store or Temporal, and counts its own requests', async () => {
    await fetch(`${sandbox.baseUrl}/_control/requests`, { method: 'DELETE' });
    const { results, notes, estimates } = JSON.parse(await check('--json')) as Document;
    expect(results[0]).toEqual({ what: 'configuration', result: 'ok', text: './pigeonpost.yaml is valid' });
    // The subjects in their order; another process of this machine may use the port.
    const levels = new Map(results.filter(({ what }) => what !== 'server').map(({ what, result }) => [what, result]));
    expect([...levels]).toEqual([
      ['configuration', 'ok'],
      ['workspace acme', 'ok'],
      ['sync all', 'ok'],
      ['sink archive', 'ok'],
      ['store', 'unreachable'],
      ['temporal', 'unreachable'],
    ]);
    expect(notes).toEqual([]); // the estimate is a document of its own
    const state = (await (await fetch(`${sandbox.baseUrl}/_control/state`)).json()) as { requests: { total: number } };
    const [estimate] = estimates;
    expect(estimate).toMatchObject({ quota: 5000, advice: { fits: false } });
    expect(state.requests.total).toBe(estimate!.requestsMade + 2); // it checked the key and requested the subscriptions first
    expect(estimate!.advice.text).toMatch(/^The busiest day, \d{4}-\d{2}-\d{2}, needs about [\d,]+ requests/);
    // Two of the five are live today. Ended ones are not requested.
    expect(estimate!.days[0]!.pigeonholes).toBe(2);
    expect(estimate!.days[0]!.needs.live).toBeGreaterThan(8640);
  });

  it('uses the quota from --quota and prints a table', async () => {
    const text = await check('--quota', '100000000');
    expect(text).toMatch(/estimate for acme, 100,000,000 requests a day:/);
    expect(text).toMatch(/<- busiest/);
    expect(text).toMatch(/: it fits\./);
  });
});
