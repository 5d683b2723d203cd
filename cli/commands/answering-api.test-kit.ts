import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface AskedOfApi {
  readonly method: string;
  /** With its query. */
  readonly url: string;
  readonly body: string;
}

export interface AnsweringApi {
  /** Holds the configuration; a test may put files beside it. */
  readonly folder: string;
  /** A configuration whose API answers. */
  readonly config: string;
  close(): Promise<void>;
}

/** An API that answers commands as a test says, and a configuration by which they find it. */
export async function answeringApi(answer: (asked: AskedOfApi) => string): Promise<AnsweringApi> {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => response.end(answer({ method: request.method!, url: request.url!, body })));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const folder = mkdtempSync(join(tmpdir(), 'answering-api-'));
  const config = join(folder, 'pigeonpost.yaml');
  const lines = [
    'workspaces: { acme: { baseUrl: "https://engagement.example.com", apiKey: "${file:key}" } }',
    'syncs: { all: { workspace: acme, sinks: [archive] } }',
    'sinks: { archive: { type: file, folder: ./archive } }',
    `server: { port: ${(server.address() as AddressInfo).port} }`,
  ];
  writeFileSync(config, lines.join('\n'));
  writeFileSync(join(folder, 'key'), 'a-key');
  return {
    folder,
    config,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true });
    },
  };
}
