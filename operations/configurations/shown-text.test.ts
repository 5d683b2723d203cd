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

  it('keeps the addresses of people who receive alerts, which are settings', async () => {
    const mail = 'alerts: { to: [{ type: smtp, host: a.example, from: a@a.example, to: b@a.example }] }';
    expect(await shown(file('"${KEY}"', [mail]))).toBe(file('"${KEY}"', [mail]));
  });
});
