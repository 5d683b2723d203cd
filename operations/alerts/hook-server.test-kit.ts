import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export interface ReceivedAlert {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<'occasion' | 'subject' | 'title' | 'says', string>> & {
    readonly subjects: readonly string[];
    readonly todo: string | null;
    readonly link: string | null;
  };
}

/** Receives alerts and verifies them with the published Standard Webhooks library, which shares no code with pigeonpost. */
export interface HookServer {
  readonly url: string;
  /** Accepted messages in order. The server rejects a message that is not signed with the secret. */
  readonly taken: ReceivedAlert[];
  /** Returns the number of requests, including refused ones. */
  readonly asked: () => number;
  /** Sets the status of all later answers; null never answers. */
  answer(status: number | null, headers?: Readonly<Record<string, string>>): void;
  close(): Promise<void>;
}

export async function startHookServer(secret: string): Promise<HookServer> {
  const taken: ReceivedAlert[] = [];
  let asked = 0;
  let next: { status: number | null; headers: Readonly<Record<string, string>> } = { status: 200, headers: {} };
  const server = createServer((request, response) => {
    asked += 1;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { status, headers } = next;
      if (status === null) return;
      if (status < 300) {
        const text = Buffer.concat(chunks).toString();
        taken.push(new Webhook(secret).verify(text, request.headers as Record<string, string>) as ReceivedAlert);
      }
      response.writeHead(status, headers).end();
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/alerts?token=in-the-address`,
    taken,
    asked: () => asked,
    answer: (status, headers = {}) => {
      next = { status, headers };
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
