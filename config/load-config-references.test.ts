import { problemsOf, smallestEnvironment, smallestWith } from './load-text.test-kit.js';

const secretMessage =
  'a secret must not be in this file: put it into an environment variable and write ${NAME} here, or into a file and write ${file:/path}';

/** The smallest file; the line numbers below refer to it: the sync is in lines 5 to 8, the sink in 9 to 12. */
const inSync = (lines: string) => smallestWith({ replace: 'workspace: acme\n', by: `workspace: acme\n${lines}` });
const atEnd = (lines: string) => smallestWith({ append: lines });
const instead = (replace: string, by: string) => smallestWith({ replace, by });

const headerMessage =
  'allowed: a secret of printable ASCII characters without spaces, tabs or line breaks, not even at its end';

describe('a secret that an HTTP header cannot contain', () => {
  it.each([
    ['a line break at its end', 'key-2a2a\n'],
    ['a line break inside it', 'key\r\n2a2a'],
    ['a space before it', ' key-2a2a'],
    ['a tab in it', 'key\t2a2a'],
    ['a non-ASCII letter', 'k\u00e9y-2a2a'],
  ])('is reported because of %s at every key that needs a secret, without being shown', async (_, secret) => {
    const text = atEnd('server: { token: "${KEY}" }\ntemporal: { address: "temporal:7233", apiKey: "${KEY}" }\n');
    expect(await problemsOf(text.replace('ACME_API_KEY', 'KEY'), { KEY: secret })).toEqual([
      `4: workspaces.acme.apiKey: found a value from \${KEY}, ${headerMessage}`,
      `13: server.token: found a value from \${KEY}, ${headerMessage}`,
      `14: temporal.apiKey: found a value from \${KEY}, ${headerMessage}`,
    ]);
  });

  it('ignores one line break at the end of its file', async () => {
    const text = instead('${ACME_API_KEY}', '${file:key}');
    expect(await problemsOf(text, {}, { key: 'key-2a2a\n' })).toEqual([]);
    expect(await problemsOf(text, {}, { key: 'key-2a2a\n\n' })).toEqual([
      `4: workspaces.acme.apiKey: found a value from \${file:key}, ${headerMessage}`,
    ]);
  });
});

describe('a reference or secret that cannot be used', () => {
  it.each<[string, string, string[]]>([
    [
      'a variable that is not set',
      instead('ACME_API_KEY', 'ACME_KEY'),
      [
        '4: workspaces.acme.apiKey: the environment variable ACME_KEY is not set; set it, or write ${ACME_KEY:-} where it may be absent',
      ],
    ],
    [
      'a variable that is not set, at a duration',
      inSync('    every: { live: "${LIVE}" }\n'),
      [
        '8: syncs.conferences.every.live: the environment variable LIVE is not set; set it, or write ${LIVE:-} where it may be absent',
      ],
    ],
    [
      'a variable that is not set, at a key with several allowed shapes',
      inSync('    pigeonholes: { name: "${EVENTS}" }\n'),
      [
        '8: syncs.conferences.pigeonholes.name: the environment variable EVENTS is not set; set it, or write ${EVENTS:-} where it may be absent',
      ],
    ],
    [
      'a secret that may be absent',
      instead('${ACME_API_KEY}', '${UNSET:-}'),
      ['4: workspaces.acme.apiKey: is missing, allowed: a secret, written as ${NAME} or ${file:/path}'],
    ],
    ['a literal secret', instead('${ACME_API_KEY}', 'key-2a2a'), [`4: workspaces.acme.apiKey: ${secretMessage}`]],
    [
      'a secret as a default',
      instead('${ACME_API_KEY}', '${UNSET:-key-2a2a}'),
      [`4: workspaces.acme.apiKey: ${secretMessage}`],
    ],
    [
      'a literal secret at a key that allows a list',
      atEnd('  hooks:\n    type: webhook\n    url: https://hooks.example.com\n    secret: whsec_2a2a\n'),
      [`16: sinks.hooks.secret: ${secretMessage}`],
    ],
    [
      'a literal secret in a list',
      atEnd(
        '  hooks:\n    type: webhook\n    url: https://hooks.example.com\n    secret: ["${ACME_API_KEY}", whsec_2a2a]\n',
      ),
      [`16: sinks.hooks.secret[1]: ${secretMessage}`],
    ],
    [
      'a password in the store',
      atEnd('store: postgres://me:2a2a@db/ledger\ntemporal: { address: "t:1" }\n'),
      [
        '13: store: a password must not be in this file: put the URL into an environment variable and write ${NAME} here',
      ],
    ],
    [
      'a password in the query of the store',
      atEnd('store: postgres://db/ledger?password=2a2a\ntemporal: { address: "t:1" }\n'),
      [
        '13: store: a password must not be in this file: put the URL into an environment variable and write ${NAME} here',
      ],
    ],
    [
      'a password in the proxy',
      atEnd('network: { proxy: "http://me:2a2a@proxy:3128" }\n'),
      [
        '13: network.proxy: a password must not be in this file: put the URL into an environment variable and write ${NAME} here',
      ],
    ],
  ])('%s is reported with line and key, what was found and what is allowed', async (_, text, problems) => {
    expect(await problemsOf(text, smallestEnvironment)).toEqual(problems);
  });
});

