import { z } from 'zod';
import { headerSecret, nonEmptyText, oneOf, secret, sinkUrl, text } from '../../config/values.js';
import { listNames } from '../../base/lists.js';
import { Expression } from '../mapping/expression.js';
import { expression } from '../mapping/expression-schema.js';
import { networkKeys, plainHttpStaysPrivate } from '../network/address-policy.js';
import { literalOrigins } from './blocks.js';

const channelId = () =>
  text("a channel's id such as C0123456789, as shown in the channel's details in Slack", (found) =>
    /^[CG][A-Z0-9]{5,30}$/.test(found) ? found : undefined,
  );

/** A secret, because anyone who has the address can post. */
const webhookUrl = secret().refine((found) => isWebhookUrl(found.reveal()), {
  error: 'allowed: the https address of an incoming webhook, written as ${NAME}',
});

const route = z.strictObject({
  when: expression().describe('Whether an item uses this route.'),
  channel: channelId().describe('The channel of such items.'),
});

const groupId = () =>
  text("a user group's id such as S0123456789, as its address in Slack shows it", (found) =>
    /^S[A-Z0-9]{7,11}$/.test(found) ? found : undefined,
  );

/** The group's id is a constant, never an expression, so that an attendee's text cannot choose who is mentioned. */
const mention = z.strictObject({
  group: groupId().describe('The user group that the message mentions.'),
  when: expression().optional().describe('Only items for which this is true mention it. All by default.'),
});

const labelAllowed = 'a label of 1 to 75 characters';

const link = z.strictObject({
  label: text(labelAllowed, (found) => (found.trim() !== '' && found.length <= 75 ? found : undefined)).describe(
    'The label of the link. Always plain text.',
  ),
  url: expression()
    .refine((found) => !(found instanceof Expression) || literalOrigins(found).size > 0, {
      error:
        'allowed: an expression that spells the scheme and host out in a text, such as "https://app.example.com/q/" & item.id',
    })
    .describe('Its address. The expression must spell out the scheme and host.'),
  when: expression().optional().describe('Only items for which this is true have it. All by default.'),
});

const linksOf = (what: string) =>
  z
    .array(link, { error: `allowed: a list of { label, url }` })
    .max(5, { error: `allowed: at most five ${what}` })
    .prefault([]);

const rotation = z.strictObject({
  clientId: nonEmptyText("the app's client id").describe("The app's client ID, from its Basic Information."),
  clientSecret: headerSecret().describe("The app's client secret, from its Basic Information."),
  // Slack replaces it at each use, and the ledger keeps the current one (decision 0076).
  refreshToken: headerSecret().describe(
    'A refresh token of the installation (xoxe-1-…). pigeonpost uses it once and keeps its successors in the ledger.',
  ),
});

const message = z.strictObject({
  from: oneOf(listNames).describe('The list whose items are posted.'),
  when: expression().optional().describe('Only items for which this is true are shown. All by default.'),
  text: expression().describe(
    'The text of the message. Always plain text: mentions, links and formatting in it have no effect.',
  ),
  threadBy: expression()
    .optional()
    .describe('Items with the same value are replies to one message. Without it, each item is a separate message.'),
  threadTitle: expression()
    .optional()
    .describe('The text of that message. By default, the name of the session or pigeonhole whose id the value is.'),
  session: expression().optional().describe('Shown below the text, for example session.name.'),
  author: expression()
    .optional()
    .describe("Shown below the text. Left out if the attendee or the item's session is anonymous."),
  votes: expression().optional().describe('A number shown below the text, updated at most every 10 seconds.'),
  broadcast: expression().optional().describe('Whether a reply is also shown in the channel. Slack cannot undo that.'),
  mentions: z
    .array(mention, { error: 'allowed: a list of { group, when }' })
    .max(5, { error: 'allowed: at most five mentions' })
    .prefault([])
    .describe('User groups that the message mentions. Slack notifies them when it is posted.'),
  links: linksOf('links').describe('Links below the text.'),
  buttons: linksOf('buttons').describe(
    'Buttons that open an address. Slack shows a warning sign beside a button after it was used, because no app responds to it.',
  ),
  onChange: oneOf(['edit', 'ignore']).prefault('edit').describe('What happens to the message when the item changes.'),
  onWithdrawn: oneOf(['redact', 'keep'])
    .prefault('redact')
    .describe('What happens to the message when the item is deleted or its condition no longer holds.'),
});

/**
 * docs/sinks/slack.md explains each key to users. Error messages never repeat a value, because the address of a webhook
 * is a secret.
 */
export const slackConfigSchema = z
  .strictObject({
    token: headerSecret().optional().describe("The app's bot token (xoxb-…), for an app without token rotation."),
    rotation: rotation
      .optional()
      .describe('In place of a token, for an app with token rotation: its tokens expire after 12 hours.'),
    webhookUrl: webhookUrl
      .optional()
      .describe('The address of an incoming webhook, in place of a token: no threads, no edits, no look-up.'),
    channel: channelId().optional().describe('The channel of messages without a matching route.'),
    routes: z
      .array(route, { error: 'allowed: a list of { when, channel }' })
      .prefault([])
      .describe('Other channels for some items: the first that matches is used.'),
    messages: z
      .array(message, { error: 'allowed: a list of messages' })
      .min(1, { error: 'allowed: at least one message' })
      .describe('What is posted. If several entries name one list, the first whose condition holds is used.'),
    baseUrl: sinkUrl().optional().describe('Replaces https://slack.com/api.'),
    ...networkKeys,
  })
  .superRefine(plainHttpStaysPrivate('webhookUrl', 'baseUrl'))
  .refine(({ token, rotation: rotating, webhookUrl: hook }) => countOf([token, rotating, hook]) === 1, {
    path: ['token'],
    error: 'allowed: one of "token", "rotation" and "webhookUrl"',
  })
  .refine(({ webhookUrl: hook, channel }) => hook !== undefined || channel !== undefined, {
    path: ['channel'],
    error: "allowed: a channel's id such as C0123456789, as shown in the channel's details in Slack",
  })
  .refine(({ webhookUrl: hook, routes }) => hook === undefined || routes.length === 0, {
    path: ['routes'],
    error: 'needs "token": an incoming webhook posts to the one channel for which it was made',
  })
  .refine(({ webhookUrl: hook, baseUrl: base }) => hook === undefined || base === undefined, {
    path: ['baseUrl'],
    error: 'needs "token": an incoming webhook\'s address is already complete',
  });

/** The keys of a `slack` sink in pigeonpost.yaml, without those that all sinks share. */
export type SlackConfig = Readonly<z.infer<typeof slackConfigSchema>>;
export type SlackRotation = Readonly<z.infer<typeof rotation>>;
export type SlackMessage = Readonly<z.infer<typeof message>>;
export type SlackMention = Readonly<z.infer<typeof mention>>;
export type SlackLink = Readonly<z.infer<typeof link>>;

function countOf(values: readonly unknown[]): number {
  return values.filter((value) => value !== undefined).length;
}

/** Returns every channel to which messages may go, without duplicates. */
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
