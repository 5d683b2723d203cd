import { inspect } from 'node:util';
import { errorOf, loadText, smallestWith } from './load-text.test-kit.js';

/** Every secret value in these tests contains this word, as does every literal at a key that requires a secret. */
const word = 'hunter2';

const environment = {
  ACME_API_KEY: `key-${word}`,
  HOOK_SECRET: `whsec_${word}`,
  TOKEN: `token-of-the-server-${word}`,
  STORE: `postgres://me:${word}@db/ledger`,
  HTTPS_PROXY: `http://me:${word}@proxy:3128`,
};

const files = { token: `token-${word}` };

const printed = (value: unknown) =>
  [
    JSON.stringify(value),
    inspect(value, { depth: 20, showHidden: true }),
    value instanceof Error ? value.stack : '',
  ].join('\n');

describe('a configuration that loads', () => {
  it('shows none of its secrets if it is printed', async () => {
    const config = await loadText(
      smallestWith({
        append:
          '  hooks:\n    type: webhook\n    url: https://hooks.example.com\n    secret: ["${HOOK_SECRET}", "${file:token}"]\n' +
          'store: ${STORE}\nserver: { token: "${TOKEN}" }\ntemporal: { address: "t:7233", apiKey: "${TOKEN}" }\n',
      }),
      environment,
      files,
    );
    expect(printed(config)).not.toContain(word);
    expect(printed(config)).toContain('[secret]');
    expect(config.workspaces.acme?.apiKey.reveal()).toContain(word);
  });
});

describe('a secret in quotation marks', () => {
  it.each([`"key-${word}"`, `'key-${word}'`, `\`key-${word}\``, `"key-${word}" `])(
    'is refused without being shown, because a server would not know it',
    async (quoted) => {
      const error = await errorOf(smallestWith({ append: '' }), { ...environment, ACME_API_KEY: quoted });
      expect(error?.message).toContain('remove them where the variable or the file is written');
      expect(printed(error)).not.toContain(word);
    },
  );

  it.each([`it's-${word}"`, `"${word}`, '"'])('may contain or begin with one: %#', async (apiKey) => {
    const config = await loadText(smallestWith({ append: '' }), { ...environment, ACME_API_KEY: apiKey });
    expect(config.workspaces.acme?.apiKey.reveal()).toBe(apiKey);
  });
});

describe('a configuration error', () => {
  const sink = (line: string) =>
    smallestWith({ append: `  hooks:\n    type: webhook\n    url: https://hooks.example.com\n    ${line}\n` });
  const sync = (line: string) => smallestWith({ replace: 'workspace: acme\n', by: `workspace: acme\n    ${line}\n` });

  it.each([
    ['a secret for a duration', sync('every: { live: "${TOKEN}" }')],
    ['a secret for a group', sync('every: ${TOKEN}')],
    ['a secret for a list of ids', sync('pigeonholes: ["${TOKEN}"]')],
    ['a secret for a name of a sink', smallestWith({ replace: '[archive]', by: '["${TOKEN}"]' })],
    ['a secret for a name of a workspace', smallestWith({ replace: 'workspace: acme', by: 'workspace: ${TOKEN}' })],
    ['a secret for a type', smallestWith({ replace: 'type: file', by: 'type: ${TOKEN}' })],
    ['a secret for a history', smallestWith({ append: '    history: ${TOKEN}\n' })],
    ['a secret for a boolean', sink('secret: ${HOOK_SECRET}\n    allowPrivateAddresses: ${TOKEN}')],
    ['a secret for a port', smallestWith({ append: 'server: { port: "${TOKEN}" }\n' })],
    ['a secret for a path', smallestWith({ append: 'network: { ca: "${TOKEN}" }\n' })],
    ['a secret from a file for a store', smallestWith({ append: 'store: ${file:token}\n' })],
    ['a secret at an unknown key', smallestWith({ append: 'tokn: ${TOKEN}\n' })],
    [
      'a secret in an address',
      smallestWith({ replace: 'https://engagement.example.com', by: 'https://${TOKEN}@engagement.example.com' }),
    ],
    ['a literal secret', smallestWith({ replace: '${ACME_API_KEY}', by: `key-${word}` })],
    ['a literal secret as a default', smallestWith({ replace: '${ACME_API_KEY}', by: `\${UNSET:-key-${word}}` })],
    ['a literal secret in a list', sink(`secret: ["\${HOOK_SECRET}", whsec_${word}]`)],
    ['a literal secret at an unknown key', smallestWith({ append: `tokn: key-${word}\n` })],
    ['a literal secret in a reference', smallestWith({ replace: '${ACME_API_KEY}', by: `\${key-${word}}` })],
    ['a literal secret in an unclosed reference', smallestWith({ replace: '${ACME_API_KEY}', by: `"\${key-${word}"` })],
    [
      'a literal secret that is written twice',
      smallestWith({ append: `server: { token: key-${word}, token: key-${word} }\n` }),
    ],
    ['a literal secret with a tag', smallestWith({ replace: '${ACME_API_KEY}', by: `!!str key-${word}` })],
    [
      'a literal user of an address',
      smallestWith({ replace: 'https://engagement', by: `http://me:${word}@engagement` }),
    ],
    [
      'a literal token in the path of an address',
      smallestWith({ replace: 'https://engagement.example.com', by: `http://engagement.example.com/${word}?x` }),
    ],
    ['a literal password in the store', smallestWith({ append: `store: postgres://me:${word}@db/ledger\n` })],
    ['a literal password in another store', smallestWith({ append: `store: mysql://me:${word}@db/ledger\n` })],
    ['a literal password in the proxy', smallestWith({ append: `network: { proxy: "http://me:${word}@proxy" }\n` })],
    ['a syntax error next to a secret', `server: { token: key-${word} ]\n`],
    ['a syntax error in a secret', `server:\n  token: "key-${word}\n`],
    ['a syntax error after a secret', `token: 'a' key-${word}\n`],
  ])('about %s does not show it', async (_, text) => {
    const error = await errorOf(text, environment, files);
    expect(error?.problems.length).toBeGreaterThan(0);
    expect(printed(error)).not.toContain(word);
  });
});
