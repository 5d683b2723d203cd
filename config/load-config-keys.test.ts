import { errorOf, problemsOf, smallestEnvironment, smallestWith } from './load-text.test-kit.js';

const addressMessage =
  'allowed: an https address such as https://engagement.example.com (http only for loopback), without user, query or fragment';

/** The smallest file; the line numbers below refer to it: the sync is in lines 5 to 8, the sink in 9 to 12. */
const inSync = (lines: string) => smallestWith({ replace: 'workspace: acme\n', by: `workspace: acme\n${lines}` });
const folderInStore =
  '12: sinks.archive.folder: this folder is, or is inside, the folder of the embedded store; choose another one';
const atEnd = (lines: string) => smallestWith({ append: lines });
const instead = (replace: string, by: string) => smallestWith({ replace, by });

describe('a key that is wrong, missing or of the wrong shape', () => {
  it.each<[string, string, string[]]>([
    [
      'a list for a group',
      instead('  acme:\n    baseUrl: https://engagement.example.com\n    apiKey: ${ACME_API_KEY}\n', '  - acme\n'),
      [
        '1: workspaces: found a list, allowed: a group of workspaces, each under its name',
        '5: syncs.conferences.workspace: found "acme", which is not a workspace in this file, allowed: none, since there is no workspace',
      ],
    ],
    ['a text for a sync', atEnd('temporal: embedded\n'), ['13: temporal: found "embedded", allowed: a group of keys']],
    [
      'an invalid name',
      instead('  archive:', '  The Archive:').replace('[archive]', '["The Archive"]'),
      [
        '10: sinks["The Archive"]: this name is not allowed here, allowed: letters a-z, digits and -, at most 63 characters, such as acme-2026',
      ],
    ],
    [
      'no sinks',
      instead('sinks: [archive]', 'sinks: []'),
      ['8: syncs.conferences.sinks: found a list, allowed: a list of names of sinks'],
    ],
    [
      'a mistyped key',
      inSync('    evry: { live: 5s }\n'),
      ['8: syncs.conferences.evry: unknown key, did you mean "every"?'],
    ],
    [
      'a mistyped key in a filter',
      inSync('    pigeonholes: { exclud: [1] }\n'),
      ['8: syncs.conferences.pigeonholes.exclud: unknown key, did you mean "exclude"?'],
    ],
    [
      'a mistyped list',
      inSync('    drop: { vote: [a] }\n'),
      ['8: syncs.conferences.drop.vote: unknown key, did you mean "votes"?'],
    ],
    [
      'a mistyped key of all sinks',
      atEnd('    consentt: { accept: [obtained] }\n'),
      ['13: sinks.archive.consentt: unknown key, did you mean "consent"?'],
    ],
    [
      'a mistyped key of a sink type',
      atEnd('    foldr: ./archive\n'),
      ['13: sinks.archive.foldr: unknown key, did you mean "folder"?'],
    ],
    [
      'an unknown key',
      atEnd('server:\n  colour: red\n'),
      ['14: server.colour: unknown key, allowed: host, port, token, publicUrl, maxConnectionsPerAddress, probes'],
    ],
    ['an unknown key at the top', atEnd('sync: {}\n'), ['13: sync: unknown key, did you mean "syncs"?']],
    [
      'a missing key',
      instead('    baseUrl: https://engagement.example.com\n', ''),
      [`2: workspaces.acme.baseUrl: is missing, ${addressMessage}`],
    ],
    [
      'a key without a value',
      instead(' https://engagement.example.com', ''),
      [`3: workspaces.acme.baseUrl: is missing, ${addressMessage}`],
    ],
    [
      'a missing part',
      instead('syncs:', 'syncs: {}\nretentionn:'),
      [
        '5: syncs: found a group of keys, allowed: at least one sync',
        '6: retentionn: unknown key, did you mean "retention"?',
      ],
    ],
    [
      'a key that is written twice',
      instead('    apiKey:', '    apiKey: ${ACME_API_KEY}\n    apiKey:'),
      ['5: workspaces.acme.apiKey: this key is written twice; remove one of the two'],
    ],
    ['the key __proto__', atEnd('__proto__: {}\n'), ['13: __proto__: this key is not allowed; give it another name']],
    [
      'an alias',
      instead('  acme:', '  acme: &a').replace('workspace: acme', 'workspace: *a'),
      ['7: syncs.conferences.workspace: YAML aliases are not supported; write the value again'],
    ],
    [
      'a tag',
      instead('type: file', 'type: !!str file'),
      ['11: sinks.archive.type: YAML tags are not supported; remove the one that begins with "!"'],
    ],
  ])('%s is reported with line and key, what was found and what is allowed', async (_, text, problems) => {
    expect(await problemsOf(text, smallestEnvironment)).toEqual(problems);
  });
});

