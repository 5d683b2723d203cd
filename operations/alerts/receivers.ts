import type { AlertText } from './alert-text.js';
import type { Occasion } from '../problem-traits.js';
import type { NewAlertMessage } from './alert-store.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { AlertReceiver } from '../../config/config.js';
import { RestClient } from '../../sinks/rest/rest-client.js';
import { callSlack } from '../../sinks/slack/client.js';
import type { NetworkSettings } from '../../sinks/sink.js';
import { retryAfterMs } from '../../base/retry-after.js';
import { withinDeadline } from '../../sinks/network/within-deadline.js';
import { Signer } from '../../sinks/webhook/sign.js';
import { AsyncResource } from 'node:async_hooks';
import { connect, isIP, type Socket } from 'node:net';
import { rootCertificates } from 'node:tls';
import { isLoopback } from '../../base/loopback.js';
import { strictTls } from '../../sinks/network/address-policy.js';
import { confirmHeld } from '../../base/lease.js';

/** An alert as it is sent. */
export interface OutgoingAlert extends AlertText {
  /** The same at every attempt, so that a receiver can ignore duplicates. */
  readonly id: string;
  /** Instant at which the condition was found. */
  readonly at: Date;
  readonly occasion: Occasion | 'test';
  readonly kind: NewAlertMessage['kind'];
  /** Names of the subjects: several if the message counts them, none for a test message. */
  readonly subjects: readonly string[];
}

type AlertOutcome =
  | { readonly kind: 'delivered' }
  /** `detail` is a sentence without secrets and without text from the receiver. */
  | { readonly kind: 'failed'; readonly detail: string; readonly afterMs?: number };

/** A receiver of alerts. */
export interface OpenReceiver {
  readonly type: 'slack' | 'webhook' | 'smtp';
  /** Name in logs and answers: `slack C0OPS000001`, `webhook alerts.example.com`. */
  readonly name: string;
  /** Address without credentials. It identifies the receiver when its credentials change. */
  readonly place: readonly string[];
  /** Never throws. Ends soon after the signal is aborted. */
  send(alert: OutgoingAlert, signal: AbortSignal): Promise<AlertOutcome>;
  close(): Promise<void>;
}

/** Returns the key of a receiver in the ledger. It stays the same when the receiver's credentials change. */
export function receiverKey(ledger: Ledger, { type, place }: OpenReceiver): string {
  return ledger.hash.fingerprint(JSON.stringify(['alerts', type, ...place]));
}

/** Time limit of one attempt; shorter than the lease by which one process sends to a receiver. */
export const receiverTimeoutMs = 20_000;

/** Posts alerts to a channel by chat.postMessage. */
export function openSlackReceiver(
  { token, channel, baseUrl = 'https://slack.com/api' }: Extract<AlertReceiver, { type: 'slack' }>,
  network: NetworkSettings,
  now: () => number,
): OpenReceiver {
  const rest = openRest(new URL(baseUrl), { network, now });
  const api = { baseUrl, token, rest, wallNow: now };
  return {
    type: 'slack',
    name: `slack ${channel}`,
    place: [baseUrl, channel],
    async send(alert, signal) {
      const message = { channel, text: slackText(alert), unfurl_links: false, unfurl_media: false };
      const reply = await callSlack(api, 'chat.postMessage', message, signal);
      if (reply.kind === 'no-answer') return { kind: 'failed', detail: reply.detail };
      if (reply.body?.['ok'] === true) return { kind: 'delivered' };
      const error = reply.body?.['error'];
      const code = typeof error === 'string' && /^[a-z_]{1,60}$/.test(error) ? error : `HTTP ${reply.status}`;
      const detail = `Slack did not accept the alert (${code}): check the token, the channel, and that the bot is in the channel`;
      return failed(detail, reply.retryAfterMs);
    },
    close: () => rest.close(),
  };
}

/** Source: docs.slack.dev, "Formatting message text": the three characters that have to be escaped. */
function slackText({ title, says, todo, link }: OutgoingAlert): string {
  const escaped = (text: string): string =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const lines = [`*${escaped(title)}*`, escaped(says)];
  if (todo !== null) lines.push(escaped(todo));
  if (link !== null) lines.push(`<${escaped(link)}|Open it>`);
  return lines.join('\n');
}

/** Posts alerts as JSON, signed according to Standard Webhooks. Redirects are not followed. */
export function openWebhookReceiver(
  { url: written, secret }: Extract<AlertReceiver, { type: 'webhook' }>,
  network: NetworkSettings,
  now: () => number,
): OpenReceiver {
  const url = new URL(written);
  const signer = new Signer([secret]);
  const rest = openRest(url, { network, now }, 'the receiver');
  return {
    type: 'webhook',
    name: `webhook ${url.host}`, // a path or a query may hold a token
    place: [url.href],
    async send(alert, signal) {
      const body = JSON.stringify(alertBody(alert));
      const message = { id: alert.id, timestampSeconds: Math.floor(now() / 1000), body };
      const headers = { 'content-type': 'application/json', ...signer.headers(message) };
      const answer = await rest.call({ method: 'POST', url, headers, body, statusDecides: true }, signal);
      if (answer.kind === 'no-answer') return { kind: 'failed', detail: answer.detail };
      const { status } = answer;
      if (status >= 200 && status < 300) return { kind: 'delivered' };
      const detail = `${url.host} did not accept the alert (HTTP ${status}): check its url, its secret and the clocks of both sides`;
      return failed(detail, retryAfterMs(answer.retryAfter, answer.answeredAtMs));
    },
    close: () => rest.close(),
  };
}

