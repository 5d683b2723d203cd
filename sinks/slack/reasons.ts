import {
  type Causes,
  commonReasons,
  contentRejected,
  outcomeUnknown,
  type Reasons,
  removalReasons,
  targetUnusable,
} from '../reasons.js';

export const slackReasons = {
  ...removalReasons,
  ...commonReasons('condition', 'unchanged', 'kept'),
  'no-text': {
    short: 'no text',
    sentence: 'the mapping finds no text for it',
    kind: 'missing-value',
    readBy: { keys: /^messages\[\d+\]\.text$/ },
  },
  'not-editable': {
    short: 'message cannot be edited',
    sentence: 'pigeonpost cannot edit or delete the message in Slack',
    kind: 'settled',
    help: 'delete the message in Slack',
  },
  ignored: {
    short: 'edits ignored by the settings',
    sentence: 'the settings of the sink ("onChange: ignore") keep the first message',
    kind: 'settled',
  },
} as const satisfies Reasons;

export type SlackReason = keyof typeof slackReasons;

export const slackCauses: Causes = {
  'outcome-unknown': outcomeUnknown,
  'no-history-scope': {
    meaning: 'the app may not read the messages of the channel',
    help: 'add the scope channels:history (groups:history for a private channel) to the app, install it again, and audit the sink again',
  },
  'place-unknown': {
    meaning: 'pigeonpost does not know where the message is',
    help: 'look for the message in the channel',
  },
  'slack:channel_not_found': targetUnusable,
  'slack:not_in_channel': targetUnusable,
  'slack:is_archived': targetUnusable,
  'slack:is_inactive': targetUnusable,
  'slack:team_not_found': targetUnusable,
  'slack:cannot_post_to_channel': targetUnusable,
  'slack:ekm_access_denied': targetUnusable,
  'slack:restricted_action*': targetUnusable,
  'slack:message_not_found': targetUnusable,
  'slack:thread_not_found': targetUnusable,
  'slack:cannot_reply_to_message': targetUnusable,
  'slack:*': contentRejected,
};
