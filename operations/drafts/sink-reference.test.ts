import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { referenceTo } from './sink-reference.js';

const file = `
workspaces: { acme: { apiKey: "\${SLACK_KEY_OF_SERVICE}" } }
sinks:
  own: { type: slack, token: "\${SLACK_BOT_TOKEN}", baseUrl: "https://proxy.example.com" }
  other: { type: http, auth: { token: "\${SLACK_OTHER}" } }
  third: { type: http, auth: { token: "\${file:/mnt/keys/api}" } }
`;
const given = {
  prefix: 'SLACK_',
  file,
  folder: '/etc/pigeonpost',
  type: 'slack',
  addresses: { baseUrl: 'https://proxy.example.com' },
};

describe('a reference to a secret that a person enters', () => {
  it.each([
    ['SLACK_NEW', '${SLACK_NEW}'],
    ['${SLACK_NEW}', '${SLACK_NEW}'],
    ['file:/run/secrets/slack-token.txt', '${file:/run/secrets/slack-token.txt}'],
    ['file:/etc/pigeonpost/keys/slack-x', '${file:/etc/pigeonpost/keys/slack-x}'],
    ['file:/mnt/keys/slack-x', '${file:/mnt/keys/slack-x}'], // beside another that the file names
    ['SLACK_BOT_TOKEN', '${SLACK_BOT_TOKEN}'], // of the same kind of sink, and sent to the same address
  ])('may be %s', (entered, reference) => {
    expect(referenceTo(entered, given)).toEqual({ reference });
  });

  it.each([
    ['the secret itself', 'xoxb-1234-abcd', 'never the secret itself'],
    ['a variable of pigeonpost', 'LEDGER_KEY', 'must begin with SLACK_'],
    ['any file of the machine', 'file:/etc/passwd', 'must begin with SLACK_'],
    ['a file elsewhere with a name that fits', 'file:/etc/ssl/private/slack-x.example.com.key', 'must be below'],
    ['a path with steps back', 'file:/run/../etc/slack_x', 'never the secret itself'],
    ['a default after the name', '${SLACK_NEW:-x}', 'never the secret itself'],
    ['the key of the service', 'SLACK_KEY_OF_SERVICE', 'another destination'],
    ['the secret of another type', 'SLACK_OTHER', 'another destination'],
  ])('may not be %s', (_, entered, sentence) => {
    const found = referenceTo(entered, given);
    expect(found).toEqual({ problem: expect.stringContaining(sentence) });
    expect(JSON.stringify(found)).not.toContain('xoxb-1234');
  });

  it('may not send a secret that is in use to another address', () => {
    const elsewhere = { ...given, addresses: { baseUrl: 'https://elsewhere.example.com' } };
    expect(referenceTo('SLACK_BOT_TOKEN', elsewhere)).toHaveProperty('problem');
    expect(referenceTo('SLACK_BOT_TOKEN', { ...given, addresses: { baseUrl: undefined } })).toHaveProperty('problem');
  });
});

describe('a secret of another destination', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    ['with a default', '${SLACK_OTHER:-}', 'SLACK_OTHER'],
    ['with a path that is written differently', '${file:/run/secrets/slack_other}', 'file:/run/secrets/./slack_other'],
    [
      'with a path from the folder of the file',
      '${file:secrets/slack_other}',
      'file:/etc/pigeonpost/secrets/slack_other',
    ],
  ])('is found if the file has it %s', (_, written, entered) => {
    const other = `sinks: { other: { type: http, auth: { token: "${written}" } } }\n`;
    expect(referenceTo(entered, { ...given, file: other })).toHaveProperty('problem');
  });

  it('is found if the path leads to it through a link, as in Kubernetes', () => {
    mkdirSync(join(folder, '..data'));
    writeFileSync(join(folder, '..data/slack_other'), 'secret');
    symlinkSync('..data/slack_other', join(folder, 'slack_other'));
    const other = 'sinks: { other: { type: http, auth: { token: "${file:slack_other}" } } }\n';
    const entered = `file:${join(folder, '..data/slack_other')}`;
    expect(referenceTo(entered, { ...given, folder, file: other })).toHaveProperty('problem');
  });
});
