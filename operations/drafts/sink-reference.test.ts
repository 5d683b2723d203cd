import { referenceTo } from './sink-reference.js';

const file = `
workspaces: { acme: { apiKey: "\${SLACK_KEY_OF_SERVICE}" } }
sinks:
  own: { type: slack, token: "\${SLACK_BOT_TOKEN}", baseUrl: "https://proxy.example.com" }
  other: { type: http, auth: { token: "\${SLACK_OTHER}" } }
`;
const given = { prefix: 'SLACK_', file, type: 'slack', addresses: { baseUrl: 'https://proxy.example.com' } };

describe('a reference to a secret that a person enters', () => {
  it.each([
    ['SLACK_NEW', '${SLACK_NEW}'],
    ['${SLACK_NEW}', '${SLACK_NEW}'],
    ['file:/run/secrets/slack-token.txt', '${file:/run/secrets/slack-token.txt}'],
    ['SLACK_BOT_TOKEN', '${SLACK_BOT_TOKEN}'], // of the same kind of sink, and sent to the same address
  ])('may be %s', (entered, reference) => {
    expect(referenceTo(entered, given)).toEqual({ reference });
  });

  it.each([
    ['the secret itself', 'xoxb-1234-abcd', 'never the secret itself'],
    ['a variable of pigeonpost', 'LEDGER_KEY', 'must begin with SLACK_'],
    ['any file of the machine', 'file:/etc/passwd', 'must begin with SLACK_'],
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