describe('a referenced file', () => {
  it.each<[string, string, string[]]>([
    [
      'a missing certificate file',
      atEnd('network: { ca: own.pem }\n'),
      ['13: network.ca: the file cannot be read, ENOENT; correct the path ("own.pem")'],
    ],
    [
      'a certificate file without a certificate',
      atEnd('network: { ca: pigeonpost.yaml }\n'),
      [
        '13: network.ca: the file holds no PEM certificate; name one that has a line -----BEGIN CERTIFICATE----- ("pigeonpost.yaml")',
      ],
    ],
  ])('%s is reported with line and key, what was found and what is allowed', async (_, text, problems) => {
    expect(await problemsOf(text, smallestEnvironment)).toEqual(problems);
  });
});

describe('an embedded Temporal with a store in PostgreSQL', () => {
  const says =
    'an embedded Temporal needs an embedded store, and "store" is a PostgreSQL database; set temporal.address to a Temporal server, or store to embedded:FOLDER';

  it.each<[string, Record<string, string>, string]>([
    ['store: postgres://db/ledger', {}, '13: store'],
    ['store: "${URL}"', { URL: 'postgres://me:word@db/ledger' }, '13: store'],
    ['', { DATABASE_URL: 'postgres://me:word@db/ledger' }, '1: store'],
    ['store: postgres://db/ledger\ntemporal: { namespace: events }', {}, '13: store'],
    [
      'store: postgres://db/ledger\ntemporal: { address: embedded }',
      { TEMPORAL_ADDRESS: 'temporal:7233' },
      '14: temporal.address',
    ],
  ])('is reported for %j', async (lines, environment, place) => {
    expect(await problemsOf(atEnd(`${lines}\n`), { ...smallestEnvironment, ...environment })).toEqual([
      `${place}: ${says}`,
    ]);
  });

  it.each<[string, Record<string, string>]>([
    ['store: postgres://db/ledger\ntemporal: { address: "temporal:7233" }', {}],
    ['store: postgres://db/ledger', { TEMPORAL_ADDRESS: 'temporal:7233' }],
    ['store: embedded:./own', { DATABASE_URL: 'postgres://db/ledger' }],
    ['temporal: { address: "temporal:7233" }', {}],
  ])('is not the case for %j', async (lines, environment) => {
    expect(await problemsOf(atEnd(`${lines}\n`), { ...smallestEnvironment, ...environment })).toEqual([]);
  });
});

describe('drop folders', () => {
  it.each<[string, string, string[]]>([
    [
      'an unknown workspace',
      'imports: [{ workspace: acne, pigeonhole: 101, folder: in }]',
      ['13: imports[0].workspace: found "acne", which is not a workspace in this file, did you mean "acme"?'],
    ],
    [
      'the same folder written in two ways',
      'imports: [{ workspace: acme, pigeonhole: 101, folder: in }, { workspace: acme, pigeonhole: 102, folder: ./in/ }]',
      ['13: imports[1].folder: another entry of imports has this folder; give each one of its own'],
    ],
    [
      'the folder of the embedded store',
      'imports: [{ workspace: acme, pigeonhole: 101, folder: ./data/in }]',
      ['13: imports[0].folder: this folder is, or is inside, the folder of the embedded store; choose another one'],
    ],
    ['valid folders', 'imports: [{ workspace: acme, pigeonhole: { name: "^A" }, folder: in }]', []],
  ])('with %s have the expected problems', async (_, line, problems) => {
    expect(await problemsOf(atEnd(`${line}\n`), smallestEnvironment)).toEqual(problems);
  });
});

describe('nightly exports', () => {
  const lake =
    '  lake: { type: file, folder: ./lake }\n  hooks: { type: webhook, url: "https://hooks.example.com", secret: "${HOOK}" }\n';
  const withSinks = (lines: string) => `${instead('sinks:\n  archive', `sinks:\n${lake}  archive`)}${lines}\n`;
  const environment = { ...smallestEnvironment, HOOK: `whsec_${Buffer.alloc(32, 7).toString('base64')}` };

  it.each<[string, string, string[]]>([
    ['one line', 'exports: [{ to: archive }]', []],
    ['all keys', 'exports: [{ to: archive, at: "23:59 Asia/Tokyo", format: csv, tables: [votes], keep: all }]', []],
    ['two sinks', 'exports: [{ to: lake, keep: 3 }, { to: archive }]', []],
    [
      'an unknown sink',
      'exports: [{ to: archve }]',
      ['15: exports[0].to: found "archve", which is not a sink in this file, did you mean "archive"?'],
    ],
    [
      'a sink that stores no files',
      'exports: [{ to: hooks }]',
      ['15: exports[0].to: the sink hooks is of type webhook: name a sink of type file or s3'],
    ],
    [
      'a sink that another entry has',
      'exports: [{ to: archive }, { to: archive, format: csv }]',
      ['15: exports[1].to: another entry of exports has the sink archive; name all tables in one entry'],
    ],
    ...['24:00', '2:00', '02:60', '02:00 Mars/Base', '02:00 Europe/Berlin x'].map((at): [string, string, string[]] => [
      `the time ${at}`,
      `exports: [{ to: archive, at: "${at}" }]`,
      [`15: exports[0].at: found "${at}", allowed: a time of day and a time zone, such as 02:30 Europe/Berlin`],
    ]),
    [
      'a table of the workspace',
      'exports: [{ to: archive, tables: [pigeonholes] }]',
      [expect.stringMatching(/^15: exports\[0\]\.tables.* found "pigeonholes", allowed: /) as unknown as string],
    ],
  ])('with %s have the expected problems', async (_, line, problems) => {
    expect(await problemsOf(withSinks(line), environment)).toEqual(problems);
  });
});
