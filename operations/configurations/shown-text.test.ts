import { loadText } from '../../config/load-text.test-kit.js';
import { lacksSecrets, shownText } from './shown-text.js';

const environment = { KEY: 'value-of-the-key', HOST: 'api.example.com', PART: 'part-of-it' };

const file = (apiKey: string, more: readonly string[] = []): string =>
  [
    'workspaces:',
    `  acme: { baseUrl: "https://\${HOST}", apiKey: ${apiKey} } # of the summit`,
    'syncs: { all: { workspace: acme, sinks: [files] } }',
    'sinks: { files: { type: file, folder: ./files } }',
    ...more,
    '',
  ].join('\n');

async function shown(text: string): Promise<string | null> {
  return shownText(await loadText(text, environment));
}

describe('the text of a configuration to be kept', () => {
  it('is the file, with its references and comments', async () => {
    const text = file('"${KEY}"');
    expect(await shown(text)).toBe(text);
    expect(lacksSecrets(text)).toBe(false);
  });

  it('has no part of a secret that is written beside a reference', async () => {
    const text = (await shown(file('"prefix-${PART}-suffix"')))!;
    expect(text).toBe(file('"[secret]"'));
    expect(lacksSecrets(text)).toBe(true);
  });

  it('has no secret in a comment, and none in an address', async () => {
    const more = [
      '# was value-of-the-key before',
      'alerts: { to: [{ type: webhook, url: "http://me:pw@127.0.0.1/", secret: "${HOOK}" }] }',
    ];
    const hook = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const text = shownText(await loadText(file('"${KEY}"', more), { ...environment, HOOK: hook }))!;
    expect(text).toContain('# was [secret] before');
    expect(text).not.toMatch(/me:pw@/);
  });

  it('has no secret that was written into a comment, such as an earlier one', async () => {
    const more = (old: string, token: string) => [
      'retention: # for the summit',
      `  attempts: 7d # was ${old}, of ops@a.example`,
      `# token: ${token}`,
    ];
    const text = (await shown(file('"${KEY}"', more('xoxb-1234-abcd-5678', 'Bearer abcdef0123456789'))))!;
    expect(text).toBe(file('"${KEY}"', more('[secret]', '[secret]')));
    expect(lacksSecrets(text)).toBe(true);
  });

  it('keeps comments and values that only look like the other', async () => {
    const more = ['retention:', `  attempts: 7d # a # b: "c" 'd' [e] | > - {f`, '', '#', '  # "'];
    const text = file('"${KEY}"', more).replace('folder: ./files', 'folder: "./files#1"');
    expect(await shown(text)).toBe(text);
  });

  it('keeps the addresses of people who receive alerts, which are settings', async () => {
    const mail = 'alerts: { to: [{ type: smtp, host: a.example, from: a@a.example, to: b@a.example }] }';
    expect(await shown(file('"${KEY}"', [mail]))).toBe(file('"${KEY}"', [mail]));
  });
});
