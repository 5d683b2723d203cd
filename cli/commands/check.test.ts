import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { makeToken, proofKey, prove, storeName } from '../../api/credentials.js';
import type { Config } from '../../operations/load-process-config.js';
import { freeTestPort } from '../../test/free-port.js';
import { checkPort, checkSinks, formatEstimate, portOf, verdictOf } from './check.js';
import type { Estimate } from '../../operations/calendar-demand.js';
import type { CheckState } from '../../operations/checks.js';

const note = 'crm.email reads item.Email, never seen on attendees of pigeonhole acme/101; seen: "E-mail"';
const problem = 'all 20 attendees lack a value for email: crm.records[0].match';
let server: Server;
let folder: string;
let asked: (string | undefined)[] = [];
let refusal: string | undefined;
const token = makeToken().text;
beforeAll(async () => {
  const key = await proofKey(token, 'one');
  server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://127.0.0.1');
    asked.push(`${request.method} ${pathname}`);
    if (pathname === '/instance') {
      const proofOf = (statement: 'ledger' | 'store', value: string) =>
        prove(key, searchParams.get('challenge')!, statement, value);
      const store = proofOf('store', storeName(configFor(0).store));
      response.end(
        JSON.stringify({ pigeonpost: '1', ledger: 'one', proof: proofOf('ledger', 'one'), store, file: '' }),
      );
      return;
    }
    const counts = [
      { list: 'attendees', items: 0, withheld: { 'no-match': 20 }, failed: 0, estimated: false },
      { list: 'votes', items: 7, withheld: {}, failed: 0, estimated: false },
    ];
    const preview = { items: [], more: false, counts, problems: [problem], notes: [note] };
    if (refusal !== undefined) response.statusCode = 403;
    const answer = refusal === undefined ? preview : { detail: refusal };
    request.resume().on('end', () => response.end(JSON.stringify(answer)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  folder = mkdtempSync(join(tmpdir(), 'check-sinks-'));
  writeFileSync(join(folder, 'pigeonpost.yaml'), '');
});
beforeEach(() => {
  asked = [];
  refusal = undefined;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true });
});

function configFor(port: number): Config {
  return {
    file: join(folder, 'pigeonpost.yaml'),
    syncs: { all: { workspace: 'acme', pigeonholes: {}, sinks: ['crm'] } },
    sinks: { crm: { type: 'hubspot', settings: {} } },
    server: { host: '127.0.0.1', port, token: { reveal: () => token } },
    store: { kind: 'embedded', folder: join(folder, 'there-is-no-such-store') },
  } as unknown as Config;
}

describe('the findings of check about sinks', () => {
  it('are read from the running pigeonpost without values, so that nothing is audited', async () => {
    expect(await checkSinks(configFor((server.address() as AddressInfo).port))).toEqual({
      mapping: [{ id: 'mapping:crm', label: 'sink crm', state: 'failed', says: problem }],
      consent: [
        {
          id: 'consent:crm',
          label: 'sink crm',
          state: 'note',
          says: 'sink crm: of the attendees read so far, 0 to send, 20 withheld: no value to match by',
        },
      ],
      'profile-fields': [{ id: 'profile-fields', label: 'fields', state: 'note', says: note }],
    });
    expect(asked).toEqual(['GET /instance', 'POST /api/preview']);
  });

  it('name the mappings that could not be checked if the running pigeonpost refuses, and why', async () => {
    refusal = 'this token may not read workspace acme';
    const config = configFor((server.address() as AddressInfo).port);
    const crm = `the mapping of sink crm was not checked with stored items: ${refusal}`;
    const unchecked = (says: string) => ({
      mapping: [{ id: 'mapping', label: 'mappings', state: 'note', says }],
      consent: [],
      'profile-fields': [],
    });
    expect(await checkSinks(config)).toEqual(unchecked(crm));
    const both = await checkSinks({ ...config, sinks: { ...config.sinks, hooks: config.sinks['crm']! } });
    expect(both).toEqual(unchecked(`the mappings of sinks crm, hooks were not checked with stored items: ${refusal}`));
  });

  it('are empty if no pigeonpost runs and nothing is stored', async () => {
    expect(await checkSinks(configFor(1))).toEqual({ mapping: [], consent: [], 'profile-fields': [] });
  });
});

