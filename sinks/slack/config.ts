import { z } from 'zod';
import { headerSecret, oneOf, secret, sinkUrl, text } from '../../config/values.js';
import { listNames, type ListName } from '../../config/schema/list-names.js';
import type { Secret } from '../../config/secret.js';
import type { Expression } from '../mapping/expression.js';
import { expression } from '../mapping/expression-schema.js';
import { type NetworkKeys, networkKeys, plainHttpStaysPrivate } from '../network/address-policy.js';

/** `slack` in pigeonpost.yaml, less the keys that all sinks share. docs/sinks/slack.md explains each key to users. */
export interface SlackConfig extends NetworkKeys {
  /** A bot token; either it or `webhookUrl` is there. */
  readonly token?: Secret | undefined;
  /** An incoming webhook: whoever knows it can post, so it is a secret. */
  readonly webhookUrl?: Secret | undefined;
  /** Where messages go that no route takes; there whenever `token` is. */
  readonly channel?: string | undefined;
  /** The first whose condition holds is taken. */
  readonly routes: readonly SlackRoute[];
  /** Of several from one list, the first whose condition holds is used. */
  readonly messages: readonly SlackMessage[];
  readonly baseUrl?: string | undefined;
}

export interface SlackRoute {
  readonly when: Expression;
  readonly channel: string;
}

export interface SlackMessage {
  readonly from: ListName;
  readonly when?: Expression | undefined;
  readonly text: Expression;
  readonly threadBy?: Expression | undefined;
  readonly threadTitle?: Expression | undefined;
  readonly votes?: Expression | undefined;
  readonly onChange: 'edit' | 'ignore';
  readonly onWithdrawn: 'redact' | 'keep';
}

const channelId = () =>
  text("a channel's id such as C0123456789, as its details in Slack show it", (found) =>
    /^[CG][A-Z0-9]{5,30}$/.test(found) ? found : undefined,
  );

const webhookUrl = secret().refine((found) => isWebhookUrl(found.reveal()), {
  error: 'allowed: the https address of an incoming webhook, written as ${NAME}',
});

const route = z.strictObject({
  when: expression().describe('Whether an item takes this route.'),
  channel: channelId().describe('Where it is posted then.'),
});

const message = z.strictObject({
  from: oneOf(listNames).describe('The list whose items are posted.'),
  when: expression().optional().describe('Only items for which this is true are shown. All by default.'),
  text: expression().describe('What is shown. Always plain text: no mention, link or formatting in it has an effect.'),
  threadBy: expression()
    .optional()
    .describe('Items with the same value are replies to one message. Without it each is a message of its own.'),
  threadTitle: expression()
    .optional()
    .describe('What that message says. By default the name of the session or pigeonhole whose id the value is.'),
  votes: expression()
    .optional()
    .describe('A number shown below the text, brought up to date every 10 seconds at most.'),
  onChange: oneOf(['edit', 'ignore']).prefault('edit').describe('What becomes of the message when the item changes.'),
  onWithdrawn: oneOf(['redact', 'keep'])
    .prefault('redact')
    .describe('What becomes of it when the item is deleted or its condition no longer holds.'),
});

/** Messages never repeat a value: a webhook's address is a secret. */
export const slackConfigSchema: z.ZodType<SlackConfig> = z
  .strictObject({
    token: headerSecret().optional().describe("The app's bot token (xoxb-…)."),
    webhookUrl: webhookUrl
      .optional()
      .describe('The address of an incoming webhook, in place of a token: no threads, no edits, no look-up.'),
    channel: channelId().optional().describe('Where messages go that no route takes.'),
    routes: z
      .array(route, { error: 'allowed: a list of { when, channel }' })
      .prefault([])
      .describe('Other channels for some items: the first that matches is taken.'),
    messages: z
      .array(message, { error: 'allowed: a list of messages' })
      .min(1, { error: 'allowed: at least one message' })
      .describe('What is posted. Of several from one list the first whose condition holds is used.'),
    baseUrl: sinkUrl().optional().describe('Replaces https://slack.com/api.'),
    ...networkKeys,
  })
  .superRefine(plainHttpStaysPrivate('webhookUrl', 'baseUrl'))
  .refine(({ token, webhookUrl: hook }) => (token === undefined) !== (hook === undefined), {
    path: ['token'],
    error: 'allowed: either "token" or "webhookUrl"',
  })
  .refine(({ token, channel }) => token === undefined || channel !== undefined, {
    path: ['channel'],
    error: "allowed: a channel's id such as C0123456789, as its details in Slack show it",
  })
  .refine(({ webhookUrl: hook, routes }) => hook === undefined || routes.length === 0, {
    path: ['routes'],
    error: 'needs "token": an incoming webhook posts to the one channel for which it was made',
  })
  .refine(({ webhookUrl: hook, baseUrl: base }) => hook === undefined || base === undefined, {
    path: ['baseUrl'],
    error: 'needs "token": the address of an incoming webhook is whole',
  });

/** The channels that messages may go to, each once. */
export function channelsOf({ channel, routes }: SlackConfig): string[] {
  const named = [...(channel === undefined ? [] : [channel]), ...routes.map((each) => each.channel)];
  return [...new Set(named)];
}

function isWebhookUrl(found: string): boolean {
  if (!URL.canParse(found)) return false;
  const url = new URL(found);
  const isHttp = url.protocol === 'https:' || url.protocol === 'http:';
  return isHttp && url.username === '' && url.password === '' && url.hash === '';
}
