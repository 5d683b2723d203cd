import { mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationFile } from './configuration-file.js';
import { reloadProcessConfig } from './load-process-config.js';

const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-file-'));
const file = join(folder, 'pigeonpost.yaml');
afterAll(() => rmSync(folder, { recursive: true }));

const lines = [
  'workspaces: { acme: { baseUrl: "https://engagement.example.com", apiKey: "${KEY}" } }',
  'syncs: { all: { workspace: acme, sinks: [archive] } }',
  'sinks: { archive: { type: file, folder: ./archive } }',
];

describe('the file of a running process', () => {
  let nowMs = 1000;
  const watch = new ConfigurationFile(
    () => reloadProcessConfig(file, { KEY: 'k' }),
    () => nowMs,
  );
  const lookAt = async (text: string | null) => {
    if (text === null) unlinkSync(file);
    else writeFileSync(file, text);
    await watch.look();
    return watch.unusable;
  };

  it('is usable as long as a start would accept it', async () => {
    expect(await lookAt(lines.join('\n'))).toBeNull();
    expect(await lookAt([...lines, 'retention: { changes: 10d }'].join('\n'))).toBeNull();
  });

  it('is unusable from the first check that finds a mistake until it is corrected', async () => {
    const broken = [lines[0], 'syncs { all: }', lines[2]].join('\n');
    nowMs = 5000;
    expect(await lookAt(broken)).toMatchObject({
      line: 2,
      problems: 1,
      text: expect.stringContaining('.yaml:2: this'),
    });
    nowMs = 9000;
    const invalid = [...lines, 'sinkz: {}', 'retention: { changes: soon }'].join('\n');
    expect(await lookAt(invalid)).toMatchObject({ line: 4, problems: 2, since: new Date(5000) });
    expect(await lookAt(null)).toMatchObject({ line: null, text: expect.stringContaining('does not exist') });
    expect(await lookAt(lines.join('\n'))).toBeNull();
  });

  it('is usable again as soon as "config apply" has loaded it', async () => {
    expect(await lookAt([...lines, 'sinkz: {}'].join('\n'))).not.toBeNull();
    await expect(watch.load()).rejects.toThrow('sinkz');
    writeFileSync(file, lines.join('\n'));
    await watch.load();
    expect(watch.unusable).toBeNull();
  });

  it('may name variables that only the next start has', async () => {
    const later = [...lines, 'alerts: { to: [{ type: webhook, url: "https://a.example", secret: "${LATER}" }] }'];
    expect(await lookAt(later.join('\n'))).toBeNull();
  });
});
