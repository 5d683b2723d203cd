import { AsyncResource } from 'node:async_hooks';
import { createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createPigeonholeClient, type PigeonholeClient } from '../../pigeonhole/client.js';
import { pigeonhole } from './stage.js';

/** A client whose only connection for writes is busy when a POST is requested, until the test releases it. */
export interface BusyClient {
  readonly client: PigeonholeClient;
  /** Whether a POST waits for the connection, or for the confirmation of its lease. */
  isWaiting(): boolean;
  letGo(): void;
  close(): Promise<void>;
}

/** Opens the client through a relay to the service. The relay holds the answer to the request before the POST. */
export async function openBusyClient(serviceUrl: string): Promise<BusyClient> {
  let held: ServerResponse | undefined;
  let holds = false;
  const relay = createServer((incoming, outgoing) => {
    if (holds) {
      holds = false;
      held = outgoing;
      return;
    }
    const { method, headers } = incoming;
    const onward = request(`${serviceUrl}${incoming.url}`, { method, headers, agent: false }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`;
  const client = createPigeonholeClient({ baseUrl, apiKey: 'sandbox-key', connections: 1 });
  // A write, because reads have connections of their own. It is bound to this context, so that it needs no lease. The relay
  // does not pass it on.
  const occupy = AsyncResource.bind((): void => {
    holds = true;
    client.createRegistrants(pigeonhole, '{"attendeeCode":"0"}').catch(() => undefined);
  });
  return {
    client: {
      ...client,
      createPigeonhole(...given) {
        occupy();
        return client.createPigeonhole(...given);
      },
      createRegistrants(...given) {
        occupy();
        return client.createRegistrants(...given);
      },
    },
    isWaiting: () => held !== undefined,
    letGo: () => void held?.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
    async close() {
      const closed = new Promise((resolve) => relay.close(resolve));
      relay.closeAllConnections();
      await Promise.all([closed, client.close()]);
    },
  };
}