describe('the port of the API', () => {
  const ok = (says: string) => ({ id: 'server', label: 'server', state: 'ok', says });

  it('is a problem if another program listens there', async () => {
    const other = createServer((_, response) => response.end('not pigeonpost'));
    const port = await freeTestPort();
    await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));
    expect(await checkPort(configFor(port))).toEqual([
      {
        id: 'server',
        label: 'server',
        state: 'failed',
        says: `cannot listen on 127.0.0.1:${port}: another process, perhaps pigeonpost itself, already listens there: stop it, or choose another server.port`,
      },
    ]);
    await new Promise((resolve) => other.close(resolve));
    const text = `port ${port} of 127.0.0.1 is free`;
    expect(await checkPort(configFor(port))).toEqual([ok(text)]);
  });

  it('may be in use by the pigeonpost of this configuration', async () => {
    const { port } = server.address() as AddressInfo;
    const text = `port ${port} of 127.0.0.1 is in use by the pigeonpost of this configuration`;
    expect(await checkPort(configFor(port))).toEqual([ok(text)]);
  });

  it('is no problem while a pigeonpost is starting there', async () => {
    const starting = createServer((_, response) => {
      response.statusCode = 503;
      response.end(JSON.stringify({ detail: 'the process is starting: try again in a few seconds' }));
    });
    await new Promise<void>((resolve) => starting.listen(0, '127.0.0.1', resolve));
    const [judged] = await checkPort(configFor((starting.address() as AddressInfo).port));
    starting.closeAllConnections();
    await new Promise((resolve) => starting.close(resolve));
    expect(judged).toMatchObject({
      state: 'ok',
      says: expect.stringMatching(/by a pigeonpost that is not ready yet$/),
    });
  });

  it('is read from an address, even if it is the default port of HTTP', () => {
    expect(['http://127.0.0.1:80', 'http://[::1]:8088'].map(portOf)).toEqual([80, 8088]);
  });
});

const dayOf = (day: string, live: number) => ({ day, pigeonholes: 2, needs: { live, idle: 1440.4, sweep: 20 } });
const estimateOf = (more: Partial<Estimate>): Estimate => {
  const days = [dayOf('2026-11-21', 8000), dayOf('2026-11-22', 12_000)];
  return {
    workspaces: ['acme'],
    quota: 10_000,
    days,
    busiest: days[1]!,
    advice: { fits: false, text: 'It does not fit.' },
    requestsMade: 7,
    ...more,
  };
};

describe('the text of an estimate', () => {
  it('is a table of days with the busiest one marked and explained', () => {
    expect(formatEstimate(estimateOf({}))).toEqual([
      'estimate for acme, 10,000 requests a day:',
      '  day         pigeonholes    live   idle  sweeps  requests  of quota',
      '  2026-11-21            2   8,000  1,441      20     9,461      95 %',
      '  2026-11-22            2  12,000  1,441      20    13,461     135 %  <- busiest',
      '  It does not fit.',
      '  The first read of existing items is not included. This estimate made 7 requests.',
    ]);
  });

  it('omits the share of an unknown quota', () => {
    expect(formatEstimate(estimateOf({ quota: null })).slice(0, 2)).toEqual([
      'estimate for acme:',
      '  day         pigeonholes    live   idle  sweeps  requests',
    ]);
  });

  it('shows the fourteen busiest days of a long calendar, in order', () => {
    const days = Array.from({ length: 20 }, (_, n) => dayOf(`2026-12-${String(n + 1).padStart(2, '0')}`, n * 10));
    const lines = formatEstimate(estimateOf({ days, busiest: days[19]! }));
    expect(lines[2]).toContain('2026-12-07');
    expect(lines[15]).toContain('2026-12-20');
    expect(lines[16]).toBe('  and 6 more days with fewer requests');
  });
});

describe('the verdict of check', () => {
  const results = (...all: CheckState[]) => all.map((state) => ({ state }));

  it('names the next command if there is no problem', () => {
    expect(verdictOf(results('ok', 'note', 'ok', 'warning'), './pigeonpost.yaml', false)).toEqual([
      'no problems: 2 checks passed, 1 warning to review',
      'next: pigeonpost start',
    ]);
    expect(verdictOf(results('ok'), './pigeonpost.yaml', true)).toEqual([
      'no problems: 1 check passed',
      'next: pigeonpost runs; to use a changed file, run: pigeonpost config apply',
    ]);
  });

  it('counts what is refused or out of reach, and asks for another check', () => {
    expect(verdictOf(results('ok', 'failed', 'unknown'), './other.yaml', true)).toEqual([
      '2 problems: fix each PROBLEM above, then run: pigeonpost check --config ./other.yaml',
    ]);
  });
});
