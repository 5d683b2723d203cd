import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { Expression } from '../sinks/mapping/expression.js';
import type { Config } from '../worker/load-process-config.js';
import { checkFields } from './check-fields.js';

let server: Server;
let asked: (string | undefined)[] = [];
beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.url);
    const field = { field: 'E-mail', member: null, types: { string: 1 }, filled: 1, values: null };
    const pigeonholes = [{ workspace: 'acme', pigeonholeId: 101, items: 1, fields: [field] }];
    response.end(JSON.stringify({ list: 'attendees', pigeonholes }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
beforeEach(() => {
  asked = [];
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function configWith(settings: unknown, port: number): Config {
  return {
    syncs: { all: { workspace: 'acme', pigeonholes: {}, sinks: ['crm'] } },
    sinks: { crm: { type: 'hubspot', settings } },
    server: { host: '127.0.0.1', port },
    store: { kind: 'embedded', folder: join(tmpdir(), 'there-is-no-such-store') },
  } as unknown as Config;
}

const mapping = { from: 'attendees', email: new Expression('item.Email') };

describe('what check notes about fields', () => {
  it('is asked of the pigeonpost that runs, by list', async () => {
    const { port } = server.address() as AddressInfo;
    expect(await checkFields(configWith(mapping, port))).toEqual([
      'crm.email reads item.Email, never seen on attendees of pigeonhole acme/101; seen: "E-mail"',
    ]);
    expect(asked).toEqual(['/api/fields?list=attendees']);
  });

  it('is nothing where none runs and nothing is stored', async () => {
    expect(await checkFields(configWith(mapping, 1))).toEqual([]);
  });

  it('is nothing, and nobody is asked, where no mapping is written', async () => {
    const { port } = server.address() as AddressInfo;
    expect(await checkFields(configWith({ url: 'https://hooks.example.com' }, port))).toEqual([]);
    expect(asked).toEqual([]);
  });
});
