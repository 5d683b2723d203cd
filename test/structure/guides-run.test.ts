import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadProcessConfig } from '../../operations/load-process-config.js';

/*
 * Every page of docs/ that shows sinks or their records, with the tests that run its examples. Where a destination can
 * hold records, those tests run against one that holds some already.
 */

const root = join(__dirname, '../..');
const runBy: Readonly<Record<string, readonly string[]>> = {
  'recipes.md': [
    'test/structure/recipes.test.ts', // every recipe, as its vendors check it
    'test/structure/hubspot-recipes.test.ts',
    'test/structure/salesforce-recipes.test.ts',
    'test/conformance/sinks/slack-guide.test.ts',
    'test/scenarios/lms-recipes.test.ts',
    'test/scenarios/registrants-recipe.test.ts',
    'test/scenarios/warehouse-recipe.test.ts',
  ],
  'sinks.md': ['test/structure/hubspot-recipes.test.ts'],
  'sinks/canvas.md': ['test/scenarios/lms-recipes.test.ts'],
  'sinks/dynamics.md': ['sinks/dynamics/dynamics.test.ts'],
  'sinks/http.md': ['sinks/http/guide.test.ts'],
  'sinks/hubspot.md': ['test/structure/hubspot-recipes.test.ts'],
  'sinks/s3.md': ['test/structure/s3-recipes.test.ts'],
  'sinks/salesforce.md': ['test/structure/salesforce-recipes.test.ts'],
  'sinks/slack.md': ['test/conformance/sinks/slack-guide.test.ts'],
  'sinks/xapi.md': ['test/scenarios/lms-recipes.test.ts'],
  ...Object.fromEntries(
    pagesIn('sinks/http').map((page) => [page, [`sinks/http/presets/${page.slice(11, -3)}.test.ts`]]),
  ),
};
/** Pages whose example only names the destination. */
const plain = ['operations.md', 'sinks/file.md', 'sinks/postgres.md', 'sinks/webhook.md'];

function pagesIn(folder: string): string[] {
  const names = readdirSync(join(root, 'docs', folder)).filter((name) => name.endsWith('.md'));
  return names.map((name) => join(folder, name)).filter((page) => blocksOf(page).length > 0);
}

function blocksOf(page: string): string[] {
  const text = readFileSync(join(root, 'docs', page), 'utf8');
  const blocks = [...text.matchAll(/^ *```yaml\n([^]*?)^ *```$/gm)].map(([, block]) => block!);
  return blocks.filter((block) => /^ *(?:sinks:|- from:|messages:)/m.test(block));
}

it('each page with sinks has tests that run its examples', () => {
  const pages = ['', 'sinks', 'sinks/http'].flatMap(pagesIn);
  expect(pages.toSorted()).toEqual([...Object.keys(runBy), ...plain].toSorted());
});

it.each(Object.entries(runBy).flatMap(([page, tests]) => tests.map((test) => [page, test] as const)))(
  '%s is read by %s',
  (page, test) => {
    const [name] = page.split('/').at(-1)!.split('.');
    expect(readFileSync(join(root, test), 'utf8')).toMatch(new RegExp(`\\b${name}(?:\\.md|')`));
  },
);

it.each(plain)('%s has an example that is a valid configuration', async (page) => {
  const [block, ...others] = blocksOf(page);
  expect(others).toEqual([]);
  const [, sink] = /^ {2}(\w+):$/m.exec(block!)!;
  const folder = mkdtempSync(join(tmpdir(), 'guides-'));
  const file = join(folder, 'pigeonpost.yaml');
  writeFileSync(
    file,
    `workspaces:
  acme: { baseUrl: https://api.example.com, apiKey: "\${SERVICE_KEY}" }
syncs:
  events: { workspace: acme, sinks: [${sink}] }
${block}`,
  );
  const secrets = {
    HOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    WAREHOUSE_URL: 'postgres://writer:word@db/x',
  };
  const config = await loadProcessConfig(file, { SERVICE_KEY: 'a-key', ...secrets });
  rmSync(folder, { recursive: true });
  expect([Object.keys(config.sinks), config.warnings]).toEqual([[sink], []]);
});
