import { Secret } from '../../config/secret.js';
import type { Change } from '../change.js';
import { sampleChange } from '../sample-change.test-kit.js';
import { type SlackConfig, slackConfigSchema } from './config.js';

/** Returns the sink of the example configuration with the keys that a test is about. */
export function sampleConfig(keys: Readonly<Record<string, unknown>> = {}, message: object = {}): SlackConfig {
  return slackConfigSchema.parse({
    token: new Secret('xoxb-double'),
    channel: 'C0123456789',
    messages: [
      {
        from: 'qna-questions',
        when: 'item.status = "allowed"',
        text: 'item.content',
        threadBy: 'session.id',
        votes: 'item.votes',
        ...message,
      },
    ],
    ...keys,
  });
}

/** Returns a change of question 9001 with this item; null deletes it. */
export function questionChange(item: Readonly<Record<string, unknown>> | null, fields: Partial<Change> = {}): Change {
  const data = { id: 9001, content: 'When is lunch?', status: 'allowed', attendee: { anonymous: true }, votes: 3 };
  return sampleChange({
    list: 'qna-questions',
    type: item === null ? 'qna-questions.deleted' : 'qna-questions.updated',
    data: item === null ? null : { ...data, ...item },
    ...fields,
  });
}

export const keynote = { id: 5001, name: 'Keynote' };
