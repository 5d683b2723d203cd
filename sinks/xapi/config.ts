import { z } from 'zod';
import { isLoopback } from '../../config/loopback.js';
import type { Secret } from '../../config/secret.js';
import { headerSecret, listOf, nonEmptyText, oneOf, secret, sinkUrl, text, wholeNumber } from '../../config/values.js';
import type { Expression } from '../mapping/expression.js';
import { expression } from '../mapping/expression-schema.js';
import { type NetworkKeys, networkKeys, plainHttpProblem, plainHttpStaysPrivate } from '../network/address-policy.js';

/** What statements there are of what an audience does, each with the list that it is read from. */
export const statementKinds = {
  attended: ['attendees'],
  // and not `questions`: the same questions, but without a word on whether their author wanted to be known
  asked: ['qna-questions'],
  answered: ['poll-mcq-votes', 'poll-quiz-votes'],
  responded: ['answers'],
  voted: ['votes'],
  rated: ['answer_ratings'],
} as const;

export type StatementKind = keyof typeof statementKinds;

const kindNames = Object.keys(statementKinds) as [StatementKind, ...StatementKind[]];

/** The list of counts that credit is given by. */
export const engagementList = 'engagement';

/** The kind of statement that a list's items become; undefined: none. */
export function kindOf(list: string): StatementKind | undefined {
  return kindNames.find((kind) => (statementKinds[kind] as readonly string[]).includes(list));
}

/** `xapi` in pigeonpost.yaml, less the keys that all sinks share. docs/sinks/xapi.md explains each key to users. */
export interface XapiConfig extends NetworkKeys {
  /** Without a slash at its end: `/statements` is appended. */
  readonly endpoint: string;
  /** With `password`; absent where `oauth` stands. */
  readonly username?: string | undefined;
  readonly password?: Secret | undefined;
  readonly oauth?: OAuthKeys | undefined;
  readonly actor: ActorKeys;
  /** What the ids of activities begin with; absent: the actor's `homePage`. */
  readonly activities?: string | undefined;
  readonly statements: readonly StatementKind[];
  readonly credit?: CreditKeys | undefined;
}

/** One of `name`, `mbox` and `mboxSha1sum`; `homePage` stands with `name`. */
interface ActorKeys {
  readonly homePage?: string | undefined;
  readonly name?: Expression | undefined;
  readonly mbox?: Expression | undefined;
  readonly mboxSha1sum?: Expression | undefined;
}

export interface OAuthKeys {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly clientAuthentication: 'client_secret_basic' | 'client_secret_post';
  readonly scope?: string | undefined;
  readonly audience?: string | undefined;
}

export interface CreditKeys {
  /** Raised when the rule changes: what was issued by another version is voided and issued anew. */
  readonly version: number;
  readonly when: Expression;
  readonly activity: Expression;
}

const webAddress = (what: string) =>
  text(what, (found) => (URL.canParse(found) && /^https?:$/.test(new URL(found).protocol) ? found : undefined));

export const xapiConfigSchema: z.ZodType<XapiConfig> = z
  .strictObject({
    endpoint: sinkUrl().describe('The address of the LRS; `/statements` is appended.'),
    username: text('the user name of the LRS, without a colon', (found) =>
      /^[^:\x00-\x1f\x7f]+$/.test(found) ? found : undefined,
    )
      .optional()
      .describe('The user name, or key, of the LRS for Basic authentication.'),
    password: secret()
      .refine((found) => /^[^\x00-\x1f\x7f]+$/.test(found.reveal()), {
        error: 'allowed: a secret without line breaks, not even at its end',
      })
      .optional()
      .describe('Its password, or secret.'),
    oauth: z
      .strictObject({
        tokenUrl: sinkUrl().describe('The address that issues tokens.'),
        clientId: nonEmptyText('a client id').describe('The id of the client.'),
        clientSecret: headerSecret().describe('Its secret.'),
        clientAuthentication: oneOf(['client_secret_basic', 'client_secret_post'])
          .default('client_secret_basic')
          .describe('Where the secret is sent: in the header `Authorization`, or in the body.'),
        scope: nonEmptyText('scopes with a space between them').optional().describe('The scopes to request.'),
        audience: nonEmptyText('an audience')
          .optional()
          .describe('The API that tokens are for, where the server expects it.'),
      })
      .optional()
      .describe('OAuth 2 client credentials, instead of `username` and `password`.'),
    actor: z
      .strictObject({
        homePage: webAddress('the address of the system that knows people by these names, such as https://example.com')
          .optional()
          .describe('With `name`: the system that the name is an account of.'),
        name: expression()
          .optional()
          .describe('The account of a person. Where it gives nothing, nothing is said of them.'),
        mbox: expression().optional().describe('Instead of an account: the e-mail address of a person.'),
        mboxSha1sum: expression()
          .optional()
          .describe('Instead of an account: an e-mail address, of which the LRS receives only the SHA-1 hash.'),
      })
      .superRefine(oneIdentifier)
      .describe('How the LRS identifies a person: by an account, an e-mail address, or its hash.'),
    activities: webAddress('an address of your own, such as https://example.com/events')
      .optional()
      .describe('What the ids of events, sessions and questions begin with; `actor.homePage` by default.'),
    statements: listOf(oneOf(kindNames), { allowed: `a list of ${kindNames.join(', ')}`, atLeast: 0 })
      .default(kindNames)
      .describe('What is said; all by default.'),
    credit: z
      .strictObject({
        version: wholeNumber({ min: 1, max: 1_000_000 }).describe(
          'The version of the rule. Raise it when the rule changes: what was issued by another is voided and issued anew.',
        ),
        when: expression().describe('Whether credit is due, over an item of `engagement`.'),
        activity: expression().describe('What was completed: an address, or a name that one is made of.'),
      })
      .optional()
      .describe('Statements that someone completed something, from the list `engagement`.'),
    ...networkKeys,
  })
  .superRefine(plainHttpStaysPrivate('endpoint'))
  .superRefine(fitTogether);

function oneIdentifier(actor: ActorKeys, context: z.RefinementCtx): void {
  const given = (['name', 'mbox', 'mboxSha1sum'] as const).filter((key) => actor[key] !== undefined);
  if (given.length !== 1) problem(context, [], 'allowed: one of name (with homePage), mbox and mboxSha1sum');
  if (actor.name !== undefined && actor.homePage === undefined) {
    problem(context, ['homePage'], 'missing: the address of the system that knows people by "name"');
  }
}

function fitTogether(keys: Omit<XapiConfig, 'endpoint'>, context: z.RefinementCtx): void {
  const { username, password, oauth, actor, activities } = keys;
  const isBasic = username !== undefined && password !== undefined;
  const isPartly = username !== undefined || password !== undefined;
  if (oauth === undefined ? !isBasic : isPartly) {
    const missing = oauth === undefined && isPartly ? (username === undefined ? 'username' : 'password') : undefined;
    problem(context, missing === undefined ? [] : [missing], 'allowed: "username" and "password", or "oauth"');
  }
  if (activities === undefined && actor.homePage === undefined) {
    problem(context, ['activities'], 'missing: an address of your own, since "actor.homePage" is not given');
  }
  if (oauth === undefined || keys.allowPrivateAddresses === true) return;
  const { protocol, hostname } = new URL(oauth.tokenUrl);
  if (protocol === 'http:' && !isLoopback(hostname)) problem(context, ['oauth', 'tokenUrl'], plainHttpProblem);
}

function problem(context: z.RefinementCtx, path: string[], message: string): void {
  context.issues.push({ code: 'custom', input: undefined, path, message });
}
