import { request } from 'undici';
import type { AlertReceiver } from '../../../config/config.js';
import { createDispatcher } from '../../../sinks/network/create-dispatcher.js';
import { noAnswerSentence } from '../../../sinks/network/failure-sentence.js';
import { answeredAtMs, headerText, retryAfterMs } from '../../../sinks/network/read-answer.js';
import { withinDeadline } from '../../../sinks/network/within-deadline.js';
import { Signer } from '../../../sinks/webhook/sign.js';
import type { NetworkSettings } from '../../../sinks/sink.js';
import { type AlertOutcome, type OpenReceiver, type OutgoingAlert, receiverTimes } from './receiver.js';

const maxAnswerBytes = 64 * 1024;

/** Posts alerts as JSON, signed as Standard Webhooks says; redirects are not followed. */
export function openWebhookReceiver(
  { url: written, secret }: Extract<AlertReceiver, { type: 'webhook' }>,
  network: NetworkSettings,
  now: () => number,
): OpenReceiver {
  const url = new URL(written);
  const signer = new Signer([secret]);
  const { connectTimeoutMs, requestTimeoutMs: timeoutMs } = receiverTimes;
  const dispatcher = createDispatcher(url, network, { allowPrivateAddresses: true, connectTimeoutMs, connections: 1 });
  const post = async (alert: OutgoingAlert, signal: AbortSignal): Promise<AlertOutcome> => {
    const body = JSON.stringify(alertBody(alert));
    const message = { id: alert.id, timestampSeconds: Math.floor(now() / 1000), body };
    const answer = await request(url, {
      method: 'POST',
      dispatcher,
      signal,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'pigeonpost',
        ...signer.headers(message),
      },
      body,
    });
    await answer.body.dump({ limit: maxAnswerBytes, signal }).catch(() => undefined);
    const { statusCode: status } = answer;
    if (status >= 200 && status < 300) return { kind: 'delivered' };
    const afterMs = retryAfterMs(headerText(answer.headers['retry-after']), answeredAtMs(answer.headers.date, now));
    const detail = `${url.host} does not take it (HTTP ${status}): check its url, its secret and the clocks of both sides`;
    return { kind: 'failed', detail, ...(afterMs === undefined ? {} : { afterMs }) };
  };
  return {
    type: 'webhook',
    name: `webhook ${url.host}`, // a path or a query may hold a token
    place: [url.href],
    async send(alert, signal) {
      try {
        return await withinDeadline(signal, timeoutMs, (own) => post(alert, own));
      } catch (error) {
        return { kind: 'failed', detail: noAnswerSentence(error, { host: url.host, name: 'the receiver', timeoutMs }) };
      }
    },
    close: () => dispatcher.close(),
  };
}

/** Type, timestamp and data, as Standard Webhooks proposes for payloads. */
function alertBody({ id, at, occasion, kind, subjects, title, says, todo, link }: OutgoingAlert): object {
  return {
    id,
    type: occasion === 'test' ? 'alert.test' : `alert.${kind}`,
    timestamp: at.toISOString(),
    data: { occasion, subject: subjects.length === 1 ? subjects[0] : '', subjects, title, says, todo, link },
  };
}
