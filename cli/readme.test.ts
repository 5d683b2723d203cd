import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadProcessConfig } from '../worker/load-process-config.js';

const readme = readFileSync(join(__dirname, '../README.md'), 'utf8');

describe('the README', () => {
  it('shows a configuration that can be used as it stands', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'readme-'));
    const [, yaml] = /```yaml\n([^]*?)```/.exec(readme)!;
    writeFileSync(join(folder, 'pigeonpost.yaml'), yaml!.replaceAll(/^ {3}/gm, ''));
    const config = await loadProcessConfig(join(folder, 'pigeonpost.yaml'), {
      ENGAGEMENT_API_KEY: 'a-key',
      HOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
    });
    expect(Object.keys(config.sinks)).toEqual(['archive', 'hooks']);
    expect(config.warnings).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  it('links to files that are there', () => {
    const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, path]) => path!);
    expect(links.length).toBeGreaterThan(3);
    for (const path of links) expect(() => readFileSync(join(__dirname, '..', path))).not.toThrow();
  });
});
