import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { makeToken, proofKey, prove, storeName } from '../../api/credentials.js';
import type { Config } from '../../operations/load-process-config.js';
import { freeTestPort } from '../../test/free-port.js';
import { checkPort, portOf } from './check-port.js';
import { checkSinks } from './check-sinks.js';

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
