import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeToken, proofKey, prove, storeName } from '../../api/credentials.js';
import type { Context } from '../command.js';

export interface AskedOfApi {
  readonly method: string;
  /** Path with the query. */
  readonly url: string;
  readonly body: string;
}

/** A response that begins and never ends. */
interface Unending {
  readonly begins: string;
}

export interface AnsweringApi {
  /** Folder of the configuration, where tests may add files. */
  readonly folder: string;
  /** Configuration of the answering API. */
  readonly config: string;
  close(): Promise<void>;
}

/** Other keys of the configuration; the kit adds `server`. */
const smallest = [
  'workspaces: { acme: { baseUrl: "https://engagement.example.com", apiKey: "${file:key}" } }',
  'syncs: { all: { workspace: acme, sinks: [archive] } }',
  'sinks: { archive: { type: file, folder: ./archive } }',
];
/** In the form of a named token, whose proofs need no slow key derivation (`proofKey`). */
const token = makeToken().text;

/** Answers the identity check like the process of this configuration. */
async function instanceAnswer(url: string, config: string): Promise<string> {
  const challenge = new URL(url, 'http://127.0.0.1').searchParams.get('challenge')!;
  const key = await proofKey(token, 'a-ledger');
  const proof = (statement: 'ledger' | 'store' | 'file', value: string): string =>
    prove(key, challenge, statement, value);
  return JSON.stringify({
    pigeonpost: '0.0.0',
    ledger: 'a-ledger',
    proof: proof('ledger', 'a-ledger'),
    store: proof('store', storeName({ kind: 'embedded', folder: join(dirname(config), 'data') })),
    file: proof('file', config),
  });
}

/** Starts an API with the responses of a test, and writes a configuration with which commands find it. */
export async function answeringApi(
  answer: (asked: AskedOfApi) => string | Unending,
  configuration: readonly string[] = smallest,
): Promise<AnsweringApi> {
  const folder = mkdtempSync(join(tmpdir(), 'answering-api-'));
  const config = join(folder, 'pigeonpost.yaml');
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const url = request.url!;
      if (url.startsWith('/instance?')) {
        instanceAnswer(url, config).then(
          (text) => response.end(text),
          () => response.destroy(),
        );
      } else {
        const given = answer({ method: request.method!, url, body });
        if (typeof given === 'string') response.end(given);
        else response.write(given.begins);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const lines = [
    ...configuration,
    `server: { port: ${(server.address() as AddressInfo).port}, token: "\${file:token}" }`,
  ];
  writeFileSync(config, lines.join('\n'));
  writeFileSync(join(folder, 'key'), 'a-key');
  writeFileSync(join(folder, 'token'), token);
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

/** Returns the context of a command with this configuration, and what the command prints as its result. */
export function listening(config: string): { readonly context: Context; readonly lines: string[] } {
  const lines: string[] = [];
  const out = { line: (text: string) => void lines.push(text), note: () => undefined } as unknown as Context['out'];
  return { context: { config, out }, lines };
}