describe('a reference to an unknown name', () => {
  it.each<[string, string, string[]]>([
    [
      'an unknown workspace',
      instead('workspace: acme', 'workspace: acne'),
      ['7: syncs.conferences.workspace: found "acne", which is not a workspace in this file, did you mean "acme"?'],
    ],
    [
      'an unknown sink',
      instead('[archive]', '[archive, warehouse]'),
      ['8: syncs.conferences.sinks[1]: found "warehouse", which is not a sink in this file, allowed: archive'],
    ],
    [
      'a sink named twice',
      instead('[archive]', '[archive, archive]'),
      ['8: syncs.conferences.sinks: the same entry is written twice; allowed: a list of names of sinks'],
    ],
    [
      'an open server without a token',
      atEnd('server:\n  host: 0.0.0.0\n'),
      [
        '14: server.host: others can reach this address, so a token is needed: set server.token to ${NAME}, or listen on 127.0.0.1',
      ],
    ],
    [
      'an open server with an absent token',
      atEnd('server: { host: "::", token: "${TOKEN:-}" }\n'),
      [
        '13: server.host: others can reach this address, so a token is needed: set server.token to ${NAME}, or listen on 127.0.0.1',
      ],
    ],
    ['a sink in the folder of the store', instead('./archive', './data/'), [folderInStore]],
    [
      'a sink in a folder inside of a named store',
      `${instead('./archive', 'ledger/../ledger/archive')}store: embedded:./ledger\n`,
      [folderInStore],
    ],
    [
      'an API key for the embedded server',
      atEnd('temporal:\n  apiKey: ${ACME_API_KEY}\n'),
      ['14: temporal.apiKey: the embedded server does not use this key; set temporal.address, or remove the key'],
    ],
    [
      'a mistyped sink type',
      instead('type: file', 'type: fil'),
      ['11: sinks.archive.type: found "fil", allowed: file, webhook; did you mean "file"?'],
    ],
    [
      'an unknown sink type',
      instead('type: file', 'type: teams'),
      ['11: sinks.archive.type: found "teams", allowed: file, webhook'],
    ],
    [
      'a sink type that is the name of a property of every object',
      instead('type: file', 'type: constructor'),
      ['11: sinks.archive.type: found "constructor", allowed: file, webhook'],
    ],
    [
      'a sink without a type',
      instead('    type: file\n', ''),
      ['10: sinks.archive.type: is missing, allowed: the name of a sink type'],
    ],
    [
      'a missing key of a sink type',
      instead('    folder: ./archive\n', ''),
      ['10: sinks.archive.folder: is missing, allowed: the path of a folder'],
    ],
  ])('%s is reported with line and key, what was found and what is allowed', async (_, text, problems) => {
    expect(await problemsOf(text, smallestEnvironment)).toEqual(problems);
  });
});

describe('the folder of a sink', () => {
  it.each([
    ['./data-archive', ''],
    ['./..data', ''],
    ['./data', 'store: postgres://db/ledger\ntemporal: { address: "temporal:7233" }\n'],
    ['./data', 'store: embedded:./data/ledger\n'],
  ])('%s is accepted with %j', async (folder, store) => {
    expect(await problemsOf(instead('./archive', folder) + store, smallestEnvironment)).toEqual([]);
  });
});

describe('a mistake in one part of the file', () => {
  it.each<[string, string, string[]]>([
    [
      'an unknown sink type',
      instead('type: file', 'type: slack'),
      ['11: sinks.archive.type: found "slack", allowed: file, webhook'],
    ],
    [
      'an alert receiver with a user but no password',
      atEnd(
        'alerts: { to: [{ type: smtp, host: a.example, username: x, from: a@b.example, to: c@d.example }], when: {} }\n',
      ),
      ['13: alerts.to[0]: username and password belong together; give both or none'],
    ],
    [
      'a password for a mail server that allows plain text',
      atEnd(
        'alerts: { to: [{ type: smtp, host: a.example, username: x, password: "${ACME_API_KEY}", allowPlainText: true, from: a@b.example, to: c@d.example }], when: {} }\n',
      ),
      ['13: alerts.to[0]: a password is never sent without TLS: remove allowPlainText, or username and password'],
    ],
    ['a mistyped key', atEnd('alert: {}\n'), ['13: alert: unknown key, did you mean "alerts"?']],
  ])('%s is reported with line and key, what was found and what is allowed', async (_, text, problems) => {
    expect(await problemsOf(text, smallestEnvironment)).toEqual(problems);
  });
});

describe('a problem', () => {
  it('does not hide others: all are reported, in the order of the file', async () => {
    const text =
      inSync('    evry: {}\n    every: { live: 5x }\n')
        .replace('type: file', 'type: slack')
        .replace('apiKey: ${ACME_API_KEY}', 'apiKey: literal') + 'store: nowhere\nretention: 5\n';
    expect((await problemsOf(text)).map((problem) => /^\d+: [\w.]+/.exec(problem)?.[0])).toEqual([
      '4: workspaces.acme.apiKey',
      '8: syncs.conferences.evry',
      '9: syncs.conferences.every.live',
      '13: sinks.archive.type',
      '15: store',
      '16: retention',
    ]);
  });

  it('is printed with the file as the user named it, its line, and its key', async () => {
    const error = await errorOf(inSync('    every:\n      live: 5x\n'), smallestEnvironment);
    expect(error?.message).toBe(
      `${error?.file}:9: syncs.conferences.every.live: found "5x", allowed: a duration such as 5s, 30m, 6h`,
    );
    expect(error).toMatchObject({ kind: 'invalid', problems: [{ line: 9, column: 7 }] });
  });
});
