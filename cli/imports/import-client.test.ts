import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandError, ExitCode } from '../exit-code.js';
import { importClient } from './import-client.js';

let server: Server;
let folder: string;
let file: string;
/** Called for each request, after its whole body has arrived. */
let onRequest: (response: ServerResponse) => void;

beforeAll(async () => {
  server = createServer((request, response) => void request.resume().on('end', () => onRequest(response)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  folder = mkdtempSync(join(tmpdir(), 'import-client-'));
  file = join(folder, 'people.csv');
  writeFileSync(file, 'Name\nAda\n');
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true });
});

const client = () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return importClient(() => Promise.resolve({ url, token: undefined }));
};

type Call = (signal: AbortSignal) => Promise<unknown>;
const check: Call = (signal) => client().check(file, {}, { signal, onSent: () => undefined });
const start: Call = (signal) => client().start(file, {}, { signal, onSent: () => undefined });
const codes: Call = async (signal) => {
  for await (const _ of client().generatedCodes(file, {}, signal));
};

const nothing = 'stopped: nothing was imported';
const unsure = 'stopped: check "pigeonpost import list" to see whether the import has started';

describe('a stopped command', () => {
  it.each<[string, Call, string]>([
    ['check', check, nothing],
    ['codes', codes, nothing],
    ['start', start, unsure],
  ])('says what was done, before and during the response: %s', async (_, call, message) => {
    const beginnings = [() => undefined, (response: ServerResponse) => void response.writeHead(200).write('{"id":')];
    for (const begin of beginnings) {
      const stop = new AbortController();
      onRequest = (response) => {
        begin(response);
        setTimeout(() => stop.abort(), 20); // so that the beginning of the response arrives first
      };
      const error: unknown = await call(stop.signal).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(CommandError);
      expect(error).toMatchObject({ exitCode: ExitCode.Failed, message });
    }
  });

  it('says that nothing was imported if it is stopped before it sends the file', async () => {
    await expect(start(AbortSignal.abort())).rejects.toMatchObject({ exitCode: ExitCode.Failed, message: nothing });
  });
});
