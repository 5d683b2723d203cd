import { Secret } from '../../../config/secret.js';
import { openSlackReceiver } from '../../../operations/alerts/receivers.js';
import {
  DEFAULT_CHANNEL,
  DEFAULT_TOKEN,
  startSlackDouble,
  type SlackDouble,
} from '../../../sandbox/slack/start-slack-double.js';
import { environmentOf } from '../../../sinks/sink-environment.test-kit.js';
import { createSlackSink } from '../../../sinks/slack/slack.js';
import { SteppedClock } from '../../kit/stepped-clock.js';
import { typeErrors } from '../../kit/type-errors.js';
import { joined, questionOf, slackStage, slackWebhookConfig } from './slack-stage.js';
import { StateCourier } from './state-courier.js';

/* Every kind of message that pigeonpost sends to Slack, as the stand-in received it, and the types that Slack publishes. */

const never = new AbortController().signal;
const origin = 'https://app.example.com';
const group = 'S0MODERATE';
const full = {
  session: 'session.name',
  author: '$field("Name")',
  links: [{ label: 'Moderate', url: `"${origin}/q/" & item.id` }],
  buttons: [{ label: 'Open', url: `"${origin}/q/" & item.id` }],
  mentions: [{ group }],
  broadcast: 'item.votes > 9',
};
const ann = {
  attendee: { id: 7, Name: 'Ann Ray' },
  session: { id: 5001, name: 'Keynote', anonymousResponses: false },
};
const named = { attendee: { id: 7, anonymous: false } };

interface Sent {
  /** The method or `webhook`, and the blocks in their order. */
  readonly kind: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Returns the messages that a stand-in received, without calls that read. */
function sentTo({ requests }: SlackDouble): Sent[] {
  return requests
    .filter(({ path }) => path.includes('/chat.') || path.startsWith('/services/'))
    .map(({ path, body: text }): Sent => {
      const body = JSON.parse(text) as { blocks?: { type: string }[] };
      const method = path.startsWith('/services/') ? 'webhook' : path.split('/').at(-1)!;
      return { kind: [method, ...(body.blocks ?? []).map(({ type }) => type)].join(' '), body };
    });
}

async function sentWithToken(): Promise<Sent[]> {
  const otherChannel = { id: 'C0BACKSTAGE', name: 'backstage', isMember: true };
  const stage = await slackStage({
    double: { channels: [...joined.double!.channels!, otherChannel] },
    keys: { routes: [{ when: 'item.urgent = true', channel: otherChannel.id }] },
    message: full,
  });
  stage.slack.workspace.allowed = { userGroups: [group], origins: [origin] };
  const offer = async (item: Readonly<Record<string, unknown>> | null, around: object = ann): Promise<void> => {
    stage.offer('1', item, around);
    await stage.settle();
  };
  await offer({ ...named, votes: 1 }); // thread and message
  await offer({ ...named, votes: 12 }); // votes, and a broadcast
  await offer({ attendee: { anonymous: true }, votes: 12, content: 'edited' }, { ...ann, attendee: null });
  await offer({ urgent: true, votes: 12 }); // moved to another channel
  await offer(null); // withdrawn
  await stage.courier.sink.sendTest!(never);
  const sent = sentTo(stage.slack);
  await stage.close();
  return sent;
}

async function sentByWebhook(): Promise<Sent[]> {
  const path = '/services/T000/B000/s3cret';
  const clock = new SteppedClock();
  const slack = await startSlackDouble({ now: clock.wallNow, webhooks: [{ path, channel: DEFAULT_CHANNEL }] });
  const environment = environmentOf('questions', { now: clock.wallNow });
  const sink = createSlackSink(slackWebhookConfig(slack.url, path), environment, { clock });
  const courier = new StateCourier({ openSink: () => sink, clock });
  courier.offer(questionOf('1', {}, { sequence: 1, revision: 1 }), ann);
  await courier.settle(600_000, (ms) => clock.pass(ms));
  await sink.sendTest!(never);
  await sink.close();
  const sent = sentTo(slack);
  await slack.close();
  clock.close();
  return sent;
}

async function sentAsAlert(): Promise<Sent[]> {
  const slack = await startSlackDouble(joined.double);
  const settings = { channel: DEFAULT_CHANNEL, baseUrl: `${slack.url}/api` };
  const receiver = openSlackReceiver(
    { type: 'slack', token: new Secret(DEFAULT_TOKEN), ...settings },
    { allowHosts: [] },
    Date.now,
  );
  const text = { title: 'Service', says: 'The service does not answer.', todo: 'Check it.', link: `${origin}/#/` };
  await receiver.send(
    { ...text, id: 'alert-1', at: new Date(0), occasion: 'test', problem: null, kind: 'raised', subjects: [] },
    never,
  );
  await receiver.close();
  const sent = sentTo(slack);
  await slack.close();
  return sent;
}

it('each kind of message has the arguments that Slack documents and the types that it publishes', async () => {
  const sent = [...(await sentWithToken()), ...(await sentByWebhook()), ...(await sentAsAlert())];
  const parts = 'section context rich_text actions';
  expect([...new Set(sent.map(({ kind }) => kind))].toSorted()).toEqual(
    [
      'chat.postMessage', // an alert
      'chat.postMessage header', // the first message of a thread
      `chat.postMessage rich_text ${parts}`, // a question
      'chat.postMessage section', // a test
      `chat.update rich_text ${parts}`, // an edit, and a new number of votes
      'chat.update section', // a withdrawal
      'chat.delete', // before a move
      'webhook section context', // a question
      'webhook section', // a test
    ].toSorted(),
  );
  // Names of arguments: docs.slack.dev, "chat.postMessage", "chat.update", "chat.delete", "Incoming webhooks".
  const type = `{
    channel?: string; ts?: string; thread_ts?: string; reply_broadcast?: boolean; text?: string;
    blocks?: vendor.KnownBlock[]; metadata?: vendor.MessageMetadata | Record<string, never>;
    parse?: 'none' | 'full'; link_names?: boolean; mrkdwn?: boolean; unfurl_links?: boolean; unfurl_media?: boolean;
  }`.replaceAll(/\s+/g, ' ');
  const bodies = sent.map(({ body }) => body);
  const wrong = { ...bodies[0], as_person: true };
  expect(typeErrors({ package: '@slack/types', type }, [...bodies, wrong])).toEqual([
    expect.stringContaining('"as_person"'),
  ]);
});
