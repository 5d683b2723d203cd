import type { Secret } from '../../config/secret.js';
import { z } from 'zod';
import { headerSecret, listOf, nonEmptyText, oneOf, secret, sinkUrl, text, wholeNumber } from '../../config/values.js';
import { type ActivityKind, type ListName, listsCountedAs } from '../../base/lists.js';
import { isLoopback } from '../../base/loopback.js';
import { expression } from '../mapping/expression-schema.js';
import { networkKeys, plainHttpProblem, plainHttpStaysPrivate } from '../network/address-policy.js';

/**
 * The kinds of statements about attendees, with the lists from which they are created. `asked` does not include
 * `questions`, which does not say whether the author is anonymous.
 */
export const statementKinds = {
  attended: ['attendees'],
  asked: listsCountedAs('asked'),
  answered: listsCountedAs('answered'),
  responded: listsCountedAs('responded'),
  voted: listsCountedAs('voted'),
  rated: listsCountedAs('rated'),
} as const satisfies Readonly<Record<ActivityKind | 'attended', readonly ListName[]>>;

export type StatementKind = keyof typeof statementKinds;

const kindNames = Object.keys(statementKinds) as [StatementKind, ...StatementKind[]];

/** The list with the counts on which credit is based. */
export const engagementList = 'engagement';

/** Returns the kind of statement that is created from a list's items; undefined if there is none. */
export function kindOf(list: string): StatementKind | undefined {
  return kindNames.find((kind) => (statementKinds[kind] as readonly string[]).includes(list));
}

const webAddress = (what: string) =>
  text(what, (found) => (URL.canParse(found) && /^https?:$/.test(new URL(found).protocol) ? found : undefined));

const oauthKeys = z.strictObject({
  tokenUrl: sinkUrl().describe('The address that issues tokens.'),
  clientId: nonEmptyText('a client id').describe('The id of the client.'),
  clientSecret: headerSecret().describe('Its secret.'),
  clientAuthentication: oneOf(['client_secret_basic', 'client_secret_post'])
    .default('client_secret_basic')
    .describe('Where the secret is sent: in the header `Authorization`, or in the body.'),
  scope: nonEmptyText('scopes with a space between them').optional().describe('The scopes to request.'),
  audience: nonEmptyText('an audience')
    .optional()
    .describe('The API for which the tokens are issued, if the server requires an audience.'),
});

/** The keys of `actor`. Exactly one of `name` (with `homePage`), `mbox` and `mboxSha1sum` must be set. */
const actorKeys = z.strictObject({
  homePage: webAddress('the address of the system to which the accounts belong, such as https://example.com')
    .optional()
    .describe('With `name`: the address of the system to which the account belongs.'),
  name: expression()
    .optional()
    .describe('The account of an attendee. If the expression returns nothing, no statement is sent.'),
  mbox: expression().optional().describe('Instead of an account: the e-mail address of an attendee.'),
  mboxSha1sum: expression()
    .optional()
    .describe('Instead of an account: an e-mail address, of which the LRS receives only the SHA-1 hash.'),
});

const creditKeys = z.strictObject({
  version: wholeNumber({ min: 1, max: 1_000_000 }).describe(
    'The version of the rule. Raise it when the rule changes: credit of another version is voided and issued again.',
  ),
  when: expression().describe('Whether an item of `engagement` earns credit.'),
  activity: expression().describe('The completed activity: an address, or a name from which one is derived.'),
});

export type CreditKeys = Readonly<z.infer<typeof creditKeys>>;

const xapiKeys = z.strictObject({
  endpoint: sinkUrl().describe('The address of the LRS; `/statements` is appended.'),
  username: text('the user name of the LRS, without a colon', (found) =>
    /^[^:\x00-\x1f\x7f]+$/.test(found) ? found : undefined,
  )
    .optional()
    .describe('The user name, or key, of the LRS for Basic authentication.'),
  password: secret()
    .refine((found) => /^[^\x00-\x1f\x7f]+$/.test(found.reveal()), {
      error: 'allowed: a secret without control characters, such as a line break at its end',
    })
    .optional()
    .describe('Its password, or secret.'),
  oauth: oauthKeys.optional().describe('OAuth 2 client credentials, instead of `username` and `password`.'),
  actor: actorKeys
    .superRefine(oneIdentifier)
    .describe('Identifies an attendee in the LRS: by an account, an e-mail address, or its hash.'),
  activities: webAddress('an address of your own, such as https://example.com/events')
    .optional()
    .describe('Prefix of the ids of events, sessions and questions; `actor.homePage` by default.'),
  statements: listOf(oneOf(kindNames), { allowed: `a list of ${kindNames.join(', ')}`, atLeast: 0 })
    .default(kindNames)
    .describe('The kinds of statements to send; all by default.'),
  credit: creditKeys
    .optional()
    .describe('Statements which say that an attendee completed an activity, based on the list `engagement`.'),
  ...networkKeys,
});

/** The keys of an `xapi` sink in pigeonpost.yaml, without those that all sinks share. */
export type XapiConfig = Readonly<z.infer<typeof xapiKeys>>;

/** docs/sinks/xapi.md explains each key to users. */
export const xapiConfigSchema = xapiKeys.superRefine(plainHttpStaysPrivate('endpoint')).superRefine(fitTogether);

function oneIdentifier(actor: z.infer<typeof actorKeys>, context: z.RefinementCtx): void {
  const given = (['name', 'mbox', 'mboxSha1sum'] as const).filter((key) => actor[key] !== undefined);
  if (given.length !== 1) problem(context, [], 'allowed: one of name (with homePage), mbox and mboxSha1sum');
  if (actor.name !== undefined && actor.homePage === undefined) {
    problem(context, ['homePage'], 'missing: the address of the system to which the accounts in "name" belong');
  }
}

function fitTogether(keys: XapiConfig, context: z.RefinementCtx): void {
  const { username, password, oauth, actor, activities } = keys;
  const isBasic = username !== undefined && password !== undefined;
  const isPartly = username !== undefined || password !== undefined;
  if (oauth === undefined ? !isBasic : isPartly) {
    const missing = oauth === undefined && isPartly ? (username === undefined ? 'username' : 'password') : undefined;
    problem(context, missing === undefined ? [] : [missing], 'allowed: "username" and "password", or "oauth"');
  }
  if (activities === undefined && actor.homePage === undefined) {
    problem(context, ['activities'], 'missing: an address of your own, because "actor.homePage" is not set');
  }
  if (oauth === undefined || keys.allowPrivateAddresses === true) return;
  const { protocol, hostname } = new URL(oauth.tokenUrl);
  if (protocol === 'http:' && !isLoopback(hostname)) problem(context, ['oauth', 'tokenUrl'], plainHttpProblem);
}

function problem(context: z.RefinementCtx, path: string[], message: string): void {
  context.issues.push({ code: 'custom', input: undefined, path, message });
}

/**
 * Returns pigeonpost's user or client id at the LRS, without secrets. With another id, the LRS counts as another
 * destination.
 */
export function clientOf({ username, oauth }: XapiConfig): string {
  return username ?? oauth?.clientId ?? '';
}

/** Returns the configured secret. It is also the key of the hashes that `markOf` returns. */
export function secretOf({ password, oauth }: XapiConfig): Secret {
  return password ?? oauth!.clientSecret;
}