/** @param name the receiver's name in messages; the host by default */
function openRest(
  url: URL,
  connection: { readonly network: NetworkSettings; readonly now: () => number },
  name = url.host,
): RestClient {
  return new RestClient({
    url,
    name,
    environment: { ...connection, requestTimeoutMs: receiverTimeoutMs },
    allowPrivateAddresses: true,
    connections: 1,
    maxAnswerBytes: 64 * 1024,
  });
}

function failed(detail: string, afterMs: number | undefined): AlertOutcome {
  return { kind: 'failed', detail, ...(afterMs === undefined ? {} : { afterMs }) };
}

/** Returns type, timestamp and data, as Standard Webhooks proposes for payloads. */
function alertBody({ id, at, occasion, kind, subjects, title, says, todo, link, problem }: OutgoingAlert): object {
  return {
    id,
    type: occasion === 'test' ? 'alert.test' : `alert.${kind}`,
    timestamp: at.toISOString(),
    data: { occasion, problem, subject: subjects.length === 1 ? subjects[0] : '', subjects, title, says, todo, link },
  };
}

/** Submission over TLS from the first byte. Source: RFC 8314, 3.3. */
const implicitTlsPort = 465;

type SmtpSettings = Extract<AlertReceiver, { type: 'smtp' }>;

/**
 * Sends alerts by e-mail, each over a connection of its own. If the server is not on loopback, it must offer TLS unless
 * `allowPlainText` is set. On loopback, TLS is used if the server offers it. Uses no proxy.
 */
export function openSmtpReceiver(settings: SmtpSettings, network: Pick<NetworkSettings, 'ca'>): OpenReceiver {
  const { host, port, to } = settings;
  return {
    type: 'smtp',
    name: `smtp ${host}:${port}`,
    place: [host, String(port), to],
    async send(alert, signal) {
      try {
        await withinDeadline(signal, receiverTimeoutMs, (own) => mail(settings, network, alert, own));
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
  // Loaded only when a mail is sent: nodemailer has hundreds of kilobytes of code, which would stay in memory.
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
      // nodemailer receives our own socket, because there is no other way to end a connection that hangs.
      getSocket: (_options: unknown, callback: (error: Error | null, given?: { connection: Socket }) => void) => {
        const socket = connect({ host, port, signal }); // when the signal is aborted, the socket ends with an error, whether it is connected or not
        sockets.push(socket);
        socket.once('error', callback);
        // Connecting may have taken so long that another process has the lease; confirm it before the mail is sent.
        const confirmed = AsyncResource.bind(confirmHeld);
        socket.once('connect', () => {
          Promise.resolve(confirmed()).then(() => {
            socket.off('error', callback);
            // nodemailer waits half a minute for the greeting of a connection that has ended meanwhile
            if (socket.destroyed) callback(Object.assign(new Error('closed'), { code: 'ECONNECTION' }));
            else callback(null, { connection: socket });
          }, callback);
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
      headers: { 'Auto-Submitted': 'auto-generated' }, // RFC 3834: prevents automatic replies, such as absence notes
    });
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

const sentences: Readonly<Record<string, string>> = {
  EAUTH: 'refuses username and password',
  ELOGIN: 'asks for a login: set "username" and "password"',
  ETLS: 'offers no TLS that can be trusted: use its TLS port, or add its certificate to "network.ca". On a network that you trust, "allowPlainText: true" sends without TLS',
  EENVELOPE: 'refuses the sender or the receiver: check "from" and "to"',
  EMESSAGE: 'refuses the message',
  ECONNECTION: 'closed the connection before the message was complete',
  ECONNREFUSED: 'refuses the connection: check host and port',
  ENOTFOUND: 'was not found by name: check its address',
};

/** Builds the sentence from codes only, because a mail server's text may name mailboxes. */
function smtpSentence(error: unknown, server: string): string {
  const { code: given, message, responseCode } = error as { code?: unknown; message?: unknown; responseCode?: unknown };
  // nodemailer reports every socket failure as ESOCKET, including an untrusted certificate
  // A server that wants a login first answers 530 to the sender (RFC 4954, 6), which nodemailer reports as a refused
  // envelope.
  const isLogin = responseCode === 530;
  const isTls = isLogin && /tls/i.test(String(message));
  const code =
    isTls || (given === 'ESOCKET' && /certificate/i.test(String(message))) ? 'ETLS' : isLogin ? 'ELOGIN' : given;
  const named = typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code) ? code : '';
  const status = typeof responseCode === 'number' ? ` (SMTP ${responseCode})` : '';
  const otherwise = named === '' ? 'did not accept the message in time' : `could not be used (${named})`;
  return `mail server ${server} ${sentences[named] ?? otherwise}${status}`;
}
