import type { AlertReceiver } from '../../../config/config.js';
import { RestClient } from '../../../sinks/rest/rest-client.js';
import { callSlack } from '../../../sinks/slack/client.js';
import type { NetworkSettings } from '../../../sinks/sink.js';
import { type AlertOutcome, type OpenReceiver, type OutgoingAlert, receiverTimes } from './receiver.js';

/** Posts alerts to a channel by chat.postMessage. */
export function openSlackReceiver(
  { token, channel, baseUrl = 'https://slack.com/api' }: Extract<AlertReceiver, { type: 'slack' }>,
  network: NetworkSettings,
): OpenReceiver {
  const rest = new RestClient({
    url: new URL(baseUrl),
    network,
    allowPrivateAddresses: true,
    connections: 1,
    requestTimeoutMs: receiverTimes.requestTimeoutMs,
  });
  const api = { baseUrl, token, rest, wallNow: () => Date.now() };
  return {
    type: 'slack',
    name: `slack ${channel}`,
    place: [baseUrl, channel],
    async send(alert, signal) {
      const message = { channel, text: slackText(alert), unfurl_links: false, unfurl_media: false };
      const reply = await callSlack(api, 'chat.postMessage', message, signal);
      if (reply.kind === 'no-answer') return { kind: 'failed', detail: reply.detail };
      if (reply.body?.['ok'] === true) return { kind: 'delivered' };
      return failed(reply.body?.['error'], reply.status, reply.retryAfterMs);
    },
    close: () => rest.close(),
  };
}

function failed(error: unknown, status: number, afterMs: number | undefined): AlertOutcome {
  const code = typeof error === 'string' && /^[a-z_]{1,60}$/.test(error) ? error : `HTTP ${status}`;
  const detail = `Slack does not take it (${code}): check token, channel and that the bot is in the channel`;
  return { kind: 'failed', detail, ...(afterMs === undefined ? {} : { afterMs }) };
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
