import type { ProblemFacts } from '../operations/problem-traits.js';
import { type ProblemCode, traitsOf } from '../operations/problems.js';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadProcessConfig } from '../operations/load-process-config.js';
import { formatStatus } from './status/format-status.js';
import { momentOf, workspaceOf } from './status/status.test-kit.js';

const readme = readFileSync(join(__dirname, '../README.md'), 'utf8');

const operations = readFileSync(join(__dirname, '../docs/operations.md'), 'utf8');

const shownYaml = /```yaml\n([^]*?)```/.exec(readme)![1]!.replaceAll(/^ {3}/gm, '');

/** Loads a configuration from its own folder, with the variables that the README names. */
async function load(yaml: string, variables: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'readme-'));
  try {
    writeFileSync(join(folder, 'pigeonpost.yaml'), yaml);
    return await loadProcessConfig(join(folder, 'pigeonpost.yaml'), {
      ENGAGEMENT_API_KEY: 'a-key',
      HOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
      ...variables,
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the README', () => {
  it('shows a valid configuration', async () => {
    const config = await load(shownYaml);
    expect(Object.keys(config.sinks)).toEqual(['archive', 'hooks']);
    expect(config.warnings).toEqual([]);
  });

  it('shows how to select single pigeonholes instead', async () => {
    const [lines, ids] = / +pigeonholes:\n.*"(pigeonholes: \[.*\])".*\n/.exec(shownYaml)!;
    const { syncs } = await load(shownYaml.replace(lines, `    ${ids}\n`));
    expect(syncs['conferences']?.pigeonholes).toEqual({ ids: [101, 102] });
  });

  it('shows a configuration that uses the variables of docker-compose.yml for its servers', async () => {
    const compose = readFileSync(join(__dirname, '../docker-compose.yml'), 'utf8');
    const [, variables] = /^# +export (.*)$/m.exec(compose)!;
    const { store, temporal } = await load(
      shownYaml,
      Object.fromEntries(variables!.split(' ').map((pair) => pair.split(/=(.*)/).slice(0, 2) as [string, string])),
    );
    expect(store.kind).toBe('postgres');
    expect(temporal.address).toBe('127.0.0.1:7233');
  });

  it('links to existing files', () => {
    const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, path]) => path!);
    expect(links.length).toBeGreaterThan(3);
    for (const path of links) expect(() => readFileSync(join(__dirname, '..', path))).not.toThrow();
  });
});

describe('the guide to operations', () => {
  it.each<[ProblemCode, ProblemFacts]>([
    ['quota-used-up', {}],
    ['workspace-paused', { pausedBy: 'cause', cause: 'credential' }],
    ['sink-failing', {}],
    ['service-down', { unansweredAt: '2026-11-21T09:57:00.000Z', lists: 13 }],
    ['drop-folder-unreadable', { folders: 7 }],
    ['dead-letters', { letters: 7 }],
    ['dead-letters', { letters: 7, mapping: 7 }],
  ])('quotes the problem %s (%j) as status prints it', (code, facts) => {
    const { title } = traitsOf(code).words('NAME', facts);
    expect(operations).toContain(`\`${title.replace(/ since .*/, ' since …').replace(' 7 ', ' N ')}\``);
  });

  it('quotes a wait for the quota as status prints it', () => {
    const [, quoted] = /^\| `(waiting.*?)`/m.exec(operations)!;
    const waiting = workspaceOf({ state: 'waiting', reason: 'quota', until: '2026-11-21T11:30:00.000Z' });
    const now = new Date('2026-11-21T09:30:00.000Z');
    const [line] = formatStatus(momentOf({ workspaces: [waiting] }), { now, columns: 80, colours: false, page: '' });
    expect(line).toBe(`workspace acme: ${quoted}`);
  });
});
