import { AsyncResource } from 'node:async_hooks';
import { connect, isIP, type Socket } from 'node:net';
import { rootCertificates } from 'node:tls';
import type { AlertReceiver } from '../../../config/config.js';
import { isLoopback } from '../../../config/loopback.js';
import { strictTls } from '../../../sinks/network/guarded-connector.js';
import { withinDeadline } from '../../../sinks/network/within-deadline.js';
import { confirmHeld } from '../../../sinks/while-held.js';
import type { NetworkSettings } from '../../../sinks/sink.js';
import { type OpenReceiver, type OutgoingAlert, receiverTimes } from './receiver.js';

/** Submission over TLS from the first byte. Source: RFC 8314, 3.3. */
const implicitTlsPort = 465;

type SmtpSettings = Extract<AlertReceiver, { type: 'smtp' }>;

/**
 * Sends alerts by e-mail, one connection for each. Off loopback the server must offer TLS, unless the configuration says
 * `allowPlainText`. On loopback TLS is used where the server offers it. Uses no proxy.
 */
export function openSmtpReceiver(settings: SmtpSettings, network: Pick<NetworkSettings, 'ca'>): OpenReceiver {
  const { host, port, to } = settings;
  const { requestTimeoutMs: timeoutMs } = receiverTimes;
  return {
    type: 'smtp',
    name: `smtp ${host}:${port}`,
    place: [host, String(port), to],
    async send(alert, signal) {
      try {
        await withinDeadline(signal, timeoutMs, (own) => mail(settings, network, alert, own));
        return { kind: 'delivered' };
      } catch (error) {
        return { kind: 'failed', detail: smtpSentence(error, `${host}:${port}`) };
      }
    },
    close: () => Promise.resolve(),
  };
}

async function mail(
  { host, port, allowPlainText = false, username, password, from, to }: SmtpSettings,
  { ca }: Pick<NetworkSettings, 'ca'>,
  alert: OutgoingAlert,
  signal: AbortSignal,
): Promise<void> {
  // Hundreds of kilobytes of code, kept in memory for as long as the process runs: loaded where a mail goes out.
  const { createTransport } = await import('nodemailer');
  const sockets: Socket[] = [];
  try {
    await confirmHeld();
    const transport = createTransport({
      host,
      port,
      secure: port === implicitTlsPort,
      requireTLS: !allowPlainText && !isLoopback(host),
      ...(username === undefined ? {} : { auth: { user: username, pass: password?.reveal() ?? '' } }),
      tls: {
        ...strictTls,
        ...(isIP(host) === 0 ? { servername: host } : {}),
        ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }),
      },
      // A socket of our own, since there is no other way to end one that hangs.
      getSocket: (_options: unknown, callback: (error: Error | null, given?: { connection: Socket }) => void) => {
        const socket = connect({ host, port, signal }); // aborted, it ends with an error, connected or not
        sockets.push(socket);
        socket.once('error', callback);
        // Connecting may have taken long, and the conversation that follows sends the mail.
        const confirmed = AsyncResource.bind(confirmHeld);
        socket.once('connect', () => {
          socket.off('error', callback);
          Promise.resolve(confirmed()).then(() => callback(null, { connection: socket }), callback);
        });
      },
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    await transport.sendMail({
      from,
      to,
      subject: `[pigeonpost] ${alert.title}`,
      text: [alert.says, alert.todo, alert.link].filter((line) => line !== null).join('\n\n'),
      date: alert.at,
      messageId: `<${alert.id}@pigeonpost.invalid>`, // the same at every attempt: mailboxes show such a mail once
      headers: { 'Auto-Submitted': 'auto-generated' }, // RFC 3834: nobody's absence note answers it
    });
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

const sentences: Readonly<Record<string, string>> = {
  EAUTH: 'refuses username and password',
  ETLS: 'offers no TLS that can be trusted: use its TLS port, or name its certificate in "network.ca". On a network that you trust, "allowPlainText: true" sends without TLS',
  EENVELOPE: 'refuses the sender or the receiver: check "from" and "to"',
  EMESSAGE: 'refuses the message',
  ECONNECTION: 'ended the connection in the middle',
  ECONNREFUSED: 'refuses the connection: check host and port',
  ENOTFOUND: 'was not found by name: check its address',
};

/** Builds the sentence from codes only, because a mail server's text may name mailboxes. */
function smtpSentence(error: unknown, server: string): string {
  const { code: given, message, responseCode } = error as { code?: unknown; message?: unknown; responseCode?: unknown };
  // nodemailer reports every socket failure as ESOCKET, including an untrusted certificate
  const code = given === 'ESOCKET' && /certificate/i.test(String(message)) ? 'ETLS' : given;
  const named = typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code) ? code : '';
  const status = typeof responseCode === 'number' ? ` (SMTP ${responseCode})` : '';
  const otherwise = named === '' ? 'did not accept the message in time' : `could not be used (${named})`;
  return `mail server ${server} ${sentences[named] ?? otherwise}${status}`;
}
