import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

type PoolMode = 'session' | 'transaction' | 'statement';

/** Parameters of a connection that PgBouncer accepts by default; it refuses every other one. */
const accepted = ['user', 'database', 'application_name', 'client_encoding', 'DateStyle', 'TimeZone'];

/**
 * Starts a connection pooler in front of a PostgreSQL server without passwords. Like PgBouncer, it refuses parameters
 * that it does not know, passes a connection's statements to whatever session is free, and in statement mode refuses
 * transactions. Sources: PostgreSQL 15, "Message Formats"; PgBouncer, "Configuration".
 */
export async function startPooler(serverUrl: string, mode: PoolMode): Promise<{ url: string; stop(): void }> {
  const { hostname, port } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  const idle: Socket[] = [];
  const pooler = createServer(serve);
  pooler.listen(0, '127.0.0.1');
  await once(pooler, 'listening');

  function serve(client: Socket): void {
    sockets.add(client);
    client.on('error', () => undefined);
    let startup: Buffer | undefined;
    let session: Socket | undefined;
    const waiting: Buffer[] = [];
    client.on('data', (data: Buffer) => {
      if (startup === undefined) {
        startup = data;
        const unknown = parametersOf(data).find((name) => !accepted.includes(name));
        if (unknown === undefined) return client.write(welcome);
        return client.end(refusalOf(`unsupported startup parameter: ${unknown}`));
      }
      if (data[0] === 0x58) return client.end(); // Terminate
      if (mode === 'statement' && /^Q.{4}begin\0/s.test(data.toString('latin1'))) {
        return client.end(refusalOf('transaction blocks not allowed in statement pooling mode'));
      }
      waiting.push(data);
      pass().catch((error: unknown) => client.destroy(error as Error));
    });
    client.on('close', () => session?.destroy());

    let isPassing = false;
    async function pass(): Promise<void> {
      if (isPassing) return;
      isPassing = true;
      session ??= idle.pop() ?? (await openSession(startup!));
      session.removeAllListeners('data');
      session.on('data', (answer: Buffer) => {
        client.write(answer);
        const isFree = answer.subarray(-6).equals(readyForQuery);
        if (isFree && mode !== 'session' && session !== undefined) {
          idle.push(session);
          session = undefined;
        }
      });
      for (const data of waiting.splice(0)) session.write(data);
      isPassing = false;
    }
  }

  async function openSession(startup: Buffer): Promise<Socket> {
    const session = connect(Number(port), hostname);
    sockets.add(session);
    session.on('error', () => undefined);
    session.write(startup);
    let answer = Buffer.alloc(0);
    while (!answer.subarray(-6).equals(readyForQuery)) {
      answer = Buffer.concat([answer, ...((await once(session, 'data')) as Buffer[])]);
    }
    return session;
  }

  const url = new URL(serverUrl);
  url.port = String((pooler.address() as AddressInfo).port);
  return {
    url: url.href,
    stop() {
      pooler.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** ReadyForQuery outside a transaction. */
const readyForQuery = Buffer.from('Z\0\0\0\x05I', 'latin1');

/** AuthenticationOk and ReadyForQuery. */
const welcome = Buffer.concat([Buffer.from('R\0\0\0\x08\0\0\0\0', 'latin1'), readyForQuery]);

/** Returns the names in a StartupMessage: a length, the version, then names and values that end with NUL. */
function parametersOf(startup: Buffer): string[] {
  const texts = startup.subarray(8).toString('utf8').split('\0');
  return texts.filter((text, index) => index % 2 === 0 && text !== '');
}

/** Returns an ErrorResponse as PgBouncer sends it for what it refuses itself. */
function refusalOf(message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C08P01\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}
