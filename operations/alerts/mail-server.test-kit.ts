import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type SecureContextOptions, TLSSocket } from 'node:tls';

/** The part of SMTP (RFC 5321, AUTH PLAIN of RFC 4954) that alerts use. A certificate enables STARTTLS. */
export interface MailServer {
  readonly port: number;
  /** Each received mail, headers and body. */
  readonly taken: string[];
  /** User names and passwords that clients presented, decoded. */
  readonly presented: string[];
  /** Sets the answer to a command such as `RCPT` or `AUTH`; null sends no answer. */
  answer(command: string, line: string | null): void;
  close(): Promise<void>;
}

export async function startMailServer(tls?: SecureContextOptions): Promise<MailServer> {
  const taken: string[] = [];
  const presented: string[] = [];
  const answers = new Map<string, string | null>();
  const sockets = new Set<Socket>();
  const serve = (socket: Duplex, isSecure: boolean): void => {
    const say = (command: string, usual: string): void => {
      const line = answers.has(command) ? answers.get(command)! : usual;
      if (line !== null) socket.write(`${line}\r\n`);
    };
    if (!isSecure) say('GREETING', '220 mail.example ESMTP');
    let rest = '';
    let mail: string | null = null;
    socket.on('data', (chunk: Buffer) => {
      rest += chunk.toString();
      for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
        const line = rest.slice(0, end);
        rest = rest.slice(end + 2);
        if (mail !== null) {
          if (line !== '.') mail += `${line}\n`;
          else {
            taken.push(mail);
            mail = null;
            say('MAIL TAKEN', '250 taken');
          }
          continue;
        }
        const [command = ''] = line.split(' ');
        if (command === 'STARTTLS' && tls !== undefined) {
          say(command, '220 ready');
          socket.removeAllListeners('data');
          const secure = new TLSSocket(socket as Socket, { isServer: true, ...tls });
          secure.on('error', () => undefined);
          serve(secure, true);
          return;
        }
        if (command === 'EHLO') {
          const offered = tls === undefined || isSecure ? '' : '250-STARTTLS\r\n';
          say(command, `250-mail.example\r\n${offered}250 AUTH PLAIN`);
        } else if (command === 'AUTH') {
          presented.push(Buffer.from(line.split(' ')[2] ?? '', 'base64').toString());
          say(command, '235 welcome');
        } else if (command === 'DATA') {
          mail = '';
          say(command, '354 send data');
        } else say(command, command === 'STARTTLS' ? '502 there is no TLS' : '250 fine');
      }
    });
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    serve(socket, false);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    taken,
    presented,
    answer: (command, line) => void answers.set(command, line),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
