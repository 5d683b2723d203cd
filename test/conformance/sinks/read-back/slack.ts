import type { SlackMessage } from '../../../../sandbox/slack/slack-workspace.js';
import { DEFAULT_CHANNEL } from '../../../../sandbox/slack/start-slack-double.js';
import { joined, slackStage } from '../slack-stage.js';
import { changeOf, type HeldDestination, type Version } from './held-destination.js';

/** Messages in a channel. Slack cannot merge them. */
export async function startSlack(): Promise<HeldDestination> {
  const stage = await slackStage({ ...joined, message: { threadBy: undefined, votes: undefined } });
  const channel = stage.slack.workspace.channels.get(DEFAULT_CHANNEL)!;
  const contentOf = (number: number, version: Version): string => `Question ${number}, ${version}`;
  const keyOf = ({ metadata }: SlackMessage): string | undefined =>
    metadata?.event_type === 'pigeonpost_item' ? String(metadata.event_payload['key']) : undefined;
  const messageOf = (number: number): SlackMessage => channel.all.find((each) => keyOf(each) === String(number))!;
  return {
    sink: stage.courier.sink,
    findsCopies: true,
    item: (number, version) =>
      changeOf('qna-questions', number, version, {
        id: number,
        content: contentOf(number, version),
        status: 'allowed',
        attendee: { anonymous: true },
      }),
    contents: () =>
      channel.all.map((message) => {
        const { ts, edits: _, postedAtMs: __, ...own } = message;
        const key = keyOf(message);
        return [ts, key === undefined ? null : Number(key), JSON.stringify(own)] as const;
      }),
    remove: (number) => channel.remove(messageOf(number).ts),
    edit(number) {
      const message = messageOf(number);
      const [first, edited] = [contentOf(number, 'first'), contentOf(number, 'edited')];
      message.blocks = JSON.parse(JSON.stringify(message.blocks).replaceAll(first, edited)) as readonly unknown[];
    },
    backup(number) {
      const { blocks, text } = messageOf(number);
      return () => Object.assign(messageOf(number), { blocks, text });
    },
    duplicate(number) {
      const { ts: _, edits: __, postedAtMs: ___, ...copied } = messageOf(number);
      stage.slack.workspace.post(channel, copied);
    },
    pass: async (ms) => await stage.clock.pass(ms),
    close: () => stage.close(),
  };
}
