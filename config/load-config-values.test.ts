import { listNames } from '../base/lists.js';
import { problemsOf, smallestEnvironment, smallestWith } from './load-text.test-kit.js';

const addressMessage =
  'allowed: an https address such as https://engagement.example.com (http only for loopback), without user, query or fragment';

const allLists = listNames.join(', ');

/** The smallest file; the line numbers below refer to it: the sync is in lines 5 to 8, the sink in 9 to 12. */
const inSync = (lines: string) => smallestWith({ replace: 'workspace: acme\n', by: `workspace: acme\n${lines}` });
const atEnd = (lines: string) => smallestWith({ append: lines });
const instead = (replace: string, by: string) => smallestWith({ replace, by });

describe('a value that is not allowed', () => {
  it.each<[string, string, string[]]>([
    [
      'a duration',
      inSync('    every:\n      live: 5x\n'),
      ['9: syncs.conferences.every.live: found "5x", allowed: a duration such as 5s, 30m, 6h'],
    ],
    [
      'a number for a duration',
      inSync('    every: { sweep: 30 }\n'),
      ['8: syncs.conferences.every.sweep: found 30, allowed: a duration such as 5s, 30m, 6h'],
    ],
    [
      'a short interval',
      inSync('    every: { live: 500ms }\n'),
      ['8: syncs.conferences.every.live: found "500ms", allowed: a duration from 1s to 30d'],
    ],
    [
      'an interval of a list',
      inSync('    every: { lists: { votes: often } }\n'),
      ['8: syncs.conferences.every.lists.votes: found "often", allowed: a duration such as 5s, 30m, 6h'],
    ],
    [
      'an address without TLS',
      instead('https://engagement', 'http://engagement'),
      [`3: workspaces.acme.baseUrl: found "http://engagement.example.com", ${addressMessage}`],
    ],
    [
      'a day',
      inSync('    pigeonholes:\n      startsAfter: 2026-02-30\n'),
      ['9: syncs.conferences.pigeonholes.startsAfter: found "2026-02-30", allowed: a day such as 2026-01-31'],
    ],
    [
      'a regular expression',
      inSync('    pigeonholes: { name: "(" }\n'),
      ['8: syncs.conferences.pigeonholes.name: found "(", allowed: a regular expression such as "^ACME "'],
    ],
    [
      'a state',
      inSync('    pigeonholes: { status: [live, over] }\n'),
      ['8: syncs.conferences.pigeonholes.status[1]: found "over", allowed: one of new, upcoming, live, ended'],
    ],
    [
      'an id',
      inSync('    pigeonholes: [101, x]\n'),
      ['8: syncs.conferences.pigeonholes[1]: found "x", allowed: an id such as 101'],
    ],
    [
      'an id that is written twice',
      inSync('    pigeonholes: [101, 101]\n'),
      ['8: syncs.conferences.pigeonholes: the same entry is written twice; allowed: a list of pigeonhole ids'],
    ],
    [
      'neither ids nor filters',
      inSync('    pigeonholes: all\n'),
      ['8: syncs.conferences.pigeonholes: found "all", allowed: a list of pigeonhole ids, or a group of filters'],
    ],
    [
      'a list of the service',
      inSync('    lists: [votes, vote]\n'),
      [`8: syncs.conferences.lists[1]: found "vote", allowed: one of ${allLists}`],
    ],
    [
      'neither auto nor lists',
      inSync('    lists: all\n'),
      [`8: syncs.conferences.lists: found "all", allowed: auto, or a list of ${allLists}`],
    ],
    [
      'the id as a dropped field',
      inSync('    drop: { votes: [id] }\n'),
      ['8: syncs.conferences.drop.votes[0]: found "id", allowed: any field except id, which identifies items'],
    ],
    [
      'dropped fields without a list',
      inSync('    drop: [linkedIn]\n'),
      ['8: syncs.conferences.drop: found a list, allowed: a group of lists, each with the fields to drop'],
    ],
    [
      'a state of consent',
      atEnd('    consent: { accept: [given] }\n'),
      ['13: sinks.archive.consent.accept[0]: found "given", allowed: one of obtained, not-asked, not-known, refused'],
    ],
    [
      'consent without states',
      atEnd('    consent: { basis: "own records" }\n'),
      ['13: sinks.archive.consent.accept: is missing, allowed: a list of obtained, not-asked, not-known, refused'],
    ],
    [
      'a history',
      atEnd('    history: some\n'),
      ['13: sinks.archive.history: found "some", allowed: none, all, or a duration such as 30d'],
    ],
    [
      'a port',
      atEnd('server: { port: 65536 }\n'),
      ['13: server.port: found 65536, allowed: a whole number from 0 to 65535'],
    ],
    [
      'a port in quotes',
      atEnd('server: { port: "8088" }\n'),
      ['13: server.port: found "8088", allowed: a whole number from 0 to 65535'],
    ],
    [
      'a host',
      atEnd('server: { host: "a b" , token: "${ACME_API_KEY}" }\n'),
      [
        '13: server.host: found "a b", allowed: a host name or address such as 127.0.0.1',
        '13: server.token: found a value from ${ACME_API_KEY}, allowed: a secret of 24 characters or more, 8 of them different, without a part that repeats; "openssl rand -hex 24" makes one',
      ],
    ],
    [
      'a store',
      atEnd('store: ./data\n'),
      [
        '13: store: found "./data", allowed: embedded:FOLDER, or a PostgreSQL URL such as postgres://db.example.com/pigeonpost',
      ],
    ],
    [
      'a store without a folder',
      atEnd('store: "embedded:"\n'),
      [
        '13: store: found "embedded:", allowed: embedded:FOLDER, or a PostgreSQL URL such as postgres://db.example.com/pigeonpost',
      ],
    ],
    [
      'a Temporal address',
      atEnd('temporal: { address: temporal.example.com }\n'),
      [
        '13: temporal.address: found "temporal.example.com", allowed: embedded, or host:port such as temporal.example.com:7233',
      ],
    ],
    [
      'a Temporal port',
      atEnd('temporal: { address: "temporal:70000" }\n'),
      [
        '13: temporal.address: found "temporal:70000", allowed: embedded, or host:port such as temporal.example.com:7233',
      ],
    ],
    [
      'a certificate without its key',
      atEnd('temporal:\n  address: temporal:7233\n  tls: { certificate: own.pem }\n'),
      [
        '15: temporal.tls: certificate and key belong together; give both or none',
        '15: temporal.tls.certificate: the file cannot be read, ENOENT; correct the path ("own.pem")',
      ],
    ],
    [
      'a proxy',
      atEnd('network: { proxy: "socks://proxy:1080" }\n'),
      [
        '13: network.proxy: found "socks://proxy:1080", allowed: a proxy such as http://proxy.example.com:3128, or none',
      ],
    ],
    [
      'an allowed host',
      atEnd('network: { allowHosts: [hooks.example.com, "https://x"] }\n'),
      [
        '13: network.allowHosts[1]: found "https://x", allowed: a host name such as hooks.example.com, or .example.com for all below it',
      ],
    ],
  ])('%s is reported with line and key, what was found and what is allowed', async (_, text, problems) => {
    expect(await problemsOf(text, smallestEnvironment)).toEqual(problems);
  });
});
