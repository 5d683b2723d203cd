import { type ConnectForm, quoted } from '../connect.js';

export const slackForm: ConnectForm = {
  title: 'Slack',
  makes: 'messages of the approved questions',
  name: 'questions-channel',
  secrets: 'SLACK_',
  reads: [],
  fields: [
    {
      key: 'token',
      label: 'Bot token of the app (xoxb-…)',
      kind: 'secret',
      hint: 'Create an app with the scopes chat:write, channels:read, channels:history and metadata.message:read, and install it.',
      suggested: 'SLACK_BOT_TOKEN',
      standIn: 'xoxb-stand-in',
    },
    {
      key: 'channel',
      label: 'Channel',
      kind: 'choice',
      hint: 'A channel that the app has joined. Its id (C…) is in the details of the channel.',
      standIn: 'C0000000000',
    },
  ],
  lines: ({ token, channel, baseUrl }) => [
    'type: slack',
    `token: ${token}`,
    ...(baseUrl === undefined ? [] : [`baseUrl: ${quoted(baseUrl)}`]),
    `channel: ${quoted(channel ?? '')}`,
    'messages:',
    '  - from: qna-questions',
    '    when: item.status = "allowed" # JSONata; docs/mapping.md',
    '    text: item.content',
    '    threadBy: session.id',
  ],
};
